package mtl

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

// facts is what is published about the Objective-C side.
type facts struct {
	Selectors []struct {
		Owner, Sel, Ret, Source string
		Args                    []string
	}
	Enums     map[string]uint64
	Functions map[string]struct {
		Ret  string
		Args []string
	}
}

// others are the files of facts beside the one about Metal.
var others = []string{"foundation.json", "mps.json"}

func read(t *testing.T, name string) facts {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var f facts
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// register is what matters of an encoding when a call is made: which kind of
// register holds it and how wide it is. The published tables do not agree on
// signedness, because some are keyed by selector alone.
func register(code string) string {
	code = strings.TrimPrefix(code, "r")
	switch {
	case code == "" || code == "v":
		return "nothing"
	case code == "d":
		return "double"
	case code == "B" || code == "c":
		return "byte"
	case strings.HasPrefix(code, "{_NSRange"):
		return "two words"
	case strings.HasPrefix(code, "{"):
		return "reference"
	}
	return "word"
}

// TestMessages compares every declared message with the facts.
func TestMessages(t *testing.T) {
	known := read(t, "selectors.json")
	for _, name := range others {
		known.Selectors = append(known.Selectors, read(t, name).Selectors...)
	}
	manual := []string{}
	declared := table(t)
	for _, m := range declared {
		i := slices.IndexFunc(known.Selectors, func(s struct {
			Owner, Sel, Ret, Source string
			Args                    []string
		},
		) bool {
			return s.Owner == m.Owner && s.Sel == m.Selector
		})
		if i < 0 {
			t.Errorf("%s %s is not in the table of facts", m.Owner, m.Selector)
			continue
		}
		fact := known.Selectors[i]
		if got, want := len(m.Args), strings.Count(m.Selector, ":"); got != want {
			t.Errorf("%s: %d arguments declared, the selector takes %d", m.Selector, got, want)
		}
		if len(fact.Args) != len(m.Args) {
			t.Errorf("%s: got %d arguments, want %d", m.Selector, len(m.Args), len(fact.Args))
			continue
		}
		for k := range m.Args {
			if got, want := register(m.Args[k]), register(fact.Args[k]); got != want {
				t.Errorf("%s argument %d: got a %s, want a %s", m.Selector, k, got, want)
			}
		}
		if got, want := register(m.Result), register(fact.Ret); got != want {
			t.Errorf("%s result: got a %s, want a %s", m.Selector, got, want)
		}
		if strings.Contains(fact.Source, "manual") {
			manual = append(manual, m.Selector)
		}
	}
	slices.Sort(manual)
	t.Logf("%d messages, of which to confirm on a Mac: %s", len(declared), strings.Join(manual, " "))
}

// TestEnumerations compares every constant with the facts.
func TestEnumerations(t *testing.T) {
	metal := read(t, "selectors.json").Enums
	for _, name := range others {
		maps.Copy(metal, read(t, name).Enums)
	}
	for name, got := range names {
		if want, ok := metal[name]; !ok || got != want {
			t.Errorf("%s: got %d, want %d (known: %v)", name, got, want, ok)
		}
	}
	if got := unsafe.Sizeof(Size{}); got != 24 {
		t.Errorf("MTLSize: got %d bytes, want 24", got)
	}
}

// calls are the functions that send messages, with the place of the message among their arguments.
var calls = map[string]bool{"send": true, "sendBool": true, "sendDouble": true, "sendMatrix": true}

// TestSends reads the sources for macOS: every call names a declared message and has
// as many arguments as its encoding, and what older systems lack is asked for first.
func TestSends(t *testing.T) {
	byName := table(t)
	files, err := filepath.Glob("*_darwin.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	sent := map[string]bool{}
	for _, name := range files {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || calls[f.Name.Name] || f.Name.Name == "can" {
				continue
			}
			guarded := guards(f)
			ast.Inspect(f.Body, func(n ast.Node) bool {
				c, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				id, ok := c.Fun.(*ast.Ident)
				if !ok || !calls[id.Name] {
					return true
				}
				m, ok := c.Args[0].(*ast.Ident)
				if !ok || byName[m.Name] == nil {
					t.Errorf("%s: sends something that is not declared", fset.Position(c.Pos()))
					return true
				}
				sent[m.Name] = true
				if got, want := len(c.Args)-2, byName[m.Name].words(); got != want {
					t.Errorf("%s: %s is sent with %d words, want %d", fset.Position(c.Pos()), m.Name, got, want)
				}
				if byName[m.Name].Since > Oldest && !guarded {
					t.Errorf("%s: %s exists since macOS %d, and nobody asks for it", fset.Position(c.Pos()), m.Name, byName[m.Name].Since)
				}
				if double := byName[m.Name].Result == "d"; double != (id.Name == "sendDouble") {
					t.Errorf("%s: %s and its result do not go together", fset.Position(c.Pos()), id.Name)
				}
				return true
			})
		}
		forbidden(t, name)
	}
	for name := range byName {
		if !sent[name] && name != "objectResponds" {
			t.Errorf("%s is declared and never sent", name)
		}
	}
}

// TestFunctions: every C function that is loaded is in the facts, and the Go function that
// stands for it has as many arguments and as many results.
func TestFunctions(t *testing.T) {
	known := read(t, "selectors.json").Functions
	for _, name := range others {
		maps.Copy(known, read(t, name).Functions)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "send_darwin.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	types, bound := map[string]*ast.FuncType{}, 0
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			if f, ok := n.Type.(*ast.FuncType); ok {
				types[n.Names[0].Name] = f
			}
		case *ast.CompositeLit:
			if id, ok := n.Type.(*ast.Ident); !ok || id.Name != "binding" {
				return true
			}
			bound++
			to := n.Elts[0].(*ast.UnaryExpr).X.(*ast.Ident).Name
			name, err := strconv.Unquote(n.Elts[1].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			fact, ok := known[name]
			if !ok {
				t.Errorf("%s is not in the table of facts", name)
				return true
			}
			if got, want := types[to].Params.NumFields(), len(fact.Args); got != want {
				t.Errorf("%s: got %d arguments, want %d", name, got, want)
			}
			if got, want := types[to].Results.NumFields(), len(strings.TrimPrefix(fact.Ret, "v")); min(got, 1) != min(want, 1) {
				t.Errorf("%s: got %d results, want %d", name, got, min(want, 1))
			}
		}
		return true
	})
	if bound < 13 {
		t.Errorf("got %d functions, want all that send_darwin.go loads", bound)
	}
}

// guards reports whether a function asks with can, or works on an object that exists
// only where its class does.
func guards(f *ast.FuncDecl) bool {
	found := false
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			found = found || ok && id.Name == "can"
		case *ast.BinaryExpr:
			s, ok := n.X.(*ast.SelectorExpr)
			found = found || ok && n.Op == token.NEQ && s.Sel.Name == "id"
		}
		return true
	})
	return found
}

// forbidden checks that only send_darwin.go talks to the runtime.
func forbidden(t *testing.T, name string) {
	t.Helper()
	if name == "send_darwin.go" {
		return
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"purego", "objc.", "msgSend", "msgDouble"} {
		if strings.Contains(string(b), word) {
			t.Errorf("%s uses %s: messages are sent in send_darwin.go only", name, word)
		}
	}
}

// message is a declaration in messages_darwin.go.
type message struct {
	Owner, Selector, Result string
	Args                    []string
	Since                   int
}

// words is how many machine words the arguments take: structs of 16 bytes need two.
func (m message) words() (n int) {
	for _, a := range m.Args {
		n++
		if strings.HasPrefix(a, "{_NSRange") {
			n++
		}
	}
	return n
}

// table reads the declarations, by the names of their variables.
func table(t *testing.T) map[string]*message {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "messages_darwin.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*message{}
	for _, d := range file.Decls {
		for _, s := range d.(*ast.GenDecl).Specs {
			v := s.(*ast.ValueSpec)
			all[v.Names[0].Name] = declaration(t, v.Values[0].(*ast.CallExpr))
		}
	}
	return all
}

// declaration reads declare(…) or declare(…).since(…).
func declaration(t *testing.T, c *ast.CallExpr) *message {
	t.Helper()
	literal := func(e ast.Expr) string {
		s, err := strconv.Unquote(e.(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s, ok := c.Fun.(*ast.SelectorExpr); ok {
		m := declaration(t, s.X.(*ast.CallExpr))
		var err error
		if m.Since, err = strconv.Atoi(c.Args[0].(*ast.BasicLit).Value); err != nil {
			t.Fatal(err)
		}
		return m
	}
	return &message{literal(c.Args[0]), literal(c.Args[1]), literal(c.Args[2]), strings.Fields(literal(c.Args[3])), 0}
}

// names ties constants to the enumeration members they stand for.
var names = map[string]uint64{
	"MTLBarrierScopeBuffers":                   BarrierScopeBuffers,
	"MTLCommandBufferStatusError":              CommandBufferError,
	"MTLCommandBufferErrorTimeout":             ErrorTimeout,
	"MTLCommandBufferErrorOutOfMemory":         ErrorOutOfMemory,
	"MTLDataTypeBool":                          DataTypeBool,
	"MTLDataTypeUInt":                          DataTypeUInt,
	"MTLDispatchTypeConcurrent":                DispatchTypeConcurrent,
	"MTLGPUFamilyApple7":                       GPUFamilyApple7,
	"MTLGPUFamilyApple10":                      GPUFamilyApple10,
	"MTLLanguageVersion3_1":                    LanguageVersion3_1,
	"MTLMathModeSafe":                          MathModeSafe,
	"MTLLanguageVersion4_0":                    LanguageVersion4_0,
	"MTLPipelineOptionFailOnBinaryArchiveMiss": PipelineFailOnMiss,
	"MPSDataTypeFloat32":                       DataTypeFloat32,
	"kCFNumberSInt64Type":                      numberSInt64,
	"NSProcessInfoThermalStateSerious":         ThermalStateSerious,
	"MTLMathModeFast":                          MathModeFast,
	"MTLResourceStorageModeShared":             ResourceStorageShared,
	"MTLResourceHazardTrackingModeUntracked":   ResourceUntracked,
}
