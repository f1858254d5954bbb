package local

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clefbar/engine"
	"clefbar/engine/backend"
	"clefbar/engine/cpu"
)

// cutter is a device that cuts a file in the middle of a run: before the product that left counts down to.
type cutter struct {
	backend.Backend
	t    *testing.T
	file string
	left int
}

func (c *cutter) count() {
	if c.left--; c.left == 0 {
		truncate(c.t, c.file)
	}
}

func (c *cutter) Embed(dst backend.Buffer, table backend.Weight, ids []int32) {
	c.count()
	c.Backend.Embed(dst, table, ids)
}

func (c *cutter) Linear(dst []backend.Buffer, x backend.Buffer, w, bias []backend.Weight, act backend.Activation) {
	c.count()
	c.Backend.Linear(dst, x, w, bias, act)
}

func (c *cutter) LinearAdd(dst, x backend.Buffer, w, bias backend.Weight) {
	c.count()
	c.Backend.LinearAdd(dst, x, w, bias)
}

func (c *cutter) SwiGLU(dst, x backend.Buffer, gate, up backend.Weight) {
	c.count()
	c.Backend.SwiGLU(dst, x, gate, up)
}

func truncate(t *testing.T, file string) {
	t.Helper()
	if err := os.Truncate(file, 4096); err != nil {
		t.Error(err)
	}
}

// weightFile is where the backbone of the golden checkpoints is.
func weightFile(dir string) string { return filepath.Join(dir, "model.safetensors") }

// wantLost checks the error of a decision whose model's files went away.
func wantLost(t *testing.T, err error, file string) {
	t.Helper()
	if engine.ReasonOf(err) != engine.NoModel || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "download it again") {
		t.Errorf("got reason %d, %v; want NoModel about %s and what to do", engine.ReasonOf(err), err, file)
	}
}

// TestFileCutBeforeProducts cuts the weights or the head's file in the middle of a decision, at places where the next
// thing is to read them, on every path of this machine. Without protection the first of these ends the process.
func TestFileCutBeforeProducts(t *testing.T) {
	for _, path := range []string{"", "avx2", "avx512", "avx512vnni", "neon", "neondot", "go"} {
		precisions := []string{cpu.F32}
		if path == "" {
			precisions = []string{cpu.F32, cpu.BF16, cpu.Int8}
		}
		for _, precision := range precisions {
			t.Run(path+"/"+precision, func(t *testing.T) {
				t.Setenv("CLEFBAR_CPU", path)
				products := cutAt(t, precision, "", 0)
				places := 6
				if path == "go" {
					places = 2 // it is slow
				}
				for number := 1; number <= products; number += max(1, products/places) {
					cutAt(t, precision, "model.safetensors", number)
				}
				for back := range 2 { // the head comes last
					cutAt(t, precision, "joint_head.safetensors", products-back)
				}
			})
		}
	}
}

// cutAt decides and cuts the file before the product of a number, not at all for 0. It returns how many there are.
func cutAt(t *testing.T, precision, file string, number int) int {
	t.Helper()
	dir := copyOf(t, small)
	defer os.RemoveAll(dir)
	c := &cutter{t: t, file: filepath.Join(dir, file), left: number}
	m, err := Open(context.Background(), dir, Options{Precision: precision, Device: Device{"cutter", func(precision string) (backend.Backend, error) {
		b, err := CPU(2).Open(precision)
		if err != nil {
			t.Skip(err)
		}
		c.Backend = b
		return c, nil
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	_, err = m.Decide(context.Background(), parse(t, tinyRequest))
	if number == 0 {
		if err != nil {
			t.Fatal(err)
		}
		return -c.left
	}
	wantLost(t, err, file)
	return 0
}

// TestFileCutAtAnyTime cuts the weights while decisions run one after the other. Each is answered as before or refused,
// and other models go on.
func TestFileCutAtAnyTime(t *testing.T) {
	other := openGolden(t, small)
	r := parse(t, []byte(`{"state":"`+strings.Repeat("many words ", 20)+`","questions":{"a":{"type":"noul"},"b":{"type":"noul"}}}`))
	want := fmt.Sprint(decide(t, other, r).Answers)
	for range 15 {
		dir := copyOf(t, small)
		m, err := Open(context.Background(), dir, Options{Precision: "f32"})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		decide(t, m, r)
		cut := make(chan struct{})
		time.AfterFunc(time.Duration(rand.Int64N(int64(2*time.Since(began)))), func() {
			truncate(t, weightFile(dir))
			close(cut)
		})
		for err == nil {
			var out *engine.Response
			if out, err = m.Decide(context.Background(), r); err == nil && fmt.Sprint(out.Answers) != want {
				t.Errorf("got %v, want %v or an error", out.Answers, want)
			}
		}
		<-cut
		wantLost(t, err, "model.safetensors")
		_, err = m.Decide(context.Background(), r)
		wantLost(t, err, "model.safetensors")
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}
	if got := fmt.Sprint(decide(t, other, r).Answers); got != want {
		t.Errorf("another model: got %v afterwards, want %v", got, want)
	}
}

// TestFileCutWhileOpening cuts the weights between two of the tensors that opening reads.
func TestFileCutWhileOpening(t *testing.T) {
	// open cuts the file when progress is told for the time of a number, and returns how often it was.
	open := func(file string, number int) (told int, err error) {
		m, err := Open(context.Background(), filepath.Dir(file), Options{Progress: func(int64, int64) {
			if told++; told == number {
				truncate(t, file)
			}
		}})
		if err == nil {
			m.Close()
		}
		return told, err
	}
	whole, err := open(weightFile(copyOf(t, small)), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, number := range []int{1, 2, whole / 2, whole} {
		_, err := open(weightFile(copyOf(t, small)), number)
		wantLost(t, err, "model.safetensors")
	}
}
