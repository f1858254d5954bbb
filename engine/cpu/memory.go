package cpu

import (
	"fmt"
	"slices"
	"unsafe"

	"clefbar/engine"
)

// keepSpare is the memory that stays allocated between runs, so that short decisions do
// not pay for page faults again.
const keepSpare = 112 << 20

// missSpare is the spare memory that may stay when a new block has to be allocated although
// there are spare ones: what did not fit this time is likely to be of an earlier phase.
const missSpare = 2 << 20

// block is a piece of memory outside of Go's heap where the system allows it: kernels may
// hold its address, and freeing it gives it back at once. It starts at a 64-byte address.
type block []float32

func (b block) size() int { return len(b) * 4 }

func (b block) bytes() []byte {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&b[0])), len(b)*4)
}

// memory hands out blocks and keeps freed ones for reuse.
type memory struct {
	spare []block // sorted by size
	all   map[*float32]block
	used  int // bytes handed out
	peak  int // most bytes allocated at a time, spare ones included
	total int // bytes allocated
}

func newMemory() *memory { return &memory{all: map[*float32]block{}} }

// blockStep is the unit that sizes are rounded up to, so that blocks fit again.
const blockStep = 1 << 12

// get returns at least n bytes of unspecified content: the smallest spare block that is not
// more than half too large, or a new one.
func (m *memory) get(n int) (block, error) {
	n = max(n+blockStep-1, blockStep) / blockStep * blockStep
	i, _ := slices.BinarySearchFunc(m.spare, n, func(b block, n int) int { return b.size() - n })
	if i < len(m.spare) && m.spare[i].size() <= n+n/2 {
		b := m.spare[i]
		m.spare = slices.Delete(m.spare, i, i+1)
		m.used += b.size()
		return b, nil
	}
	m.trim(missSpare)
	b, err := systemAlloc(n)
	if err != nil {
		return nil, &engine.Error{
			Reason:  engine.NoMemory,
			Message: fmt.Sprintf("the system has no %d MB of memory left for this decision: shorten the state or choose a smaller model", n>>20),
			Err:     err,
		}
	}
	m.all[&b[0]] = b
	m.used += n
	m.total += n
	m.peak = max(m.peak, m.total)
	return b, nil
}

func (m *memory) put(b block) {
	if len(b) == 0 {
		return
	}
	m.used -= b.size()
	i, _ := slices.BinarySearchFunc(m.spare, b.size(), func(b block, n int) int { return b.size() - n })
	m.spare = slices.Insert(m.spare, i, b)
}

// trim gives spare blocks back, the largest first, until at most keep bytes are spare.
func (m *memory) trim(keep int) {
	for len(m.spare) > 0 && m.total-m.used > keep {
		b := m.spare[len(m.spare)-1]
		m.spare = m.spare[:len(m.spare)-1]
		m.free(b)
	}
}

func (m *memory) free(b block) {
	delete(m.all, &b[0])
	m.total -= b.size()
	systemFree(b)
}

func (m *memory) close() {
	for _, b := range m.all {
		m.free(b)
	}
	m.spare, m.used = nil, 0
}
