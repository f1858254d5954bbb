// Package fault keeps the process alive when a mapped file goes away. Reading a page that the file no longer has,
// because it was cut or because its disk failed, raises SIGBUS, and that ends the process.
//
// With cgo a signal handler puts zeros in the place of the whole mapping: whoever reads it, in Go, in C or in a library
// of the system, goes on, and until then nothing costs anything. Without cgo there is only Go code to fault, which
// panics instead; [Guard] turns that into [ErrLost]. Either way the region is marked. Who has read from it must ask
// [Region.Lost] before believing what came out.
package fault

import (
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"unsafe"
)

// ErrLost says that work was cut short because a watched region could not be read.
var ErrLost = errors.New("a mapped file can no longer be read")

// Region is a watched mapping. It is safe for concurrent use.
type Region struct {
	from, to uintptr
	lost     atomic.Bool // found out in Go
	native   native      // found out by the signal handler
}

var watched = struct {
	sync.Mutex
	regions map[*Region]struct{}
}{regions: map[*Region]struct{}{}}

// Watch begins to watch b, which must be a whole mapping: a lost page makes all of it zeros. End it before the
// mapping ends.
func Watch(b []byte) *Region {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	watched.Lock()
	defer watched.Unlock()
	r := &Region{from: from, to: from + uintptr(len(b)), native: watch(from, len(b))}
	watched.regions[r] = struct{}{}
	return r
}

// Lost reports whether a read of the region has failed. What was read since may be zeros. Do not call it after End.
func (r *Region) Lost() bool { return r.lost.Load() || r.native.lost() }

// End stops to watch. Nothing may read the region any more.
func (r *Region) End() {
	watched.Lock()
	defer watched.Unlock()
	delete(watched.regions, r)
	r.native.end()
}

// Guard does work that reads watched regions. It returns ErrLost when a fault in one of them ended the work; every
// other panic goes on. Other goroutines that the work uses must call [debug.SetPanicOnFault] and hand their panics over.
func Guard(work func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		switch {
		case p == nil:
		case caught(p):
			err = ErrLost
		default:
			panic(p)
		}
	}()
	return work()
}

// caught reports whether p is a fault in a watched region, and marks that region.
func caught(p any) bool {
	f, ok := p.(interface{ Addr() uintptr }) // what the runtime panics with, see debug.SetPanicOnFault
	if !ok {
		return false
	}
	watched.Lock()
	defer watched.Unlock()
	for r := range watched.regions {
		if r.from <= f.Addr() && f.Addr() < r.to {
			r.lost.Store(true)
			return true
		}
	}
	return false
}
