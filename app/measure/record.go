// Package measure runs labelled records through a decider and says how good the
// answers are: accuracy, calibration, what changes between two models, and the
// temperature that fits best.
package measure

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"clefbar/engine"
)

// Record is one line of a file: a request and what its answers should be.
type Record struct {
	Line    int    // from 1
	ID      string // the record's own, or "line N"
	Request *engine.Request
	Gold    []int // for each question the index of the right option, -1 if the record does not say
}

// Labelled reports whether the record says what at least one answer should be.
func (r *Record) Labelled() bool {
	for _, g := range r.Gold {
		if g >= 0 {
			return true
		}
	}
	return false
}

// BadLine is a line that is no record.
type BadLine struct {
	Line int
	Err  error
}

func (b BadLine) Error() string { return fmt.Sprintf("line %d: %v", b.Line, b.Err) }

// Unwrap returns what is wrong with the line.
func (b BadLine) Unwrap() error { return b.Err }

// maxLine is the most bytes of one line, as of a request's body.
const maxLine = 32 << 20

// Read reads JSON lines {"id","state","questions","gold":{question:answer}}. Empty
// lines are skipped, bad ones are returned beside the records. The error is one of
// reading. limits say how requests are read.
func Read(r io.Reader, limits engine.Limits) (records []Record, bad []BadLine, err error) {
	lines := bufio.NewReaderSize(r, 1<<16)
	seen := map[string]int{}
	for n := 1; ; n++ {
		line, tooLong, err := readLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return records, bad, fmt.Errorf("read the records: %w", err)
		}
		end := err != nil
		line = bytes.TrimSpace(line)
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		switch rec, err := parse(line, n, limits); {
		case tooLong:
			bad = append(bad, BadLine{n, fmt.Errorf("longer than %d bytes", maxLine)})
		case len(line) == 0:
		case err != nil:
			bad = append(bad, BadLine{n, err})
		case seen[rec.ID] > 0:
			bad = append(bad, BadLine{n, fmt.Errorf("the id %q is that of line %d", rec.ID, seen[rec.ID])})
		default:
			seen[rec.ID] = n
			records = append(records, rec)
		}
		if end {
			return records, bad, nil
		}
	}
}

// readLine reads up to maxLine bytes of a line and drops the rest of it.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			tooLong = true
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

func parse(line []byte, n int, limits engine.Limits) (Record, error) {
	rec := Record{Line: n, ID: fmt.Sprintf("line %d", n)}
	if len(line) == 0 {
		return rec, nil
	}
	v, err := engine.ParseValue(line, limits)
	if err != nil {
		return rec, err
	}
	if rec.Request, err = engine.ParseRequest(line, limits); err != nil {
		return rec, err
	}
	switch id := v.Get("id"); id.Type {
	case engine.String, engine.Number:
		rec.ID = id.Text
	case engine.Missing, engine.Null:
	default:
		return rec, errors.New("id should be a string or a number")
	}
	rec.Gold, err = goldOf(v.Get("gold"), rec.Request)
	return rec, err
}

// goldOf reads the right answers of a record.
func goldOf(v engine.Value, r *engine.Request) ([]int, error) {
	gold := make([]int, len(r.Questions))
	known := map[string]bool{}
	for i, q := range r.Questions {
		gold[i] = -1
		known[q.ID] = true
		answer := v.Get(q.ID)
		if answer.Type == engine.Missing || answer.Type == engine.Null {
			continue
		}
		at, ok := indexOf(answer, q)
		if !ok {
			return nil, fmt.Errorf("gold.%s: %s is no answer to the question", q.ID, answer.JSON())
		}
		gold[i] = at
	}
	switch v.Type {
	case engine.Missing, engine.Null:
		return gold, nil
	case engine.Object:
	default:
		return nil, errors.New("gold should be an object that maps questions to answers")
	}
	for _, f := range v.Fields {
		if !known[f.Name] {
			return nil, fmt.Errorf("gold.%s: there is no such question", f.Name)
		}
	}
	return gold, nil
}

// indexOf finds an answer among a question's options: a boolean or its word for a
// noul, a name for a choice, an index or a level for a score.
func indexOf(v engine.Value, q engine.Question) (int, bool) {
	text := v.Text
	switch v.Type {
	case engine.Bool:
		text = strconv.FormatBool(v.Bool)
		if q.Kind != engine.Noul {
			return 0, false
		}
	case engine.Number:
		if q.Kind != engine.Score {
			return 0, false
		}
		text = strings.TrimSuffix(text, ".0")
	case engine.String:
	default:
		if q.Kind != engine.Score {
			return 0, false
		}
	}
	for i, o := range q.Options {
		if v.Type != engine.Array && v.Type != engine.Object && o.Name == text ||
			q.Kind == engine.Score && v.Type != engine.Number && o.Description.Equal(v) {
			return i, true
		}
	}
	return 0, false
}
