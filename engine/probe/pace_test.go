package probe

import (
	"context"
	"testing"

	"clefbar/engine/cpu"
)

func TestPace(t *testing.T) {
	b, err := cpu.New(cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	rates, err := Pace(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	for _, layout := range PaceLayouts {
		if r := rates[layout]; r < 1e8 || r > 1e15 {
			t.Errorf("%s: got %g operations a second", layout, r)
		}
	}
	t.Logf("billions of operations a second: %.0f", []float64{rates["bf16"] / 1e9, rates["8-bit"] / 1e9, rates["4-bit"] / 1e9})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Pace(ended, b); err == nil {
		t.Error("measured although it was stopped")
	}
}
