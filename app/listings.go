package main

import (
	"context"

	"clefbar/app/endpoint"
	"clefbar/app/worker"
	"clefbar/engine"
	"clefbar/models/shelf"
)

// listings returns the names that requests may use: real models first, then the
// aliases of the default one.
func (l *library) listings(w *worker.Worker) []endpoint.Listing {
	chosen := w.Status().Chosen
	out := []endpoint.Listing{listing(chosen, chosen.Name)}
	entries := l.list(context.Background())
	for _, e := range entries {
		if e.info.Name != chosen.Name && (e.item == nil || e.item.State == shelf.Ready) {
			out = append(out, listing(e.info, e.info.Name))
		}
	}
	for _, alias := range []string{"jev-latest", "jev-preview", "clef-latest"} {
		out = append(out, listing(chosen, alias))
	}
	for _, e := range entries {
		for _, name := range e.names {
			out = append(out, listing(e.info, name))
		}
	}
	return out
}

// firstRelease is the day on which the first Clef models were published. A folder
// does not tell its own.
const firstRelease = "2026-10-01"

func listing(info engine.ModelInfo, name string) endpoint.Listing {
	text := info.Description
	if text == "" {
		text = "Clef decision model " + info.Name
	}
	if info.Practice {
		text += " (a practice model)"
	}
	if name != info.Name {
		text = "Answered by " + info.Name + ": " + text
	}
	day := info.Released
	if day == "" {
		day = firstRelease
	}
	return endpoint.Listing{Name: name, Description: text, Released: day}
}
