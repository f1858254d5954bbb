package ui

import (
	"fmt"
	"testing"

	"fyne.io/fyne/v2"
)

func TestSizesOfTheWindow(t *testing.T) {
	d, _, _, _ := testDeps()
	d.FirstRun = true
	for _, tt := range []struct {
		w, h    float32
		stacked bool
		bar     float32
	}{{1180, 732, false, 248}, {1480, 732, false, 348}, {2400, 1200, false, 360}, {960, 700, false, 0}, {959, 700, true, 248}, {760, 492, true, 0}} {
		t.Run(fmt.Sprint(tt.w), func(t *testing.T) {
			w := testWindow(t, d, tt.w, tt.h)
			settle(w.page)
			if got := w.page.state.stacked; got != tt.stacked {
				t.Errorf("got stacked %v, want %v", got, tt.stacked)
			}
			c := cardOf(t, w, 0)
			cols := c.columns(c.Size().Width)
			if tt.bar > 0 && cols.barW != tt.bar {
				t.Errorf("got bars of %v, want %v", cols.barW, tt.bar)
			}
			if tt.bar == 0 && !cols.twoLines {
				t.Error("got one line a row, want two")
			}
			assertInside(t, c)
		})
	}
}

// assertInside checks that nothing of a card's visible rows sticks out of it.
func assertInside(t *testing.T, c *card) {
	t.Helper()
	for _, r := range c.shown {
		for _, o := range r.parts {
			if !o.Visible() {
				continue
			}
			if end := o.Position().X + o.Size().Width; end > r.Size().Width+0.6 || o.Position().X < -0.1 {
				t.Errorf("%T from %v to %v in a row of %v", o, o.Position().X, end, r.Size().Width)
			}
		}
	}
}

func TestThresholdStandsOverTheTicks(t *testing.T) {
	w, _ := ticketWindow(t)
	driver := fyne.CurrentApp().Driver()
	for _, v := range []float64{0.5, 0.8, 0.99} {
		w.page.setThreshold(v)
		b := w.page.questions.threshold
		head := driver.AbsolutePositionForObject(b).X + b.tickX()
		r := cardOf(t, w, 0).shown[0].bar
		tick := driver.AbsolutePositionForObject(r).X + r.ticks[0][0].Position().X + r.ticks[0][0].Size().Width/2
		if d := abs32(head - tick); d > 1 && v < 0.9 {
			t.Errorf("threshold %v: header %v dp beside the ticks", v, d)
		}
	}
}
