package models

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"clefbar/models/modeltest"
)

// mutants is how many damaged checkpoints are made of each layout.
const mutants = 400

// TestMutatedCheckpoints damages whole checkpoints: files cut or swapped, headers that lie, tensors that are gone, twice or
// another's, numbers of config.json that do not fit. Every one is refused with a reason that names its file.
func TestMutatedCheckpoints(t *testing.T) {
	fourBit := func(string) modeltest.Bits { return modeltest.Bits{Bits: 4, Group: 32} }
	layouts := map[string]fstest.MapFS{
		"hf": modeltest.Small.Files(nil),
		"mlx": modeltest.Small.MLX(nil, map[string]any{"bits": 4, "group_size": 32}, func(module string) modeltest.Bits {
			if strings.Contains(module, "lm_head") || strings.Contains(module, "embed") {
				return modeltest.Bits{}
			}
			return fourBit(module)
		}),
	}
	for name, whole := range layouts {
		f, err := OpenFS(whole, "m")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, uint64(len(name))))
		seen := map[Kind]int{}
		for i := range mutants {
			damaged := maps.Clone(whole)
			what := damages[i%len(damages)](r, damaged)
			seen[refused(t, fmt.Sprintf("%s %d: %s", name, i, what), damaged, i%8 == 0)]++
		}
		t.Logf("%s: refused by kind %v", name, seen)
	}
}

// refused opens a damaged checkpoint, also from the disk if asked to, and returns the kind of the reason.
func refused(t *testing.T, what string, files fstest.MapFS, onDisk bool) Kind {
	t.Helper()
	f, err := OpenFS(files, "m")
	if err == nil {
		_ = f.Close()
		t.Errorf("%s: accepted", what)
		return 0
	}
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Message == "" || len(err.Error()) > 600 {
		t.Errorf("%s: got %.700v", what, err)
		return 0
	}
	if !onDisk {
		return e.Kind
	}
	dir := filepath.Join(t.TempDir(), "m")
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	if f, err := Open(dir); err == nil {
		_ = f.Close()
		t.Errorf("%s: accepted from the disk", what)
	} else if d, ok := errors.AsType[*Error](err); !ok || d.Kind != e.Kind {
		t.Errorf("%s: from the disk %v, from memory %v", what, err, e)
	}
	return e.Kind
}

var weightFiles = []string{"model.safetensors", "joint_head.safetensors"}

// damages each spoil one thing and say what.
var damages = []func(r *rand.Rand, m fstest.MapFS) string{cutFile, swapFiles, lieAboutLength, flipHeader, lieAboutTensor, moveTensor, renameTensor, changeConfig}

func cutFile(r *rand.Rand, m fstest.MapFS) string {
	name := weightFiles[r.IntN(2)]
	n := r.IntN(len(m[name].Data))
	m[name] = &fstest.MapFile{Data: m[name].Data[:n]}
	return fmt.Sprintf("%s cut to %d bytes", name, n)
}

func swapFiles(r *rand.Rand, m fstest.MapFS) string {
	names := slices.Sorted(maps.Keys(m))
	names = slices.DeleteFunc(names, func(n string) bool { return n == tokenizerFile }) // any text will do for it here
	a := r.IntN(len(names))
	b := (a + 1 + r.IntN(len(names)-1)) % len(names)
	m[names[a]], m[names[b]] = m[names[b]], m[names[a]]
	return names[a] + " and " + names[b] + " swapped"
}

func lieAboutLength(r *rand.Rand, m fstest.MapFS) string {
	name := weightFiles[r.IntN(2)]
	data := slices.Clone(m[name].Data)
	was := binary.LittleEndian.Uint64(data)
	lies := []uint64{0, 1, was - 1 - uint64(r.IntN(8)), was + 1 + uint64(r.IntN(64)), uint64(len(data)), 1 << 62, 1 << 63, ^uint64(0), r.Uint64()}
	lie := lies[r.IntN(len(lies))]
	binary.LittleEndian.PutUint64(data, lie)
	m[name] = &fstest.MapFile{Data: data}
	return fmt.Sprintf("%s: the header is said to have %d bytes, not %d", name, lie, was)
}

// flipHeader breaks the text of a header where it cannot be read any more.
func flipHeader(r *rand.Rand, m fstest.MapFS) string {
	name := weightFiles[r.IntN(2)]
	data := slices.Clone(m[name].Data)
	n := int(binary.LittleEndian.Uint64(data))
	end := 8 + strings.LastIndexByte(string(data[8:8+n]), '}')
	marks := []int{}
	for i := 8; i <= end; i++ {
		if strings.IndexByte(`{}[]:"`, data[i]) >= 0 {
			marks = append(marks, i)
		}
	}
	at := marks[r.IntN(len(marks))]
	data[at] = "\x00x\xff,"[r.IntN(4)]
	m[name] = &fstest.MapFile{Data: data}
	return fmt.Sprintf("%s: byte %d of the header is %q", name, at, data[at])
}

type told struct {
	DType   string  `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// rewrite changes the header of a weight file.
func rewrite(m fstest.MapFS, name string, change func(h map[string]told, names []string) string) string {
	data := m[name].Data
	n := int(binary.LittleEndian.Uint64(data))
	h := map[string]told{}
	if err := json.Unmarshal(data[8:8+n], &h); err != nil {
		panic(err)
	}
	delete(h, "__metadata__")
	what := change(h, slices.Sorted(maps.Keys(h)))
	text, err := json.Marshal(h)
	if err != nil {
		panic(err)
	}
	out := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	m[name] = &fstest.MapFile{Data: append(out, data[8+n:]...)}
	return name + ": " + what
}

func lieAboutTensor(r *rand.Rand, m fstest.MapFS) string {
	return rewrite(m, weightFiles[r.IntN(2)], func(h map[string]told, names []string) string {
		at := names[r.IntN(len(names))]
		x := h[at]
		x.Shape = slices.Clone(x.Shape)
		switch k := r.IntN(5); {
		case k == 0:
			x.DType = []string{"F32", "U32", "F64", "BOOL", "I8", "bf16", ""}[r.IntN(7)]
			if x.DType == h[at].DType {
				x.DType = "F64"
			}
		case k == 1 && len(x.Shape) > 0:
			x.Shape[r.IntN(len(x.Shape))] += []int64{-1, 1, 7, -1 << 40, 1 << 62}[r.IntN(5)]
		case k == 2 && len(x.Shape) > 0:
			x.Shape = x.Shape[1:]
		case k == 3:
			x.Shape = append(x.Shape, 2, 1<<33)
		default:
			x.Shape = []int64{-1}
		}
		h[at] = x
		return fmt.Sprintf("%s is said to be %+v", at, x)
	})
}

func moveTensor(r *rand.Rand, m fstest.MapFS) string {
	return rewrite(m, weightFiles[r.IntN(2)], func(h map[string]told, names []string) string {
		at := names[r.IntN(len(names))]
		x := h[at]
		by := []int64{-1 << 62, -2, 2, 4096, 1 << 30, 1<<63 - 1}[r.IntN(6)]
		x.Offsets = slices.Clone(x.Offsets)
		x.Offsets[r.IntN(2)] += by
		h[at] = x
		return fmt.Sprintf("%s is said to be at %v", at, x.Offsets)
	})
}

// renameTensor drops a tensor, or gives two of different shapes each other's name.
func renameTensor(r *rand.Rand, m fstest.MapFS) string {
	return rewrite(m, weightFiles[r.IntN(2)], func(h map[string]told, names []string) string {
		a, b := names[r.IntN(len(names))], names[r.IntN(len(names))]
		if r.IntN(2) == 0 || slices.Equal(h[a].Shape, h[b].Shape) {
			h["no."+a] = h[a]
			delete(h, a)
			return a + " has another name"
		}
		h[a], h[b] = h[b], h[a]
		return a + " and " + b + " are swapped"
	})
}

// changeConfig moves a number of config.json or of the head's configuration that shapes follow from.
func changeConfig(r *rand.Rand, m fstest.MapFS) string {
	fields := map[string][]string{
		"config.json": {
			"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim",
			"linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim", "linear_conv_kernel_dim",
		},
		"joint_head_config.json": {"hidden_size", "width", "routing_layers", "layers", "feedforward"},
	}
	name := slices.Sorted(maps.Keys(fields))[r.IntN(2)]
	field := fields[name][r.IntN(len(fields[name]))]
	var all map[string]any
	if err := json.Unmarshal(m[name].Data, &all); err != nil {
		panic(err)
	}
	in := all
	if text, ok := all["text_config"].(map[string]any); ok {
		in = text
	}
	was := in[field].(float64)
	to := []any{was + 1, was * 2, 0, -was, 1e18, 1.5, "64", nil, []int{1}}[r.IntN(9)]
	in[field] = to
	data, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	m[name] = &fstest.MapFile{Data: data}
	return fmt.Sprintf("%s: %s is %v, not %v", name, field, to, was)
}
