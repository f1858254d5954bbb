// Package clefbar holds the rules of the house as tests: which room may import
// which, how long a file may grow, and what never belongs in the repository.
package clefbar

import (
	"bufio"
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const module = "clefbar"

// rooms says which of our own packages each room may depend on, directly or not. A
// prefix stands for everything below it.
var rooms = []struct {
	room string
	may  []string
	why  string
}{
	{"models", []string{"models"}, "model files are read by everybody and know nobody"},
	{"assets", []string{"assets"}, "icons, fonts and samples know nobody"},
	{"metal", []string{"metal", "engine/backend", "models"}, "a device sees operations and tensors, never requests"},
	{"engine", []string{"engine", "models"}, "the engine runs without a window, an endpoint or a GPU"},
	{"ui", []string{"ui", "engine", "assets"}, "the window talks to the rest through interfaces it declares itself"},
}

type listed struct {
	ImportPath                         string
	Imports, Deps                      []string
	TestImports, XTestImports, GoFiles []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps=false", "-json=ImportPath,Imports,Deps,TestImports,XTestImports,GoFiles", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func within(dir string, prefixes []string) bool {
	for _, p := range prefixes {
		if dir == p || strings.HasPrefix(dir, p+"/") {
			return true
		}
	}
	return false
}

func ours(imports []string) (dirs []string) {
	for _, i := range imports {
		if d, ok := strings.CutPrefix(i, module+"/"); ok {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

func TestRooms(t *testing.T) {
	for _, p := range packages(t) {
		dir := strings.TrimPrefix(p.ImportPath, module+"/")
		for _, r := range rooms {
			if !within(dir, []string{r.room}) {
				continue
			}
			for _, d := range ours(p.Deps) {
				if !within(d, r.may) {
					t.Errorf("%s depends on %s: %s may only use %v, because %s", dir, d, r.room, r.may, r.why)
				}
			}
		}
		for _, i := range p.Imports {
			if i == "fyne.io/fyne/v2/app" && dir != "app" {
				t.Errorf("%s imports %s: only app may, so that everything else builds and tests without a display", dir, i)
			}
		}
	}
}

func TestUISeesOnlyTheContract(t *testing.T) {
	for _, p := range packages(t) {
		if dir := strings.TrimPrefix(p.ImportPath, module+"/"); !within(dir, []string{"ui"}) {
			continue
		}
		for _, d := range ours(p.Deps) {
			if strings.HasPrefix(d, "engine/") {
				t.Errorf("ui depends on %s: it may use only the contract in package engine", d)
			}
		}
	}
}

func TestPackagesAreDocumented(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles) == 0 {
			continue
		}
		dir := "./" + strings.TrimPrefix(p.ImportPath, module+"/")
		documented := false
		for _, f := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, f), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			documented = documented || file.Doc != nil
		}
		if !documented {
			t.Errorf("package %s has no doc comment", p.ImportPath)
		}
	}
}

// source lists the tracked files that people write.
func source(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "*.go", "*.c", "*.h", "*.cpp", "*.metal", "*.py", "*.sh", "*.md", "*.yml", "*.toml", "Makefile", "run", "test", ".ci/run").Output()
	if err != nil {
		t.Skipf("git ls-files: %v (not a checkout)", err)
	}
	return strings.Fields(string(out))
}

func TestFilesStayShort(t *testing.T) {
	const most = 600
	for _, f := range source(t) {
		if strings.Contains(f, "testdata/") || strings.HasSuffix(f, ".md") || strings.HasSuffix(f, ".toml") {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		if n := bytes.Count(b, []byte("\n")); n > most {
			t.Errorf("%s has %d lines, more than %d: give its ideas files of their own", f, n, most)
		}
	}
}

func TestFilesAreNamedByIdea(t *testing.T) {
	for _, f := range source(t) {
		switch base := strings.TrimSuffix(path.Base(f), path.Ext(f)); base {
		case "types", "utils", "util", "helpers", "helper", "common", "misc":
			t.Errorf("%s is named by kind: name it by its idea", f)
		}
	}
}

func TestNoMachinePaths(t *testing.T) {
	bad := regexp.MustCompile(`(^|[^\w.])/(work|root|farm|home/\w+)/[\w.]`)
	for _, f := range source(t) {
		file, err := os.Open(f)
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		for n := 1; lines.Scan(); n++ {
			if f != "house_test.go" && bad.MatchString(lines.Text()) {
				t.Errorf("%s:%d names a path of one machine: %s", f, n, strings.TrimSpace(lines.Text()))
			}
		}
		file.Close()
	}
}

// TestExportedNamesAreDocumented reads every non-test file of ours.
func TestExportedNamesAreDocumented(t *testing.T) {
	for _, f := range source(t) {
		if !strings.HasSuffix(f, ".go") || strings.HasSuffix(f, "_test.go") || strings.Contains(f, "testdata/") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, f, nil, parser.ParseComments)
		if err != nil || file.Name.Name == "main" {
			continue
		}
		for _, d := range file.Decls {
			if name := undocumented(d); name != "" {
				t.Errorf("%s: %s is exported and has no comment", fset.Position(d.Pos()), name)
			}
		}
	}
}

// undocumented returns the first exported name of d that no comment covers, or "".
func undocumented(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && d.Recv == nil {
			return d.Name.Name
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if ts, ok := s.(*ast.TypeSpec); ok && ts.Name.IsExported() && d.Doc == nil && ts.Doc == nil {
				return ts.Name.Name
			}
			if vs, ok := s.(*ast.ValueSpec); ok && d.Doc == nil && vs.Doc == nil && vs.Comment == nil && vs.Names[0].IsExported() {
				return vs.Names[0].Name
			}
		}
	}
	return ""
}
