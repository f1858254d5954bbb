package local

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"testing"
	"testing/fstest"

	"clefbar/engine"
	"clefbar/engine/goldentest"
)

// A mutation damages one file of a model folder. Structural ones must be refused or
// change nothing at all; the others may change the answer, but not break anything.
type mutation struct {
	name       string
	structural bool
	apply      func(r *rand.Rand, files fstest.MapFS, file string)
}

var mutations = []mutation{
	{"cut", true, func(r *rand.Rand, files fstest.MapFS, file string) {
		data := files[file].Data
		files[file].Data = data[:r.IntN(len(data))]
	}},
	{"cut by a few bytes", true, func(r *rand.Rand, files fstest.MapFS, file string) {
		data := files[file].Data
		files[file].Data = data[:len(data)-1-r.IntN(9)]
	}},
	{"bytes inserted", true, func(r *rand.Rand, files fstest.MapFS, file string) {
		data := files[file].Data
		files[file].Data = slices.Insert(bytes.Clone(data), r.IntN(len(data)), make([]byte, 1+r.IntN(8))...)
	}},
	{"removed", true, func(_ *rand.Rand, files fstest.MapFS, file string) { delete(files, file) }},
	{"another file's content", true, func(r *rand.Rand, files fstest.MapFS, file string) {
		names := slices.Sorted(maps.Keys(files))
		files[file].Data = files[names[r.IntN(len(names))]].Data
	}},
	{"two halves swapped", true, func(_ *rand.Rand, files fstest.MapFS, file string) {
		data := files[file].Data
		files[file].Data = slices.Concat(data[len(data)/2:], data[:len(data)/2])
	}},
	{"lying header length", true, func(r *rand.Rand, files fstest.MapFS, file string) {
		data := bytes.Clone(files[file].Data)
		lies := []uint64{0, 1, 7, uint64(len(data)), uint64(len(data)) - 8, 1 << 31, 1 << 62, 1<<63 - 1, 1 << 63, 1<<64 - 1, 1<<64 - 9}
		binary.LittleEndian.PutUint64(data, lies[r.IntN(len(lies))])
		files[file].Data = data
	}},
	{"number changed", false, func(r *rand.Rand, files fstest.MapFS, file string) {
		head := files[file].Data[:textEnd(files[file].Data)]
		at := numbers.FindAllIndex(head, -1)
		if len(at) == 0 {
			return
		}
		where := at[r.IntN(len(at))]
		lies := []string{"0", "-1", "1", "7", "1e400", "1e308", "4294967296", "9223372036854775807", "18446744073709551616", "null", `"x"`, "[]", "{}", "0.5"}
		replace(files, file, where[0], where[1], lies[r.IntN(len(lies))])
	}},
	{"word changed", false, func(r *rand.Rand, files fstest.MapFS, file string) {
		head := files[file].Data[:textEnd(files[file].Data)]
		at := words.FindAllIndex(head, -1)
		if len(at) == 0 {
			return
		}
		where := at[r.IntN(len(at))]
		lies := []string{`""`, `"F64"`, `"F16"`, `"F32"`, `"U32"`, `"x"`, "0", "null", `"\ud800"`, `"weight"`, string(head[at[r.IntN(len(at))][0]:][:1])}
		replace(files, file, where[0], where[1], lies[r.IntN(len(lies))])
	}},
	{"bytes flipped in the text", false, func(r *rand.Rand, files fstest.MapFS, file string) {
		data := bytes.Clone(files[file].Data)
		for range 1 + r.IntN(4) {
			data[r.IntN(textEnd(data))] ^= 1 << r.IntN(8)
		}
		files[file].Data = data
	}},
	{"bytes flipped anywhere", false, func(r *rand.Rand, files fstest.MapFS, file string) {
		data := bytes.Clone(files[file].Data)
		for range 1 + r.IntN(64) {
			data[r.IntN(len(data))] = byte(r.IntN(256))
		}
		files[file].Data = data
	}},
}

var (
	numbers = regexp.MustCompile(`-?\d+(\.\d+)?(e-?\d+)?`)
	words   = regexp.MustCompile(`"[^"\\]*"`)
)

// textEnd is where the JSON text of a file ends.
func textEnd(data []byte) int {
	if len(data) > 8 {
		if n := binary.LittleEndian.Uint64(data); n < uint64(len(data)-8) {
			return int(n) + 8
		}
	}
	return len(data)
}

// replace puts text in place of a range. The header length of a weight file follows,
// so that the mutation is not just another lying length.
func replace(files fstest.MapFS, file string, from, to int, text string) {
	data := files[file].Data
	out := slices.Concat(data[:from], []byte(text), data[to:])
	if n := binary.LittleEndian.Uint64(data); n < uint64(len(data)-8) {
		binary.LittleEndian.PutUint64(out, n+uint64(len(text))-uint64(to-from))
	}
	files[file].Data = out
}

// TestMutatedCheckpoints damages the golden checkpoints in 500 ways.
func TestMutatedCheckpoints(t *testing.T) {
	request := parse(t, tinyRequest)
	for c, dir := range []string{"tiny-9b-shape-hf", "tiny-9b-shape-mlx-4bit"} {
		whole := readFolder(t, goldentest.Path(t, dir))
		names := slices.Sorted(maps.Keys(whole))
		want, err := openAndDecide(whole, request)
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for i := range 250 {
			r := rand.New(rand.NewPCG(uint64(c), uint64(i)))
			m := mutations[i%len(mutations)]
			file := names[r.IntN(len(names))]
			files := fstest.MapFS{}
			for name, f := range whole {
				files[name] = &fstest.MapFile{Data: f.Data}
			}
			m.apply(r, files, file)
			what := fmt.Sprintf("%s, mutation %d: %s of %s", dir, i, m.name, file)
			got, err := openAndDecide(files, request)
			if err != nil {
				refused++
				checkRefusal(t, what, err)
				continue
			}
			same := fmt.Sprint(got.Answers) == fmt.Sprint(want.Answers)
			if m.structural && !same {
				t.Errorf("%s: accepted, with another answer", what)
			}
			sum := 0.0
			for _, p := range got.Answers[0].Raw {
				sum += p
			}
			if math.Abs(sum-1) > 1e-5 {
				t.Errorf("%s: probabilities %v", what, got.Answers[0].Raw)
			}
		}
		if refused < 125 {
			t.Errorf("%s: only %d of 250 mutations were refused: do they reach the loader?", dir, refused)
		}
	}
}

// checkRefusal wants a reason that says what to do about the files.
func checkRefusal(t *testing.T, what string, err error) {
	t.Helper()
	e, ok := errors.AsType[*engine.Error](err)
	if !ok || e.Reason == engine.Failed || e.Message == "" {
		t.Errorf("%s: refused without a reason: %v", what, err)
	}
}

func readFolder(t *testing.T, dir string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(dir + "/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = &fstest.MapFile{Data: data}
	}
	return files
}

func openAndDecide(files fstest.MapFS, r *engine.Request) (*engine.Response, error) {
	m, err := OpenFS(context.Background(), files, "mutant", Options{Precision: "f32"})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	return m.Decide(context.Background(), r)
}
