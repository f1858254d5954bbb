// Package samples holds the cases that come with the program. They show what
// decision models are for, and the practice model answers each of them right.
package samples

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed *.json
var files embed.FS

// Sample is one case.
type Sample struct {
	Title    string // "Ticket routing"
	Subtitle string // what it shows, in one sentence
	Request  []byte // a System One request, indented by two spaces
	// Expect is the right answer by question id: the option's name (string), the
	// level's number (float64), or yes or no (bool).
	Expect map[string]any
}

// All returns the samples in the order of the menu. The slices are the caller's.
func All() []Sample {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("samples: " + err.Error())
	}
	list := make([]Sample, 0, len(entries))
	for _, e := range entries {
		s, err := read(e.Name())
		if err != nil {
			panic(fmt.Sprintf("samples: %s: %v", e.Name(), err))
		}
		list = append(list, s)
	}
	return list
}

func read(name string) (Sample, error) {
	data, err := files.ReadFile(name)
	if err != nil {
		return Sample{}, err
	}
	var f struct {
		Title, Subtitle string
		Request         json.RawMessage
		Expect          map[string]any
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return Sample{}, err
	}
	// The request stands two spaces deep in the file.
	var b bytes.Buffer
	if err := json.Indent(&b, f.Request, "", "  "); err != nil {
		return Sample{}, err
	}
	b.WriteByte('\n')
	return Sample{Title: f.Title, Subtitle: f.Subtitle, Request: b.Bytes(), Expect: f.Expect}, nil
}
