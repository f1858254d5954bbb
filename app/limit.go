package main

import (
	"cmp"
	"maps"

	"clefbar/engine/local"
	"clefbar/models/shelf"
	"clefbar/ui"
)

// limit is how many tokens a model is opened for; 0 means its own limit.
func (l *library) limit(key string) int {
	if l.how.maxTokens > 0 {
		return l.how.maxTokens
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	raised := l.set.Limits[key]
	if raised <= local.DefaultLimit || key == etudeKey {
		return 0
	}
	return min(raised, l.mostLocked(key))
}

// tokens is the length of request that a model's memory is reckoned for.
func (l *library) tokens(key string) int { return cmp.Or(l.limit(key), fitTokens) }

// mostLocked is how far a model's limit can be raised, as far as it is known before the disk was looked at.
func (l *library) mostLocked(key string) int {
	for _, e := range l.entries {
		if e.key == key && e.item != nil && e.item.Positions > 0 {
			return min(e.item.Positions, local.MaxLimit)
		}
	}
	return local.MaxLimit
}

// longer says how far a model's limit can be raised and what a token more takes.
func (l *library) longer(key string) ui.Longer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.how.maxTokens > 0 {
		return ui.Longer{}
	}
	for _, e := range l.entries {
		if e.key == key && e.item != nil && e.item.State == shelf.Ready {
			return ui.Longer{Most: l.mostLocked(key), PerToken: e.item.Need.PerToken}
		}
	}
	return ui.Longer{}
}

// Raise implements ui.Models: the open model is opened anew for longer requests.
func (m *appModels) Raise(limit int) {
	key := m.worker.Chosen()
	go func() {
		raise := func(s *settings) {
			limits := maps.Clone(s.Limits)
			if limits == nil {
				limits = map[string]int{}
			}
			limits[key] = limit
			s.Limits = limits
		}
		m.keep(raise)
		m.lib.mu.Lock()
		raise(&m.lib.set)
		m.lib.mu.Unlock()
		m.worker.Unload()
		m.Open(key)
	}()
}
