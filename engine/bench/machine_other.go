//go:build !linux && !darwin

package bench

func processorName() string { return "" }

func mappedBytes() int64 { return 0 }

func resetPeak() {}
