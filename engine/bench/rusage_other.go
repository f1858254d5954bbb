//go:build !unix

package bench

// processorSeconds is unknown here.
func processorSeconds() float64 { return 0 }
