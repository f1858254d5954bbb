//go:build linux

package emu

import (
	"fmt"
	"syscall"

	"clefbar/metal/gpu"
)

// memory is a mapping whose last bytes touch a page that must not be accessed, so
// that a large overrun is a fault in fast mode too.
type memory struct {
	mapping []byte
	bytes   []byte
}

func (m *memory) Bytes() []byte { return m.bytes }

func (m *memory) Release() {
	if m.mapping != nil {
		_ = syscall.Munmap(m.mapping) // cannot fail for a mapping of ours
		m.mapping, m.bytes = nil, nil
	}
}

// alloc maps zeroed memory whose start is aligned to 64 bytes.
func alloc(n int) (*memory, error) {
	const page = 4096
	size := (n + 63) / 64 * 64
	pages := (size + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, pages+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", gpu.ErrMemory, err)
	}
	if err := syscall.Mprotect(m[pages:], syscall.PROT_NONE); err != nil {
		return nil, fmt.Errorf("protect memory: %w", err)
	}
	return &memory{m, m[pages-size : pages-size+n : pages-size+n]}, nil
}
