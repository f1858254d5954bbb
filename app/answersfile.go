package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"clefbar/app/measure"
	"clefbar/engine"
)

// answersFile is the file that eval --out writes: one line a record, whole lines
// only, so that an interrupted run can go on. The zero value writes nothing.
type answersFile struct {
	file *os.File
	done map[string]doneRecord // by record id: what an earlier run left
}

type doneRecord struct {
	outcomes []measure.Outcome
	took     time.Duration
}

// openAnswers opens the file. With resume it reads what is there, and cuts off a line
// that was not finished.
func openAnswers(name string, resume bool, model string, records []measure.Record) (*answersFile, error) {
	a := &answersFile{done: map[string]doneRecord{}}
	if name == "" {
		return a, nil
	}
	flags := os.O_RDWR | os.O_CREATE
	if !resume {
		flags |= os.O_TRUNC
	}
	var err error
	if a.file, err = os.OpenFile(name, flags, 0o600); err != nil {
		return nil, usage("--out: %v", err)
	}
	if err := a.load(model, records); err != nil {
		return nil, errors.Join(err, a.file.Close())
	}
	return a, nil
}

// load reads whole lines and leaves the file at the end of the last of them.
func (a *answersFile) load(model string, records []measure.Record) error {
	data, err := io.ReadAll(a.file)
	if err != nil {
		return fmt.Errorf("read the answers so far: %w", err)
	}
	byID := map[string]*measure.Record{}
	for i := range records {
		byID[records[i].ID] = &records[i]
	}
	end := int64(bytes.LastIndexByte(data, '\n') + 1)
	for line := range bytes.Lines(data[:end]) {
		var l jsonLine
		if err := json.Unmarshal(line, &l); err != nil {
			return usage("--resume: a line of %s is not one of eval's: %v", a.file.Name(), err)
		}
		if l.Model != model {
			return usage("--resume: %s was made with %s, not with %s", a.file.Name(), l.Model, model)
		}
		if rec := byID[l.ID]; rec != nil {
			if outcomes, ok := restore(rec, l); ok {
				a.done[l.ID] = doneRecord{outcomes, time.Duration(l.MS * float64(time.Millisecond))}
			}
		}
	}
	if err := a.file.Truncate(end); err != nil {
		return fmt.Errorf("cut the unfinished line off: %w", err)
	}
	_, err = a.file.Seek(end, io.SeekStart)
	return err
}

// restore turns a line back into outcomes. It fails if the record has changed since.
func restore(rec *measure.Record, l jsonLine) ([]measure.Outcome, bool) {
	resp := &engine.Response{}
	for _, q := range rec.Request.Questions {
		var answer struct {
			Noul          *float64           `json:"noul"`
			Probabilities map[string]float64 `json:"probabilities"`
		}
		if json.Unmarshal(l.Answers[q.ID], &answer) != nil {
			return nil, false
		}
		a := engine.Answer{ID: q.ID, Kind: q.Kind}
		for i, o := range q.Options {
			name := o.Name
			if q.Kind == engine.Score {
				name = strconv.Itoa(i)
			}
			p, ok := answer.Probabilities[name]
			if q.Kind == engine.Noul && answer.Noul != nil {
				p, ok = []float64{*answer.Noul, 1 - *answer.Noul}[i], true
			}
			if !ok {
				return nil, false
			}
			a.Options, a.Probs = append(a.Options, o.Name), append(a.Probs, p)
		}
		resp.Answers = append(resp.Answers, a)
	}
	return measure.Outcomes(rec, resp), true
}

// write appends one record's answers as one line.
func (a *answersFile) write(rec *measure.Record, resp *engine.Response) error {
	if a.file == nil {
		return nil
	}
	line := jsonLine{ID: rec.ID, Model: resp.Model, MS: ms(resp.Timing.Total), Tokens: resp.Usage.InputTokens, Answers: map[string]json.RawMessage{}}
	for _, answer := range resp.Answers {
		line.Answers[answer.ID] = answer.AppendJSON(nil)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(line); err != nil {
		return fmt.Errorf("write the answers: %w", err)
	}
	if _, err := a.file.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the answers: %w", err)
	}
	return nil
}

// Close closes the file.
func (a *answersFile) Close() error {
	if a.file == nil {
		return nil
	}
	return a.file.Close()
}
