package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"clefbar/engine"
	"clefbar/engine/bench"
	"clefbar/engine/probe"

	"github.com/adrg/xdg"
)

// ticketTokens is the length of request that times are told for.
const ticketTokens = 500

// pace knows how long a ticket takes: as measured when a model has answered something like it, else reckoned from how fast
// this machine multiplies. That is measured once a day, and the fastest counts: other work makes it slower, nothing faster.
// It is kept in the cache folder.
type pace struct {
	device string // that models run on

	mu      sync.Mutex
	kept    keptPace
	started bool // the measurement of the machine
}

// keptPace is what the file holds. Another machine or device makes it void.
type keptPace struct {
	Machine string             `json:"machine"`
	At      time.Time          `json:"at"`               // when it was measured
	Rates   map[string]float64 `json:"operations_per_s"` // by stored form
	Tickets map[string]ticket  `json:"tickets"`          // by the key of a model
}

// ticket is a measured decision.
type ticket struct {
	Tokens  int     `json:"tokens"`
	Seconds float64 `json:"seconds"`
}

func paceFile() string { return filepath.Join(xdg.CacheHome, "clefbar", "pace.json") }

func newPace(device string) *pace {
	p := &pace{device: device}
	m := bench.ThisMachine()
	machine := strings.Join([]string{m.Processor, m.System, device, strconv.Itoa(m.Processors)}, ", ")
	if b, err := os.ReadFile(paceFile()); err == nil {
		_ = json.Unmarshal(b, &p.kept) // an unreadable file is measured anew
	}
	if p.kept.Machine != machine {
		p.kept = keptPace{Machine: machine}
	}
	return p
}

// ran notes a decision. A ticket is between half and twice the length that times are told for; others do not say enough.
func (p *pace) ran(key string, r *engine.Response) {
	n, took := r.Usage.InputTokens, r.Timing.Total-r.Timing.Load-r.Timing.Queue
	if n < ticketTokens/2 || n > 2*ticketTokens || took <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept.Tickets == nil {
		p.kept.Tickets = map[string]ticket{}
	}
	old, known := p.kept.Tickets[key]
	p.kept.Tickets[key] = ticket{n, took.Seconds()}
	if !known || old.Seconds > 2*took.Seconds() || old.Seconds < took.Seconds()/2 {
		p.saveLocked()
	}
}

func (p *pace) saveLocked() {
	b, err := json.MarshalIndent(p.kept, "", " ")
	if err == nil {
		err = writeAtomically(paceFile(), append(b, '\n'))
	}
	if err != nil {
		slog.Debug("keep measured times", "err", err)
	}
}

// ticket returns how long a ticket takes with a model; 0 when there is nothing to say yet. operations is what it takes.
func (p *pace) ticket(key, layout string, operations float64) (took time.Duration, measured bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t, ok := p.kept.Tickets[key]; ok {
		return inSeconds(t.Seconds * ticketTokens / float64(t.Tokens)), true
	}
	if rate := p.kept.Rates[storedForm(layout)]; rate > 0 {
		return inSeconds(operations / rate), false
	}
	return 0, false
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// storedForm is the one of the measured forms that a layout is nearest to.
func storedForm(layout string) string {
	layout = strings.TrimPrefix(layout, "mixed ")
	switch layout {
	case "2-bit", "3-bit", "4-bit":
		return "4-bit"
	case "5-bit", "6-bit", "8-bit":
		return "8-bit"
	}
	return "bf16"
}

// measure measures the machine, once a day, and calls done when there is something new. It takes about a second of all
// processors, so busy lets it wait while a decision runs.
func (p *pace) measure(ctx context.Context, busy func() bool, done func()) {
	p.mu.Lock()
	if p.started || p.kept.Rates != nil && recent(p.kept.At) {
		p.mu.Unlock()
		return
	}
	p.started = true
	p.mu.Unlock()
	go func() {
		for busy() {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
		}
		rates, err := measureRates(ctx, p.device)
		if err != nil {
			slog.Debug("measure this machine", "err", err)
			return
		}
		p.mu.Lock()
		p.kept.At = time.Now()
		if p.kept.Rates == nil {
			p.kept.Rates = map[string]float64{}
		}
		for form, rate := range rates {
			p.kept.Rates[form] = max(p.kept.Rates[form], rate)
		}
		p.saveLocked()
		p.mu.Unlock()
		done()
	}()
}

// recent reports a time of the last day. One in the future is from a clock that was wrong.
func recent(at time.Time) bool {
	age := time.Since(at)
	return age >= 0 && age < 24*time.Hour
}

func measureRates(ctx context.Context, device string) (map[string]float64, error) {
	open, ok := deviceFor[device]
	if !ok {
		return nil, nil
	}
	d, err := open()
	if err != nil {
		return nil, err
	}
	b, err := d.Open("auto")
	if err != nil {
		return nil, err
	}
	defer b.Close()
	return probe.Pace(ctx, b)
}
