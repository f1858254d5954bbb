package emu

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed shim/*.h shim/*.cpp
var shim embed.FS

// metalHeaders are the names a source may include; the shim provides their content.
var metalHeaders = []string{
	"metal_stdlib", "metal_types", "metal_math", "metal_integer", "metal_common", "metal_numeric", "metal_limits",
	"metal_simdgroup", "metal_simdgroup_matrix", "metal_quadgroup", "metal_atomic", "metal_pack", "metal_compute",
	"metal_relational", "metal_geometric", "metal_type_traits", "metal_extended_vector",
}

// tensorHeader is what sources for tensor units include. Its text makes the shim's emulation known under Apple's name.
const tensorHeader = "MetalPerformancePrimitives/MetalPerformancePrimitives.h"

const tensorText = "namespace mpp { namespace tensor_ops = ::msl_tensor_ops; }"

// toolchain is the compiler with the shim's files on disk and the runtime compiled.
type toolchain struct {
	clang, dir, headers, runtime string
	id                           string // hash of compiler version and shim
}

// tools prepares the toolchain once per process.
var tools = sync.OnceValues(func() (*toolchain, error) {
	compiler, err := clang()
	if err != nil {
		return nil, err
	}
	root, err := cacheRoot()
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	fmt.Fprintln(h, compiler, clangVersion(compiler), processor(), swizzles(), tensorText)
	files, err := fs.Glob(shim, "shim/*")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		b, err := shim.ReadFile(name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintln(h, name, len(b))
		h.Write(b)
	}
	id := fmt.Sprintf("%x", h.Sum(nil)[:8])
	t := &toolchain{clang: compiler, dir: filepath.Join(root, id), id: id}
	t.headers, t.runtime = filepath.Join(t.dir, "include"), filepath.Join(t.dir, "libruntime.so")
	return t, t.install(files)
})

// processor names the instructions that -march=native may use: a cache folder may be
// shared by different machines.
func processor() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	_, flags, _ := strings.Cut(string(b), "\nflags")
	flags, _, _ = strings.Cut(flags, "\n")
	return flags
}

// keepBuilds is how long the builds of other versions of the shim are kept.
const keepBuilds = 14 * 24 * time.Hour

// prune removes old builds of other versions.
func (t *toolchain) prune() {
	root := filepath.Dir(t.dir)
	entries, err := os.ReadDir(root)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.Name() != t.id && time.Since(info.ModTime()) > keepBuilds {
			_ = os.RemoveAll(filepath.Join(root, e.Name())) // a cache: what stays does no harm
		}
	}
}

// install writes the shim and compiles the runtime, unless an earlier process did.
func (t *toolchain) install(files []string) error {
	if _, err := os.Stat(t.runtime); err == nil {
		return nil
	}
	t.prune()
	if err := os.MkdirAll(t.headers, 0o755); err != nil {
		return fmt.Errorf("write the shim: %w", err)
	}
	for _, h := range metalHeaders {
		if err := replace(filepath.Join(t.headers, h), nil); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(t.headers, filepath.Dir(tensorHeader)), 0o755); err != nil {
		return fmt.Errorf("write the shim: %w", err)
	}
	if err := replace(filepath.Join(t.headers, tensorHeader), []byte(tensorText+"\n")); err != nil {
		return err
	}
	for _, name := range files {
		b, err := shim.ReadFile(name)
		if err != nil {
			return err
		}
		if err := replace(filepath.Join(t.dir, filepath.Base(name)), b); err != nil {
			return err
		}
	}
	if err := replace(filepath.Join(t.dir, "swizzles.h"), []byte(swizzles())); err != nil {
		return err
	}
	tmp := fmt.Sprintf("%s.%d", t.runtime, os.Getpid())
	if err := t.run("-std=c++17", "-O2", "-fPIC", "-w", "-shared", filepath.Join(t.dir, "runtime.cpp"), "-Wl,-soname,libruntime.so", "-o", tmp, "-lpthread"); err != nil {
		return fmt.Errorf("compile the runtime: %w", err)
	}
	return os.Rename(tmp, t.runtime)
}

// replace writes a file so that no other process sees half of it.
func replace(path string, b []byte) error {
	tmp := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return fmt.Errorf("write the shim: %w", err)
	}
	return os.Rename(tmp, path)
}

func (t *toolchain) run(args ...string) error {
	if out, err := exec.Command(t.clang, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, bytes.TrimSpace(out))
	}
	return nil
}

// defines returns the macros as compiler arguments, sorted.
func (o Options) defines() (args []string) {
	for k, v := range o.Define {
		args = append(args, "-D"+k+"="+v)
	}
	slices.Sort(args)
	return args
}

// translate preprocesses and rewrites a source. file is the name that messages use.
func (t *toolchain) translate(file, source string, o Options) (cpp string, problems []string, err error) {
	args := []string{
		"-E", "-x", "c++", "-std=c++17", "-nostdinc", "-undef", "-Wno-everything", "-I", t.headers,
		"-D__METAL__", "-D__METAL_VERSION__=320", "-D__METAL_MACOS__", "-D__cplusplus=201703L",
	}
	c := exec.Command(t.clang, append(append(args, o.defines()...), "-")...)
	c.Stdin = strings.NewReader(fmt.Sprintf("#line 1 %q\n%s", file, source))
	var out, messages bytes.Buffer
	c.Stdout, c.Stderr = &out, &messages
	if err := c.Run(); err != nil {
		return "", nil, fmt.Errorf("preprocess %s: %w\n%s", file, err, messages.String())
	}
	cpp, problems = rewrite(out.String())
	return "#include \"msl.h\"\n" + cpp, problems, nil
}

// flags returns how the rewritten text is compiled.
func (t *toolchain) flags(o Options) []string {
	args := []string{
		"-x", "c++", "-std=c++17", "-fdeclspec", "-fPIC", "-I", t.dir, "-march=native", "-Xclang", "-ffloat16-excess-precision=none",
		"-ffp-contract=off", "-fno-exceptions", "-fno-rtti", "-fno-math-errno", "-fvisibility=hidden", "-Wno-everything", "-gline-tables-only",
	}
	if o.Mode == Checked {
		args = append(args, "-O1", "-DMSL_CHECKED", "-fno-vectorize", "-fno-slp-vectorize",
			"-fsanitize=thread,alignment,bounds,shift-exponent", "-ftrivial-auto-var-init=pattern",
			"-mllvm", "-tsan-instrument-func-entry-exit=0", "-mllvm", "-tsan-instrument-atomics=0")
	} else {
		args = append(args, "-O2")
	}
	switch o.Math {
	case Contract:
		args = append(args, "-ffp-contract=fast")
	case FastMath:
		args = append(args, "-ffast-math", "-fno-finite-math-only")
	}
	return args
}

// Compile compiles a .metal source and loads it. Results are kept in the user's cache
// folder under a hash of everything that went in. file is the name that messages and
// findings use.
func Compile(file, source string, o Options) (*Library, error) {
	t, err := tools()
	if err != nil {
		return nil, err
	}
	h := sha256.Sum256([]byte(strings.Join(append(append(t.flags(o), o.defines()...), file, source), "\x00")))
	object := filepath.Join(t.dir, fmt.Sprintf("%s-%x.so", strings.TrimSuffix(filepath.Base(file), ".metal"), h[:10]))
	if _, err := os.Stat(object); err != nil {
		if err := t.compile(file, source, o, object); err != nil {
			return nil, err
		}
	}
	return load(t.runtime, object, o.Mode)
}

func (t *toolchain) compile(file, source string, o Options, object string) error {
	cpp, problems, err := t.translate(file, source, o)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return fmt.Errorf("%s: %s", file, strings.Join(problems, "\n"))
	}
	tmp, err := os.MkdirTemp(t.dir, "build")
	if err != nil {
		return fmt.Errorf("compile %s: %w", file, err)
	}
	defer os.RemoveAll(tmp)
	text, half, whole := filepath.Join(tmp, "k.cpp"), filepath.Join(tmp, "k.o"), filepath.Join(tmp, "k.so")
	if err := os.WriteFile(text, []byte(cpp), 0o644); err != nil {
		return fmt.Errorf("compile %s: %w", file, err)
	}
	// Two steps: linking with -fsanitize would bring in the sanitizer's own runtime.
	if err := t.run(append(t.flags(o), "-c", text, "-o", half)...); err != nil {
		return fmt.Errorf("compile %s: %w", file, err)
	}
	if err := t.run("-shared", "-o", whole, half, "-L", t.dir, "-lruntime", "-Wl,-rpath,"+t.dir, "-lm"); err != nil {
		return fmt.Errorf("link %s: %w", file, err)
	}
	return os.Rename(whole, object)
}
