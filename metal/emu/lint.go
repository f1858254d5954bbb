package emu

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// forbidden are words of C++ that MSL does not have and that the run passes would accept.
var forbidden = map[string]string{
	"double": "double does not exist in MSL", "goto": "goto is not supported", "virtual": "virtual functions are not supported",
	"new": "no dynamic allocation in MSL", "delete": "no dynamic allocation in MSL",
	"try": "exceptions are not supported", "throw": "exceptions are not supported", "dynamic_cast": "RTTI is not supported",
	"typeid": "RTTI is not supported", "thread_local": "thread_local is not supported", "asm": "inline assembly is not supported",
}

var lineMarker = regexp.MustCompile(`(?m)^# (\d+) "([^"]*)"`)

// place is a position in the .metal source.
type place struct {
	file string
	line int
}

// advance moves over white space with its line markers.
func (p *place) advance(space string) {
	marks := lineMarker.FindAllStringSubmatchIndex(space, -1)
	if marks == nil {
		p.line += strings.Count(space, "\n")
		return
	}
	m := marks[len(marks)-1]
	n, _ := strconv.Atoi(space[m[2]:m[3]]) // digits only, by the expression
	p.file, p.line = space[m[4]:m[5]], n+strings.Count(space[m[1]:], "\n")-1
}

// lint finds what neither C++ pass rejects: words MSL lacks, and pointer parameters
// without an address space.
func lint(cpp string) (problems []string) {
	ts := tokenize(cpp)
	var at place
	declares := []bool{true} // per open brace: does it hold declarations
	for i, t := range ts {
		at.advance(t.space)
		say := func(what string) {
			problems = append(problems, fmt.Sprintf("%s:%d: error: %s", at.file, at.line, what))
		}
		if what := forbidden[t.text]; what != "" {
			say(what)
		}
		switch t.text {
		case "{":
			from := i
			for from > 0 && ts[from-1].text != ";" && ts[from-1].text != "{" && ts[from-1].text != "}" {
				from--
			}
			name, parameters, holds := declaration(ts[from:i])
			if declares[len(declares)-1] && !holds && name != "" && loosePointer(parameters) {
				say("function '" + name + "': pointer or reference parameter without an address space")
			}
			declares = append(declares, holds)
		case "}":
			if len(declares) > 1 {
				declares = declares[:len(declares)-1]
			}
		}
	}
	return problems
}

// declaration reads what stands before a "{": a function with its parameters, or something that holds declarations.
func declaration(ts []token) (name string, parameters []token, holds bool) {
	angle := 0
	for k, t := range ts {
		switch {
		case t.text == "<":
			angle++
		case t.text == ">":
			angle--
		case angle != 0:
		case t.text == "namespace" || t.text == "struct" || t.text == "class" || t.text == "union" || t.text == "extern" || t.text == "enum":
			return "", nil, true
		case t.text == "(" && k > 0 && isIdentifier(ts[k-1].text):
			return ts[k-1].text, ts[k+1 : after(ts, k)-1], false
		}
	}
	return "", nil, false
}

// loosePointer reports whether a parameter is a pointer or reference without an address space.
func loosePointer(parameters []token) bool {
	for _, p := range split(parameters) {
		spaced, pointer := false, false
		for _, t := range p {
			spaced = spaced || spaces[t.text]
			pointer = pointer || t.text == "*" || t.text == "&"
		}
		if pointer && !spaced {
			return true
		}
	}
	return false
}
