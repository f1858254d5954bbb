//go:build cgo && unix

package fault

// #cgo CFLAGS: -Wall
// #include "handler.h"
import "C"

// The handler goes in before any other library can have one: each calls the one that was there before it.
func init() { C.fault_install() }

// native is what the signal handler knows of a region. Without memory for it there is none.
type native struct{ c *C.fault_region }

// watch and end need the lock of watched.
func watch(from uintptr, n int) native {
	return native{C.fault_watch(C.uintptr_t(from), C.uintptr_t(n))}
}

func (n native) lost() bool { return n.c != nil && C.fault_lost(n.c) != 0 }

func (n native) end() {
	if n.c != nil {
		C.fault_end(n.c)
	}
}
