package metal

import (
	"strings"
	"testing"
)

func TestThread(t *testing.T) {
	th := newThread()
	n := 0
	for range 100 {
		th.do(func() { n++ })
	}
	if n != 100 {
		t.Errorf("got %d jobs done, want 100", n)
	}
	func() {
		defer func() {
			if p, ok := recover().(string); !ok || !strings.Contains(p, "broken") {
				t.Errorf("panic on the thread: got %v, want it here", p)
			}
		}()
		th.do(func() { panic("broken") })
	}()
	th.do(func() { n++ })
	if n != 101 {
		t.Error("the thread does not go on after a panic")
	}
	th.stop()
}
