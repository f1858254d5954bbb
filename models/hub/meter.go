package hub

import (
	"sync"
	"time"
)

const (
	tick       = 100 * time.Millisecond
	rateWindow = 5 * time.Second
)

// meter counts what arrives and tells report about it.
type meter struct {
	mu      sync.Mutex
	now     Progress
	past    []sample
	report  func(Progress)
	cache   Cache
	repo    *Repo
	current File

	quit chan struct{}
	done sync.WaitGroup
}

type sample struct {
	at    time.Time
	bytes int64
}

func newMeter(cache Cache, r *Repo, files []File, report func(Progress)) *meter {
	m := &meter{cache: cache, repo: r, report: report, quit: make(chan struct{})}
	m.now.Files = len(files)
	for _, f := range distinct(files) {
		m.now.Total += f.Size
		m.now.Done += cache.Arrived(r, f)
	}
	if report != nil {
		m.done.Go(m.tell)
	}
	return m
}

func (m *meter) tell() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-m.quit:
			m.report(m.sample())
			return
		case <-ticker.C:
			m.report(m.sample())
		}
	}
}

// sample returns the progress with the rate over the last seconds.
func (m *meter) sample() Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := time.Now()
	m.past = append(m.past, sample{at, m.now.Fetched})
	for len(m.past) > 2 && at.Sub(m.past[0].at) > rateWindow {
		m.past = m.past[1:]
	}
	if d := at.Sub(m.past[0].at); d > 0 {
		m.now.Rate = float64(m.now.Fetched-m.past[0].bytes) / d.Seconds()
	}
	return m.now
}

// stop reports once more and waits for the reporting to end.
func (m *meter) stop() {
	close(m.quit)
	m.done.Wait()
}

func (m *meter) start(f File) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.File, m.current = f.Path, f
}

func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.FileDone++
}

// add counts n bytes from the network; known ones were on disk already.
func (m *meter) add(n int64, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.Fetched += n
	if !known {
		m.now.Done += n
	}
}

// left is how many bytes are still to come.
func (m *meter) left() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now.Total - m.now.Done
}

// restart takes the bytes of the current file back.
func (m *meter) restart() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.Done -= m.current.Size
}

// distinct leaves out files whose bytes another one of the list has too: they are one blob.
func distinct(files []File) []File {
	seen := map[string]bool{}
	var out []File
	for _, f := range files {
		if !seen[f.Hash] {
			seen[f.Hash] = true
			out = append(out, f)
		}
	}
	return out
}
