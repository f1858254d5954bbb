package probe

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Model says which model answered, so that numbers are only held against those of the same one.
type Model struct {
	Name      string `json:"name"`
	Layout    string `json:"layout"`
	Precision string `json:"precision"`
	Device    string `json:"device,omitempty"`
	Head      string `json:"head_sha256"`              // of joint_head.safetensors: it tells the released models apart
	Weights   string `json:"weights_sha256,omitempty"` // over the hashes of all weight files
}

// Reference is a set of probabilities that a model has to reach.
type Reference struct {
	Source  string   `json:"source"` // a sentence for people
	Head    string   `json:"head_sha256"`
	Weights string   `json:"weights_sha256,omitempty"` // "": whatever conversion has this head
	Layouts []string `json:"layouts,omitempty"`        // nil: every one
	// Tolerance by precision; "" is for those that are not named.
	Tolerance map[string]float64 `json:"tolerance"`
	Answers   Answers            `json:"answers"`
}

func (r Reference) tolerance(precision string) float64 {
	if t, ok := r.Tolerance[precision]; ok {
		return t
	}
	return r.Tolerance[""]
}

func (r Reference) fits(m Model) bool {
	return m.Head != "" && r.Head == m.Head && (r.Weights == "" || r.Weights == m.Weights) && (r.Layouts == nil || slices.Contains(r.Layouts, m.Layout))
}

//go:embed references.json
var referencesFile []byte

// For returns the references that a model has to reach; none for one that nothing is known about.
func For(m Model) (refs []Reference) {
	var all []Reference
	if err := json.Unmarshal(referencesFile, &all); err != nil {
		panic("probe: references.json: " + err.Error())
	}
	for _, r := range all {
		if r.fits(m) {
			refs = append(refs, r)
		}
	}
	return refs
}

// WeightsSum makes Model.Weights from the SHA-256 of each weight file by its name.
func WeightsSum(sums map[string]string) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(sum, "%s %s\n", sums[name], name)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
