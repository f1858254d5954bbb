package mtl

// CommandQueue is an MTLCommandQueue.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcommandqueue
type CommandQueue struct{ id uintptr }

// CommandBuffer returns a command buffer that does not keep the buffers it uses
// alive. The caller owns it.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcommandqueue/makecommandbufferwithunretainedreferences()
func (q CommandQueue) CommandBuffer() (CommandBuffer, bool) {
	id := send(queueCommandBuffer, q.id)
	if id == 0 {
		return CommandBuffer{}, false
	}
	return CommandBuffer{send(objectRetain, id)}, true
}

// RetainingCommandBuffer returns a command buffer that keeps what it uses alive, as the
// system's own kernels need it. The caller owns it.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcommandqueue/makecommandbuffer()
func (q CommandQueue) RetainingCommandBuffer() (CommandBuffer, bool) {
	id := send(queueRetainingBuffer, q.id)
	if id == 0 {
		return CommandBuffer{}, false
	}
	return CommandBuffer{send(objectRetain, id)}, true
}

// Settle clears the first bytes of a buffer on the GPU and waits. Memory of a residency set
// that has ended is given back only when the GPU has worked once more.
//
// Reference: https://developer.apple.com/documentation/metal/mtlblitcommandencoder/fill(buffer:range:value:)
func (q CommandQueue) Settle(b Buffer, length int) {
	c, ok := q.CommandBuffer()
	if !ok {
		return
	}
	defer c.Release()
	if blit := send(bufferBlit, c.id); blit != 0 {
		send(blitFill, blit, b.id, 0, uintptr(length), 0)
		send(encoderEnd, blit)
	}
	c.Commit()
	c.WaitUntilCompleted()
}

// AddResidencySet keeps the allocations of a set resident while the queue works (macOS 15).
//
// Reference: https://developer.apple.com/documentation/metal/mtlcommandqueue/addresidencyset(_:)
func (q CommandQueue) AddResidencySet(s ResidencySet) {
	if can(queueAddResidencySet, q.id) {
		send(queueAddResidencySet, q.id, s.id)
	}
}

// Release gives the queue up.
func (q CommandQueue) Release() { release(q.id) }

// CommandBuffer is an MTLCommandBuffer.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcommandbuffer
type CommandBuffer struct{ id uintptr }

// ComputeEncoder starts to encode dispatches that may run at the same time unless a barrier is between.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcommandbuffer/makecomputecommandencoder(dispatchtype:)
func (c CommandBuffer) ComputeEncoder() (*ComputeEncoder, bool) {
	id := send(bufferEncoder, c.id, DispatchTypeConcurrent)
	return &ComputeEncoder{id: id}, id != 0
}

// Commit hands the buffer to the GPU.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcommandbuffer/commit()
func (c CommandBuffer) Commit() { send(bufferCommit, c.id) }

// WaitUntilCompleted returns when the GPU is done, also when it failed.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcommandbuffer/waituntilcompleted()
func (c CommandBuffer) WaitUntilCompleted() { send(bufferWait, c.id) }

// Failure returns why a completed buffer failed, nil if it did not.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcommandbuffer/error
func (c CommandBuffer) Failure() *Error {
	if send(bufferStatus, c.id) != CommandBufferError {
		return nil
	}
	if e := nsError(send(bufferError, c.id)); e != nil {
		return e
	}
	return &Error{Description: "the GPU failed without a reason"}
}

// GPUSeconds is how long the GPU worked on a completed buffer.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcommandbuffer/gpustarttime
func (c CommandBuffer) GPUSeconds() float64 {
	return sendDouble(bufferEnd, c.id) - sendDouble(bufferStart, c.id)
}

// Release gives the buffer up.
func (c CommandBuffer) Release() { release(c.id) }
