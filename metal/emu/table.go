package emu

import "fmt"

// Binding is one row of the host's table for a kernel: what it binds where.
type Binding struct {
	Kind     string // "buffer", "bytes" (setBytes) or "threadgroup"
	Index    int
	Size     int  // bytes of a struct; 0: an array
	Elem     int  // bytes of an array's element; 0: not compared
	Writable bool // the host expects the kernel to write it
}

// CheckTable compares the host's table with a compiled kernel: missing and surplus
// indices, struct and element sizes, and which buffers are written, which decides
// over hazards.
func CheckTable(kernel string, signature []Argument, host []Binding) (bad []string) {
	seen := map[int]bool{}
	say := func(format string, args ...any) { bad = append(bad, kernel+": "+fmt.Sprintf(format, args...)) }
	for _, b := range host {
		kind := b.Kind
		if kind == "bytes" {
			kind = "buffer"
		}
		k := find(signature, kind, b.Index)
		if k < 0 {
			say("host binds %s(%d), the kernel has no such argument", kind, b.Index)
			continue
		}
		if seen[k] {
			say("host binds %s(%d) twice", kind, b.Index)
		}
		seen[k] = true
		if what := mismatch(b, signature[k]); what != "" {
			say("%s(%d) %s: %s", kind, b.Index, signature[k].Name, what)
		}
	}
	for k, a := range signature {
		if a.Kind != "builtin" && !seen[k] && a.OnlyIf == "" {
			say("%s(%d) %s is not bound by the host", a.Kind, a.Index, a.Name)
		}
	}
	return bad
}

func find(signature []Argument, kind string, index int) int {
	for k, a := range signature {
		if a.Kind == kind && a.Index == index {
			return k
		}
	}
	return -1
}

// mismatch says how a binding differs from the compiled argument, "" if it does not.
func mismatch(b Binding, a Argument) string {
	switch {
	case b.Kind == "bytes" && a.Space == "device" && !a.Readonly:
		return "setBytes for a writable device argument"
	case b.Size != 0 && a.Ref && b.Size != a.ElemSize:
		return fmt.Sprintf("host struct has %d bytes, kernel %d (%s)", b.Size, a.ElemSize, a.Type)
	case b.Elem != 0 && b.Elem != a.ElemSize:
		return fmt.Sprintf("host element has %d bytes, kernel %d (%s)", b.Elem, a.ElemSize, a.Type)
	case b.Writable && a.Readonly:
		return "host expects output, kernel declares it const"
	case !b.Writable && !a.Readonly && a.Kind == "buffer":
		return "kernel may write it, host treats it as input"
	}
	return ""
}
