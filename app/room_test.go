package main

import (
	"errors"
	"testing"

	"clefbar/metal/gpu"
	"clefbar/models/shelf"
)

// askedGPU is a GPU that is only asked what it is.
type askedGPU struct {
	gpu.Device
	asked, closed *int
}

func (g askedGPU) Info() gpu.Info { *g.asked++; return gpu.Info{WorkingSet: 22_900_000_000} }
func (g askedGPU) Close() error   { *g.closed++; return nil }

func TestRoomOfTheGPU(t *testing.T) {
	var asked, closed int
	real := gpuDevice
	defer func() { gpuDevice = real }()
	gpuDevice = func() (gpu.Device, error) { return askedGPU{asked: &asked, closed: &closed}, nil }
	l := newLibrary(settings{}, howToRun{device: gpuWord})
	for range 3 {
		if r := l.room(); r.GPU != 22_900_000_000 {
			t.Fatalf("got %+v", r)
		}
	}
	if asked != 1 || closed != 1 {
		t.Errorf("asked %d times, closed %d times, want once each", asked, closed)
	}
	for need, want := range map[int64]shelf.Verdict{6_200_000_000: shelf.Fits, 19_400_000_000: shelf.Tight, 31_200_000_000: shelf.TooMuch} {
		if f, err := l.fit(need, 5_000_000_000); err != nil || f.Verdict() != want || f.Have != 22_900_000_000 {
			t.Errorf("%d bytes: got %+v, %s, %v, want %s", need, f, f.Verdict(), err, want)
		}
	}
	gpuDevice = func() (gpu.Device, error) { return nil, errors.New("no GPU") }
	available, err := shelf.Available()
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []howToRun{{device: gpuWord}, {device: "cpu"}, {device: "auto", precision: "bf16"}} {
		l := newLibrary(settings{}, how)
		if f, err := l.fit(1, 0); err != nil || f.Have < available/2 || f.Have > 2*available {
			t.Errorf("%+v: got %d bytes, %v, want about %d", how, f.Have, err, available)
		}
	}
}
