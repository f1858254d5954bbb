package emu

import (
	"fmt"
	"strconv"
	"strings"
)

// Where a kernel parameter comes from. The values are those of Src in runtime.h.
const (
	fromBuffer = iota
	fromThreadgroup
	fromBuiltin
)

// parameter is a kernel parameter as written in the source.
type parameter struct {
	name, space, condition string
	source, index          int
}

// builtins are the attributes of positions and sizes, with their numbers in runtime.h.
var builtins = map[string]int{
	"thread_position_in_grid": 0, "thread_position_in_threadgroup": 1, "threadgroup_position_in_grid": 2,
	"threads_per_threadgroup": 3, "threadgroups_per_grid": 4, "threads_per_grid": 5,
	"thread_index_in_threadgroup": 6, "thread_index_in_simdgroup": 7, "simdgroup_index_in_threadgroup": 8,
	"simdgroups_per_threadgroup": 9, "threads_per_simdgroup": 10, "thread_execution_width": 10,
	"thread_index_in_quadgroup": 11, "quadgroup_index_in_threadgroup": 12, "dispatch_threads_per_threadgroup": 13,
	"dispatch_simdgroups_per_threadgroup": 9,
}

// parameters reads a kernel's parameter list and returns it without attributes too.
func (r *rewriter) parameters(ts []token) (list []parameter, text string) {
	var texts []string
	next := 0
	for _, part := range split(ts) {
		rest, attrs := attributes(part)
		texts = append(texts, join(rest))
		p, pointer, stars := shape(rest)
		p.source = -1
		r.place(&p, attrs)
		if p.source < 0 && pointer && (p.space == "device" || p.space == "constant") {
			p.source, p.index = fromBuffer, next
		}
		if p.source == fromBuffer {
			next = p.index + 1
		}
		r.checkParameter(p, list, stars)
		if p.source < 0 {
			p.source = fromBuiltin
		}
		list = append(list, p)
	}
	return list, strings.Join(texts, ",")
}

// shape reads name, address space and pointers of a parameter.
func shape(rest []token) (p parameter, pointer bool, stars int) {
	named := false
	for _, t := range rest {
		switch t.text {
		case "device", "constant", "threadgroup":
			if p.space == "" {
				p.space = t.text
			}
		case "*":
			stars++
			pointer = true
		case "&", "[":
			pointer = true
		}
		if isIdentifier(t.text) && !named {
			p.name = t.text
		}
		named = named || t.text == "["
	}
	return p, pointer, stars
}

// place reads the attributes of a parameter.
func (r *rewriter) place(p *parameter, attrs []string) {
	for _, a := range attrs {
		if v, ok := argument(a, "buffer"); ok {
			p.source = fromBuffer
			p.index, _ = strconv.Atoi(v)
		} else if v, ok := argument(a, "threadgroup"); ok {
			p.source = fromThreadgroup
			p.index, _ = strconv.Atoi(v)
		} else if v, ok := argument(a, "function_constant"); ok {
			p.condition = v
		} else if b, ok := builtins[a]; ok {
			p.source, p.index = fromBuiltin, b
		} else {
			r.problem("unknown parameter attribute [[%s]]", a)
		}
	}
}

func (r *rewriter) checkParameter(p parameter, earlier []parameter, stars int) {
	switch {
	case p.source < 0:
		r.problem("kernel parameter %q: no address space or attribute", p.name)
	case stars > 1:
		r.problem("kernel parameter %q: pointer to pointer", p.name)
	case p.source == fromBuffer && p.space == "":
		r.problem("kernel parameter %q: pointer without device or constant address space", p.name)
	}
	for _, o := range earlier {
		if o.source == p.source && o.index == p.index && p.source != fromBuiltin && o.condition == p.condition {
			r.problem("kernel parameter %q: index %d used twice", p.name, p.index)
		}
	}
}

// table writes the parameter list in the form that register.h takes.
func table(kernel string, list []parameter) string {
	var b strings.Builder
	fmt.Fprintf(&b, "MSL_PARAMS(%s, ", kernel)
	for _, p := range list {
		condition := "nullptr"
		if p.condition != "" {
			condition = strconv.Quote(p.condition)
		}
		fmt.Fprintf(&b, "{%d,%d,%q,%q,%s},", p.source, p.index, p.space, p.name, condition)
	}
	return b.String() + "{});"
}
