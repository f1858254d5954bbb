package emu

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// systemIncludes asks clang where its C++ headers are; its OpenCL mode does not look there by itself.
var systemIncludes = sync.OnceValue(func() (args []string) {
	compiler, err := clang()
	if err != nil {
		return nil
	}
	out, _ := exec.Command(compiler, "-x", "c++", "-E", "-v", os.DevNull).CombinedOutput() // the list is printed whatever the exit code
	listing := false
	for line := range strings.SplitSeq(string(out), "\n") {
		switch {
		case strings.HasPrefix(line, "#include <"):
			listing = true
		case strings.HasPrefix(line, "End of search"):
			listing = false
		case listing:
			args = append(args, "-isystem", strings.TrimSpace(line))
		}
	}
	return args
})

// Strict type-checks a source with real address spaces, through clang's OpenCL C++
// front end, and looks for what MSL forbids and C++ allows. It returns one
// "file:line:col: error: …" per problem; none means the source passed.
func Strict(file, source string, o Options) (problems []string, err error) {
	t, err := tools()
	if err != nil {
		return nil, err
	}
	cpp, problems, err := t.translate(file, source, o)
	if err != nil {
		return nil, err
	}
	problems = append(problems, lint(cpp)...)
	tmp, err := os.MkdirTemp("", "strict")
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", file, err)
	}
	defer os.RemoveAll(tmp)
	text := filepath.Join(tmp, "k.cl")
	if err := os.WriteFile(text, []byte(cpp), 0o644); err != nil {
		return nil, fmt.Errorf("check %s: %w", file, err)
	}
	args := []string{
		"-x", "cl", "-cl-std=clc++2021", "-cl-no-stdinc", "-fdeclspec", "-fsyntax-only", "-Wno-everything", "-Werror=vla",
		"-ferror-limit=50", "-fno-exceptions", "-I", t.dir,
	}
	out, _ := exec.Command(t.clang, append(append(args, systemIncludes()...), text)...).CombinedOutput() // findings are read from the text
	for line := range strings.SplitSeq(string(out), "\n") {
		if strings.Contains(line, "error: ") || strings.Contains(line, "clang frontend command failed") {
			problems = append(problems, line)
		}
	}
	return append(problems, t.recursion(cpp)...), nil
}

var (
	irFunction = regexp.MustCompile(`^define [^@]*@"?([^"(]+)"?\(`)
	irCall     = regexp.MustCompile(`(?:call|invoke) [^@]*@"?([^"(]+)"?\(`)
)

// recursion compiles without optimisation and looks for cycles in the call graph. A source that does not compile
// has been reported already.
func (t *toolchain) recursion(cpp string) (problems []string) {
	c := exec.Command(t.clang, "-x", "c++", "-std=c++17", "-fdeclspec", "-O0", "-march=native", "-fno-exceptions", "-w", "-I", t.dir,
		"-S", "-emit-llvm", "-o", "-", "-")
	c.Stdin = strings.NewReader(cpp)
	ir, err := c.Output()
	if err != nil {
		return nil
	}
	calls := map[string][]string{}
	function := ""
	for line := range strings.SplitSeq(string(ir), "\n") {
		if m := irFunction.FindStringSubmatch(line); m != nil {
			function = m[1]
		} else if m := irCall.FindStringSubmatch(line); m != nil {
			calls[function] = append(calls[function], m[1])
		}
	}
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(f string)
	visit = func(f string) {
		state[f] = open
		for _, g := range calls[f] {
			if state[g] == open {
				problems = append(problems, "error: recursion through function "+g)
			} else if state[g] == 0 {
				visit(g)
			}
		}
		state[f] = done
	}
	for f := range calls {
		if state[f] == 0 {
			visit(f)
		}
	}
	return problems
}
