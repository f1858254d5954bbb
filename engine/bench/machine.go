package bench

import "runtime"

// Machine says where a measurement was made.
type Machine struct {
	System     string `json:"system"`              // "linux/amd64"
	Processor  string `json:"processor,omitempty"` // the maker's name of it, where the system tells
	Processors int    `json:"processors"`
	Go         string `json:"go"`
	Device     string `json:"device"` // "CPU", "Metal"
	Detail     string `json:"detail"` // instruction set and threads, or the GPU's name
}

// ThisMachine describes the machine; the caller adds the device.
func ThisMachine() Machine {
	return Machine{
		System: runtime.GOOS + "/" + runtime.GOARCH, Processor: processorName(), Processors: runtime.NumCPU(), Go: runtime.Version(),
	}
}
