//go:build !linux

package emu

// memory is ordinary memory where there is no emulator.
type memory struct{ bytes []byte }

func (m *memory) Bytes() []byte { return m.bytes }

func (m *memory) Release() { m.bytes = nil }

func alloc(n int) (*memory, error) { return &memory{make([]byte, n)}, nil }
