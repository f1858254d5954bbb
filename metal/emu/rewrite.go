package emu

import (
	"fmt"
	"strconv"
	"strings"
)

// rewriter turns preprocessed MSL into C++ for shim/msl.h. It works on tokens and
// changes only what C++ cannot express: attributes, kernel declarations, threadgroup
// variables, function constants, overloads on address spaces, literal suffixes. Line
// markers stay, so that messages and debug information name the .metal lines.
type rewriter struct {
	in       []token
	at       int
	out      []token
	problems []string

	constants map[string]bool // function constants and what derives from them
	scopes    []scope
	depth     int
	previous  string // text of the last token, for finding the start of a statement

	host     string // host_name attribute before a kernel
	isKernel bool
	template bool
	kernel   *openKernel // kernel whose body is being copied
	kernels  int         // registered so far
	shared   int         // threadgroup variables in this kernel
}

// openKernel is a kernel between its opening and its closing brace.
type openKernel struct {
	name, host string
	template   bool
	parameters []parameter
	depth      int
}

// rewrite converts preprocessed MSL to C++ and lists what it had to refuse.
func rewrite(src string) (cpp string, problems []string) {
	r := &rewriter{in: tokenize(src), constants: map[string]bool{}, scopes: []scope{{true, map[string]bool{}}}}
	for r.at < len(r.in) {
		if !r.special() {
			r.plain()
		}
	}
	return join(r.out), r.problems
}

func (r *rewriter) problem(format string, args ...any) {
	r.problems = append(r.problems, "error: "+fmt.Sprintf(format, args...))
}

func (r *rewriter) emit(text string) { r.out = append(r.out, token{" ", text}) }

// blank keeps the white space of a token that is dropped, so that lines stay where they are.
func (r *rewriter) blank(t token) { r.out = append(r.out, token{t.space, ""}) }

func (r *rewriter) next(n int) string {
	if r.at+n < len(r.in) {
		return r.in[r.at+n].text
	}
	return ""
}

// special handles what C++ cannot express at the current token and reports whether it did.
func (r *rewriter) special() bool {
	t := r.in[r.at]
	start := r.previous == "" || r.previous == ";" || r.previous == "{" || r.previous == "}"
	switch {
	case isAttribute(r.in, r.at):
		r.attribute(t)
	case t.text == "kernel":
		r.isKernel = true
		r.blank(t)
		r.at++
	case t.text == "template" && r.next(1) == "<":
		end := after(r.in, r.at+1)
		r.out = append(r.out, r.in[r.at:end]...)
		r.at = end
		r.template = r.template || start
	case t.text == "template" && start:
		r.instantiation(t)
	case t.text == "void" && r.isKernel && r.next(2) == "(":
		r.openKernel(t)
	case t.text == "constant" && (start || r.previous == "static") && r.kernel == nil:
		return r.constant(r.previous == "static")
	case t.text == "threadgroup" && start && r.depth > 0:
		return r.threadgroupVariable()
	default:
		return false
	}
	return true
}

func (r *rewriter) attribute(t token) {
	end := after(r.in, r.at)
	_, list := attributes(r.in[r.at:end])
	for _, a := range list {
		if name, ok := argument(a, "host_name"); ok {
			r.host = name
		} else if a == "kernel" {
			r.isKernel = true
		}
	}
	r.blank(t)
	r.at = end
}

// instantiation handles "template [[host_name("x")]] kernel void name<args>(…);".
func (r *rewriter) instantiation(t token) {
	end := r.at
	for r.in[end].text != ";" {
		end++
	}
	rest, list := attributes(r.in[r.at+1 : end])
	host := ""
	for _, a := range list {
		if name, ok := argument(a, "host_name"); ok {
			host = name
		}
	}
	if host == "" {
		r.out = append(r.out, token{t.space, join(append([]token{t}, rest...)) + ";"})
	} else {
		last := len(rest)
		if rest[last-1].text == ")" {
			last = before(rest, last-1)
		}
		name := before(rest, last-1) - 1
		r.blank(t)
		r.register(host, strings.TrimSpace(join(rest[name:last])), rest[name].text)
	}
	r.at, r.previous = end+1, ";"
	r.host, r.isKernel = "", false
}

func (r *rewriter) openKernel(t token) {
	name := r.in[r.at+1].text
	end := after(r.in, r.at+2)
	list, text := r.parameters(r.in[r.at+3 : end-1])
	r.out = append(r.out, t, r.in[r.at+1], token{"", "(" + text + ")"})
	if r.in[end].text == "{" {
		r.kernel = &openKernel{name, r.host, r.template, list, r.depth}
	}
	r.shared, r.at, r.previous = 0, end, ")"
	r.isKernel, r.host = false, ""
}

func (r *rewriter) closeKernel() {
	k := r.kernel
	r.kernel = nil
	r.emit(table(k.name, k.parameters))
	if k.template {
		return
	}
	host := k.host
	if host == "" {
		host = strconv.Quote(k.name)
	}
	r.register(host, k.name, k.name)
}

// register makes a kernel known under its host name. base names its parameter table.
func (r *rewriter) register(host, function, base string) {
	r.kernels++
	r.emit(fmt.Sprintf("MSL_REG(%d, %s, %s, %s);", r.kernels, host, base, function))
}

// plain copies a token and keeps track of scopes.
func (r *rewriter) plain() {
	t := r.in[r.at]
	if isNumber(t.text) {
		t.text = literal(t.text)
	}
	switch t.text {
	case "{":
		if r.openScope() {
			r.previous, r.isKernel, r.host, r.template = "}", false, "", false
			return
		}
		r.depth++
	case "}":
		r.depth--
		if len(r.scopes) > 1 {
			r.scopes = r.scopes[:len(r.scopes)-1]
		}
	case ";":
		r.isKernel, r.host = false, ""
	}
	if t.text == ";" || t.text == "}" || t.text == "{" {
		r.template = false
	}
	r.out = append(r.out, t)
	r.at++
	r.previous = t.text
	if t.text == "}" && r.kernel != nil && r.kernel.depth == r.depth {
		r.closeKernel()
	}
}

// literal gives a number its MSL type: 1.0h is half, 1.0bf bfloat, and 1.0 float, because MSL has no double.
func literal(s string) string {
	l := strings.ToLower(s)
	if strings.HasPrefix(l, "0x") {
		return s
	}
	kind := ""
	if v, ok := strings.CutSuffix(l, "bf"); ok {
		kind, l = "bfloat", v
	} else if v, ok := strings.CutSuffix(l, "h"); ok {
		kind, l = "half", v
	}
	real := strings.ContainsAny(l, ".e")
	switch {
	case kind != "" && real:
		return "((" + kind + ")" + l + "f)"
	case kind != "":
		return "((" + kind + ")" + l + ")"
	case real && !strings.HasSuffix(l, "f") && !strings.HasSuffix(l, "l"):
		return s + "f"
	}
	return s
}
