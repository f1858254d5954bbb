//go:build !(darwin && arm64)

package cpu

// systemLibraries is empty: there is no matrix library here that we know of.
func systemLibraries(path) []candidate { return nil }
