package measure

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"clefbar/engine"
)

const questions = `"questions":{"n":{"type":"noul"},"c":{"type":"choice","criteria":{"a":null,"b":"x"}},"s":{"type":"score","criteria":["lo",{"l":1},"2"]}}`

func TestRead(t *testing.T) {
	lines := []string{
		"\ufeff" + `{"id":"one","state":"x",` + questions + `,"gold":{"n":true,"c":"b","s":1}}`,
		``,
		`{"id":7,"state":"x",` + questions + `,"gold":{"n":"false","s":{"l":1}}}`,
		`{"state":"x",` + questions + `}`,
		`{"state":"x",` + questions + `,"gold":{"s":"2"}}`,
		`{"state":"x",` + questions + `,"gold":{"s":"lo"}}`,
		`{not json`,
		`{"state":null,` + questions + `}`,
		`{"id":"one","state":"x",` + questions + `}`,
		`{"state":"x",` + questions + `,"gold":{"c":"z"}}`,
		`{"state":"x",` + questions + `,"gold":{"c":true}}`,
		`{"state":"x",` + questions + `,"gold":{"s":3}}`,
		`{"state":"x",` + questions + `,"gold":{"other":1}}`,
		`{"state":"x",` + questions + `,"gold":["a"]}`,
		`{"id":{},"state":"x",` + questions + `}`,
	}
	records, bad, err := Read(strings.NewReader(strings.Join(lines, "\r\n")), engine.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range records {
		got = append(got, fmt.Sprintf("%d %s %v %v", r.Line, r.ID, r.Gold, r.Labelled()))
	}
	want := "[1 one [0 1 1] true 3 7 [1 -1 1] true 4 line 4 [-1 -1 -1] false 5 line 5 [-1 -1 2] true 6 line 6 [-1 -1 0] true]"
	if fmt.Sprint(got) != want {
		t.Errorf("records: got %v, want %s", got, want)
	}
	var at []int
	for _, b := range bad {
		at = append(at, b.Line)
		if !strings.HasPrefix(b.Error(), fmt.Sprintf("line %d: ", b.Line)) {
			t.Errorf("got %v", b)
		}
	}
	if fmt.Sprint(at) != "[7 8 9 10 11 12 13 14 15]" {
		t.Errorf("bad lines: got %v, want 7 to 15", at)
	}
}

func TestReadLongLine(t *testing.T) {
	long := strings.Repeat("x", maxLine+10)
	records, bad, err := Read(strings.NewReader(long+"\n"+`{"state":"x",`+questions+`}`), engine.Limits{})
	if err != nil || len(records) != 1 || len(bad) != 1 || bad[0].Line != 1 {
		t.Errorf("got %d records, %v, %v", len(records), bad, err)
	}
}

func outcome(record string, gold int, probs ...float64) Outcome {
	o := Outcome{Record: record, Question: "q", Kind: engine.Choice, Probs: probs, Gold: gold}
	for i, p := range probs {
		o.Options = append(o.Options, string(rune('a'+i)))
		o.Logits = append(o.Logits, math.Log(max(p, floor)))
	}
	return o
}

func TestSummarise(t *testing.T) {
	all := []Outcome{outcome("1", 0, 0.9, 0.1), outcome("2", 1, 0.8, 0.2), outcome("3", 0, 0.6, 0.4), outcome("4", -1, 0.5, 0.5)}
	got := Summarise(all, 0.8)
	want := Summary{
		Decisions: 3, Accuracy: 2. / 3, Share: 2. / 3, ShareAccuracy: 0.5,
		ECE:     (0.1 + 0.8 + 0.4) / 3, // bins 9, 8 and 6 hold one each
		Brier:   (2*0.01 + 2*0.64 + 2*0.16) / 3,
		LogLoss: -(math.Log(0.9) + math.Log(0.2) + math.Log(0.6)) / 3,
	}
	for name, pair := range map[string][2]float64{
		"accuracy": {got.Accuracy, want.Accuracy}, "ECE": {got.ECE, want.ECE}, "Brier": {got.Brier, want.Brier},
		"log loss": {got.LogLoss, want.LogLoss}, "share": {got.Share, want.Share}, "accuracy above": {got.ShareAccuracy, want.ShareAccuracy},
		"decisions": {float64(got.Decisions), 3},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-12 {
			t.Errorf("%s: got %v, want %v", name, pair[0], pair[1])
		}
	}
	if got := Summarise(nil, 0.8); got != (Summary{}) {
		t.Errorf("nothing: got %+v", got)
	}
	if kinds := ByKind(all, 0.8); len(kinds) != 2 || kinds["choice"] != kinds["all"] {
		t.Errorf("by kind: got %v", kinds)
	}
}

func TestCompare(t *testing.T) {
	a := []Outcome{outcome("1", 0, 0.9, 0.1), outcome("2", 0, 0.52, 0.48), outcome("3", 0, 0.81, 0.19), outcome("4", 0, 0.7, 0.3), outcome("5", 0, 1)}
	b := []Outcome{outcome("3", 0, 0.79, 0.21), outcome("2", 0, 0.49, 0.51), outcome("1", 0, 0.88, 0.12), outcome("4", 0, 0.7, 0.2, 0.1)}
	c := Compare(a, b, 0.8)
	if c.Decisions != 3 || c.Changed != 1 || c.Crossed != 1 || math.Abs(c.Largest-0.03) > 1e-12 || math.Abs(c.Mean-0.07/3) > 1e-12 {
		t.Errorf("got %+v", c)
	}
	if len(c.Differences) != 2 || c.Differences[0].Record != "2" || !c.Differences[0].Changed || c.Differences[1].Record != "3" || !c.Differences[1].Crossed {
		t.Errorf("differences: got %+v", c.Differences)
	}
}

// Answers drawn from softmax(logits / 2) but reported as softmax(logits) are too sure
// by a temperature of 2.
func TestCalibrateFindsTheTemperature(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var all []Outcome
	for i := range 4000 {
		logits := []float64{4 * r.NormFloat64(), 4 * r.NormFloat64(), 4 * r.NormFloat64()}
		u, gold := r.Float64(), 0
		for p := softmax(logits, 2); u > p[gold] && gold < 2; gold++ {
			u -= p[gold]
		}
		all = append(all, Outcome{Record: fmt.Sprint(i), Question: "q", Options: []string{"a", "b", "c"}, Logits: logits, Probs: softmax(logits, 1), Gold: gold})
	}
	c, err := Calibrate(all)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(c.Temperature-2) > 0.15 || c.Quartiles[0] > c.Temperature || c.Quartiles[1] < c.Temperature {
		t.Errorf("temperature: got %v in %v, want about 2", c.Temperature, c.Quartiles)
	}
	if c.ECEAfter > c.ECEBefore/2 || c.LossAfter >= c.LossBefore || c.BrierAfter >= c.BrierBefore {
		t.Errorf("held-out halves: got %+v", c)
	}
	again, err := Calibrate(all)
	if err != nil || again != c {
		t.Errorf("a second time: got %+v, %v", again, err)
	}
	for i, o := range Tempered(all[:50], 3) {
		was, _ := all[i].Best()
		if is, _ := o.Best(); is != was {
			t.Fatalf("a temperature changed answer %d", i)
		}
	}
}

func TestCalibrateRefuses(t *testing.T) {
	var few []Outcome
	for i := range MinLabelled - 1 {
		few = append(few, outcome(fmt.Sprint(i), 0, 0.9, 0.1))
	}
	if _, err := Calibrate(few); !errors.Is(err, ErrTooFew) {
		t.Errorf("got %v, want ErrTooFew", err)
	}
	one := make([]Outcome, 100)
	for i := range one {
		one[i] = outcome("same", 0, 0.9, 0.1)
	}
	if _, err := Calibrate(one); !errors.Is(err, ErrTooFew) {
		t.Errorf("one record: got %v, want ErrTooFew", err)
	}
}
