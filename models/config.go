package models

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// Config is the part of config.json that the forward pass needs (clef.md 1.3),
// checked: every number is positive and the numbers fit each other.
type Config struct {
	Vocab, Hidden, MLP      int
	Heads, KVHeads, HeadDim int // full attention
	KeyHeads, ValueHeads    int // gated delta rule
	KeyDim, ValueDim        int // per head
	ConvTaps                int
	Full                    []bool // per layer: full attention, else gated delta rule
	Eps                     float32
	RopeTheta               float64
	Rotary                  int    // rotated dims of a head, even
	Sections                [3]int // frequencies of the time, height and width axis
	Positions               int    // most tokens the backbone was made for
	Tied                    bool   // lm_head is the embedding table
	ImageToken, VideoToken  int32  // -1 when the model has none
	VisionStart, VisionEnd  int32
	Vision                  *VisionConfig // nil for text-only configurations
	quantization            quantization
}

// Layers returns the number of layers.
func (c *Config) Layers() int { return len(c.Full) }

// QKV returns the width of a delta layer's convolution: queries, keys and values.
func (c *Config) QKV() int { return 2*c.KeyHeads*c.KeyDim + c.ValueHeads*c.ValueDim }

// VisionConfig describes the vision tower (clef.md 5).
type VisionConfig struct {
	Depth, Hidden, MLP, Heads int
	Channels, Patch, Temporal int
	Merge                     int // patches per side of a merged token
	Positions                 int // rows of the position table, a square number
	Out                       int // width of merged tokens: the backbone's Hidden
}

// PatchSize returns the floats of one patch vector.
func (v *VisionConfig) PatchSize() int { return v.Channels * v.Temporal * v.Patch * v.Patch }

// Sanity limits of config.json. They keep products within an int and refuse
// nonsense before memory is asked for; the largest Clef is far below them.
const (
	maxWidth  = 1 << 20
	maxVocab  = 1 << 24
	maxLayers = 1 << 12
)

// object reads typed members of a JSON object and remembers the first error.
type object struct {
	where string
	m     map[string]json.RawMessage
	err   error
}

func newObject(where string, data []byte) (*object, error) {
	ms, err := members(data)
	if err != nil {
		return nil, fmt.Errorf("%s%w", where, err)
	}
	o := &object{where: where, m: map[string]json.RawMessage{}}
	for _, x := range ms {
		if string(x.value) != "null" {
			o.m[x.name] = x.value
		}
	}
	return o, nil
}

func (o *object) fail(key, format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf("%s%s %s", o.where, key, fmt.Sprintf(format, args...))
	}
}

// integer reads a whole number in [1, most]. Without the key it returns def; def 0 means required.
func (o *object) integer(key string, def, most int) int {
	raw, ok := o.m[key]
	if !ok {
		if def == 0 {
			o.fail(key, "is missing")
		}
		return def
	}
	var f float64
	if json.Unmarshal(raw, &f) != nil || f != math.Trunc(f) {
		o.fail(key, "is not a whole number: %s", clip(raw))
		return 1
	}
	if f < 1 || f > float64(most) {
		o.fail(key, "is %s, expected 1 to %d", clip(raw), most)
		return 1
	}
	return int(f)
}

// number reads a positive finite number.
func (o *object) number(key string, def float64) float64 {
	raw, ok := o.m[key]
	if !ok {
		return def
	}
	var f float64
	if json.Unmarshal(raw, &f) != nil || !(f > 0) || math.IsInf(f, 0) {
		o.fail(key, "is %s, expected a positive number", clip(raw))
		return def
	}
	return f
}

func (o *object) boolean(key string, def bool) bool {
	raw, ok := o.m[key]
	if !ok {
		return def
	}
	var b bool
	if json.Unmarshal(raw, &b) != nil {
		o.fail(key, "is %s, expected true or false", clip(raw))
		return def
	}
	return b
}

func (o *object) text(key, def string) string {
	raw, ok := o.m[key]
	if !ok {
		return def
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		o.fail(key, "is %s, expected a string", clip(raw))
		return def
	}
	return s
}

// only refuses a string other than the allowed ones.
func (o *object) only(key, def string, allowed ...string) {
	s := o.text(key, def)
	for _, a := range allowed {
		if s == a {
			return
		}
	}
	o.fail(key, "%q is not supported, expected %s", s, strings.Join(allowed, " or "))
}

func (o *object) child(key string) *object {
	raw, ok := o.m[key]
	if !ok {
		return nil
	}
	c, err := newObject(o.where+key+".", raw)
	if err != nil {
		if o.err == nil {
			o.err = err
		}
		return nil
	}
	return c
}

// join adopts the first error of children.
func (o *object) join(cs ...*object) {
	for _, c := range cs {
		if c != nil && o.err == nil {
			o.err = c.err
		}
	}
}

func clip(raw []byte) string {
	if len(raw) > 40 {
		return string(raw[:40]) + "…"
	}
	return string(raw)
}
