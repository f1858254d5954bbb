package main

import (
	"runtime"

	"clefbar/models/shelf"
)

// room says what this machine gives to the library's models: what the GPU may keep resident when they run there, else
// what memory is to be had. The GPU is asked once.
func (l *library) room() shelf.Room {
	l.measure.Do(func() {
		if l.how.onGPU() {
			l.gpu = gpuWorkingSet()
		}
	})
	return shelf.Room{GPU: l.gpu}
}

// onGPU reports that models run on the GPU, as far as it can be told without opening one.
func (h howToRun) onGPU() bool {
	if h.device == gpuWord {
		return true
	}
	asked := h.precision != "" && h.precision != "auto" // only the processor has precisions to choose from
	return runtime.GOOS == "darwin" && h.device == "auto" && !asked
}

// gpuWorkingSet is how many bytes the GPU recommends to keep resident, 0 where there is none or it does not tell.
func gpuWorkingSet() int64 {
	dev, err := gpuDevice()
	if err != nil {
		return 0
	}
	n := dev.Info().WorkingSet
	_ = dev.Close() // it was only asked
	return n
}

// fit compares what a model needs with what the machine gives once the models that are open now are not; held is what
// those take beside their weights.
func (l *library) fit(need, held int64) (shelf.Fit, error) {
	have, err := l.room().Gives(held)
	return shelf.Fit{Need: need, Have: have}, err
}

// held adds up what open models take beside their weights, which are mapped files: the system counts those as to be had.
func (l *library) held(open []entry) (n int64) {
	for _, e := range open {
		n += max(0, e.memory(l.tokens(e.key))-e.info.WeightBytes)
	}
	return n
}
