package probe

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"clefbar/engine"
)

// Recording is what a model answered, in a file: to hold another machine, precision or conversion against it.
type Recording struct {
	Format  string  `json:"format"` // recordingFormat
	Model   Model   `json:"model"`
	Answers Answers `json:"answers"`
}

const (
	recordingFormat = "clefbar probes 1"
	maxRecording    = 1 << 20
)

// Write writes a recording as JSON.
func Write(w io.Writer, m Model, a Answers) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(Recording{recordingFormat, m, a})
}

// Read reads a recording. Errors are engine.Invalid and say what is wrong with the file.
func Read(r io.Reader) (*Recording, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxRecording+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxRecording {
		return nil, notRecording("it is longer than %d bytes", maxRecording)
	}
	var rec Recording
	if err := json.Unmarshal(data, &rec); err != nil {
		return nil, notRecording("%v", err)
	}
	if rec.Format != recordingFormat {
		return nil, notRecording("its format is %.40q, not %q", rec.Format, recordingFormat)
	}
	for id, questions := range rec.Answers {
		for q, options := range questions {
			for name, p := range options {
				if math.IsNaN(p) || p < 0 || p > 1 {
					return nil, notRecording("%.80q: %v is not a probability", id+", "+q+", "+name, p)
				}
			}
		}
	}
	for _, p := range Probes() {
		if _, ok := rec.Answers[p.ID]; ok {
			return &rec, nil
		}
	}
	return nil, notRecording("it knows none of this version's probes")
}

func notRecording(format string, args ...any) error {
	return &engine.Error{Reason: engine.Invalid, Message: "this is not a recording of probes: " + fmt.Sprintf(format, args...)}
}

// Reference makes a recording something to compare with, within a tolerance.
func (r *Recording) Reference(name string, tolerance float64) Reference {
	return Reference{
		Source:    fmt.Sprintf("%s (%s, %s, %s)", name, r.Model.Name, r.Model.Layout, r.Model.Precision),
		Tolerance: map[string]float64{"": tolerance}, Answers: r.Answers,
	}
}

// Missing lists the probes that a recording does not know: they were added later.
func (r *Recording) Missing() (ids []string) {
	for _, p := range Probes() {
		if _, ok := r.Answers[p.ID]; !ok {
			ids = append(ids, p.ID)
		}
	}
	return ids
}
