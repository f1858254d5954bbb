package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"

	"clefbar/app/probes"
	"clefbar/engine"
	"clefbar/models"

	"github.com/spf13/cobra"
)

// doctorFlags are the flags of doctor.
type doctorFlags struct {
	metal           bool
	record, against string
}

func newDoctor(c *common) *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor [MODEL]",
		Short: "Check a model's files and its answers",
		Long: "Doctor checks files, headers, shapes, the head, the tokenizer and hashes, then asks built-in questions and compares\n" +
			"the answers with stored reference probabilities. Where there is no reference yet, --record keeps the answers of one\n" +
			"machine and --against holds another one, or another precision, to them.",
		Example: "  clefbar doctor\n  clefbar doctor clef-flash-4bit --record here.json",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				c.model = args[0]
			}
			if f.metal {
				c.device = "metal"
			}
			return c.doctor(cmd.Context(), f)
		},
	}
	cmd.Flags().BoolVar(&f.metal, "metal", false, "compute on the GPU (the same as --device metal)")
	cmd.Flags().StringVar(&f.record, "record", "", "write the answers to this file")
	cmd.Flags().StringVar(&f.against, "against", "", "compare with a file that --record wrote")
	return cmd
}

// check is one thing that was looked at.
type check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// diagnosis is the result of doctor.
type diagnosis struct {
	Model     string  `json:"model"`
	Checks    []check `json:"checks"`
	Reference string  `json:"reference"`
	Largest   float64 `json:"largest_difference"`
	OK        bool    `json:"ok"`
}

func (d *diagnosis) note(name string, err error, format string, args ...any) bool {
	detail := fmt.Sprintf(format, args...)
	if err != nil {
		detail = err.Error()
	}
	d.Checks = append(d.Checks, check{name, err == nil, detail})
	d.OK = d.OK && err == nil
	return err == nil
}

func (c *common) doctor(ctx context.Context, f doctorFlags) error {
	l, err := c.library()
	if err != nil {
		return err
	}
	key, err := c.key(l, "")
	if err != nil {
		return err
	}
	if isURL(key) {
		return usage("doctor looks at models of this machine, not at %s", key)
	}
	d := &diagnosis{OK: true, Model: key}
	record, err := c.examine(ctx, l, key, d)
	if err == nil && record != nil {
		err = d.judge(record, key, f.against)
	}
	if err == nil && record != nil && f.record != "" {
		err = writeRecord(f.record, record)
	}
	if err != nil {
		return err
	}
	if c.json {
		err = printJSON(d)
	} else {
		printDiagnosis(d)
	}
	if err == nil && !d.OK {
		return exitError(d.code())
	}
	return err
}

// code is the exit code of a diagnosis that found something: the model's files, or
// its answers.
func (d *diagnosis) code() int {
	for _, c := range d.Checks {
		if !c.OK && (c.Name == "files" || c.Name == "tokenizer" || c.Name == "hashes") {
			return exitModel
		}
	}
	return exitFailed
}

// examine looks at everything that needs no reference, and returns the answers. It
// returns no record when it cannot come so far.
func (c *common) examine(ctx context.Context, l *library, key string, d *diagnosis) (*probes.Record, error) {
	folder, err := openFiles(key)
	if !d.note("files", err, "%s", describeFolder(folder)) {
		return nil, nil
	}
	d.Model = folder.Name
	err = checkTokenizer(folder)
	name, size := folder.Name, sizeOf(folder.Config)
	record := &probes.Record{Model: name, Answers: probes.Answers{}}
	layout := folder.Layout
	d.Reference = size + " " + layout
	_ = folder.Close() // it was only looked at
	if !d.note("tokenizer", err, "texts come back as they were") {
		return nil, nil
	}
	var detail string
	record.Weights, detail, err = c.hashes(ctx, key)
	if !d.note("hashes", err, "%s", detail) {
		return nil, ctx.Err()
	}
	m, err := l.Open(ctx, key, c.openProgress())
	if err != nil {
		d.note("opens", err, "")
		return nil, ctx.Err()
	}
	defer m.Close()
	info := m.Info()
	record.Precision, record.Device = info.Precision, info.Device
	d.note("opens", nil, "%s, %s, %d tokens", info.Device, info.Precision, info.Limit)
	err = askProbes(ctx, m, record)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if !d.note("answers", err, "%d probes, each twice with the same numbers", len(record.Answers)) {
		return nil, nil
	}
	return record, nil
}

// askProbes asks every probe twice: numbers have to be finite, to sum to one, and to
// come back exactly.
func askProbes(ctx context.Context, m engine.Decider, record *probes.Record) error {
	all, err := probes.All()
	if err != nil {
		return err
	}
	for _, p := range all {
		first, err := m.Decide(ctx, p.Request)
		if err != nil {
			return fmt.Errorf("probe %s: %w", p.ID, err)
		}
		second, err := m.Decide(ctx, p.Request)
		if err != nil {
			return fmt.Errorf("probe %s: %w", p.ID, err)
		}
		got := probes.Of(first)
		if !reflect.DeepEqual(got, probes.Of(second)) {
			return fmt.Errorf("probe %s: two runs gave different numbers", p.ID)
		}
		for question, options := range got {
			sum := 0.0
			for _, p := range options {
				sum += p
			}
			if math.IsNaN(sum) || math.Abs(sum-1) > 1e-9 {
				return fmt.Errorf("probe %s, question %s: the probabilities sum to %v", p.ID, question, sum)
			}
		}
		record.Answers[p.ID] = got
	}
	return nil
}

// judge holds the answers to a reference: the given record, Etude's own, or published
// numbers.
func (d *diagnosis) judge(record *probes.Record, key, against string) error {
	ref, ok, err := findReference(record, key, against, d.Reference)
	if err != nil {
		return err
	}
	if !ok {
		d.Reference = ""
		d.note("reference", nil, "no reference yet for this model: --record keeps these answers as one")
		return nil
	}
	d.Reference = ref.Source
	worst := probes.Compare(record.Answers, ref.Answers)
	d.Largest = worst.Size()
	switch {
	case worst.Compared == 0 || worst.Missing > 0:
		err = fmt.Errorf("the reference speaks of %d probabilities that were not asked", worst.Missing)
	case worst.Size() > ref.Tolerance:
		err = fmt.Errorf("%s, %s, %s: got %.6f, want %.6f within %g (%s)", worst.Probe, worst.Question, worst.Option, worst.Got, worst.Want, ref.Tolerance, ref.Source)
	}
	d.note("reference", err, "%d probabilities within %g of %s; the largest difference is %.6f (%s, %s, %s)",
		worst.Compared, ref.Tolerance, ref.Source, worst.Size(), worst.Probe, worst.Question, worst.Option)
	return nil
}

func findReference(record *probes.Record, key, against, published string) (probes.Reference, bool, error) {
	tolerance := probes.ExactTolerance
	if record.Precision != "f32" {
		tolerance = probes.RoundedTolerance
	}
	switch {
	case against != "":
		data, err := os.ReadFile(against)
		if err != nil {
			return probes.Reference{}, false, usage("--against: %v", err)
		}
		r, err := probes.Parse(data)
		if err != nil {
			return probes.Reference{}, false, usage("--against %s: %v", against, err)
		}
		if r.Precision != record.Precision {
			tolerance = probes.RoundedTolerance
		}
		source := fmt.Sprintf("%s of %s (%s, %s)", against, r.Model, r.Device, r.Precision)
		return probes.Reference{Source: source, Tolerance: tolerance, Answers: r.Answers}, true, nil
	case key == etudeKey:
		r, err := probes.Etude()
		if err != nil {
			return probes.Reference{}, false, err
		}
		if r.Weights != record.Weights {
			return probes.Reference{}, false, errors.New("the record of Etude's answers is of other weights: this build is not whole")
		}
		return probes.Reference{Source: "Etude's own record", Tolerance: tolerance, Answers: r.Answers}, true, nil
	}
	size, layout, _ := strings.Cut(published, " ")
	r, ok := probes.Published(size, layout)
	return r, ok, nil
}

// sizeOf names the published size that a backbone has, "" for another one.
func sizeOf(c *models.Config) string {
	switch c.Hidden {
	case 4096:
		return "9b"
	case 5120:
		return "27b"
	}
	return ""
}

func printDiagnosis(d *diagnosis) {
	for _, c := range d.Checks {
		mark := "ok  "
		if !c.OK {
			mark = bold("FAIL")
		}
		fmt.Printf("%s  %-10s %s\n", mark, c.Name, clean(c.Detail))
	}
	verdict := "all of it holds"
	if !d.OK {
		verdict = "something is wrong"
	}
	fmt.Printf("\n%s: %s\n", clean(d.Model), verdict)
}
