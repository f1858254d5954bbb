// Package qwen is the text backbone of Clef (Qwen3.5): three gated delta layers to
// one full attention layer, prefill only. It is written once, against
// backend.Backend (clef.md 4).
package qwen

import (
	"context"
	"fmt"

	"clefbar/engine/backend"
	"clefbar/models"
)

// Model is a backbone whose weights a backend holds. It belongs to the goroutine
// that owns the backend.
type Model struct {
	b      backend.Backend
	cfg    *models.Config
	embed  backend.Weight
	norm   backend.Weight
	layers []layer
	block  int // rows that pass through a layer at a time
	probe  Probe
}

// Probe sees an intermediate matrix: the name of the golden data ("embed",
// "layer3", "L0.in_proj_qkv", "hidden") and the token of its first row.
type Probe func(name string, from int, x backend.Buffer)

// SetProbe makes Forward show its intermediate results to p; nil stops it. It is
// meant for tests: a probe waits for the device.
func (m *Model) SetProbe(p Probe) { m.probe = p }

// layer is one decoder layer; exactly one of delta and attn is set.
type layer struct {
	inNorm, postNorm backend.Weight
	delta            *deltaLayer
	attn             *attnLayer
	gate, up, down   backend.Weight
}

// deltaLayer is a gated delta layer (clef.md 4.4).
type deltaLayer struct {
	in              []backend.Weight // qkv, z, b, a
	taps, norm, out backend.Weight
	rule            backend.Delta
}

// attnLayer is a gated full attention layer (clef.md 4.6).
type attnLayer struct {
	in   []backend.Weight // q with gate, k, v
	out  backend.Weight
	attn backend.Attn
}

// l2Eps is added to the sum of squares of q and k of the delta rule (clef.md 4.4).
const l2Eps = 1e-6

// Load hands every weight to the backend, layer by layer, and calls progress (which may
// be nil) with the stored bytes that were handed over. Ending ctx stops it.
func Load(ctx context.Context, b backend.Backend, f *models.Folder, progress func(bytes int64)) (*Model, error) {
	l := loader{backend.Loader{Backend: b}, f}
	m := &Model{b: b, cfg: f.Config, block: blockRows(f.Config)}
	if s, ok := b.(interface{ BlockRows() int }); ok { // a GPU wants taller products than a cache holds
		m.block = s.BlockRows()
	}
	m.embed = l.load("embed_tokens.weight", backend.Table)
	m.norm = l.centred("norm.weight")
	for i := range f.Config.Full {
		m.layers = append(m.layers, l.layer(i))
		if l.Err == nil {
			l.Err = ctx.Err()
		}
		if l.Err != nil {
			return nil, l.Err
		}
		if progress != nil {
			progress(l.Bytes)
		}
	}
	return m, l.Err
}

// Config returns the configuration of the loaded model.
func (m *Model) Config() *models.Config { return m.cfg }

// loader loads the weights of a folder.
type loader struct {
	backend.Loader
	f *models.Folder
}

func (l *loader) load(name string, use backend.Use) backend.Weight {
	return l.Take(l.f.Tensor(name), use)
}

// centred loads an RMSNorm weight; the Hugging Face layout stores it without its +1 (clef.md 1.4).
func (l *loader) centred(name string) backend.Weight {
	t := l.f.Tensor(name)
	if l.f.Centred {
		w := t.Floats()
		for i := range w {
			w[i]++
		}
		t = models.FromFloats(t.Name, t.Shape, w)
	}
	return l.Take(t, backend.Vector)
}

func (l *loader) layer(i int) layer {
	p := fmt.Sprintf("layers.%d.", i)
	out := layer{
		inNorm:   l.centred(p + "input_layernorm.weight"),
		postNorm: l.centred(p + "post_attention_layernorm.weight"),
		gate:     l.load(p+"mlp.gate_proj.weight", backend.Matrix),
		up:       l.load(p+"mlp.up_proj.weight", backend.Matrix),
		down:     l.load(p+"mlp.down_proj.weight", backend.Matrix),
	}
	if l.f.Config.Full[i] {
		out.attn = l.attn(p + "self_attn.")
	} else {
		out.delta = l.delta(p + "linear_attn.")
	}
	return out
}

func (l *loader) delta(p string) *deltaLayer {
	c := l.f.Config
	d := &deltaLayer{
		taps: l.load(p+"conv1d.weight", backend.Vector),
		norm: l.load(p+"norm.weight", backend.Vector),
		out:  l.load(p+"out_proj.weight", backend.Matrix),
		rule: backend.Delta{
			KeyHeads: c.KeyHeads, ValueHeads: c.ValueHeads, KeyDim: c.KeyDim, ValueDim: c.ValueDim, NormEps: l2Eps,
			ALog: l.load(p+"A_log", backend.Vector), DtBias: l.load(p+"dt_bias", backend.Vector),
		},
	}
	for _, n := range []string{"qkv", "z", "b", "a"} {
		d.in = append(d.in, l.load(p+"in_proj_"+n+".weight", backend.Matrix))
	}
	return d
}

func (l *loader) attn(p string) *attnLayer {
	c := l.f.Config
	a := &attnLayer{
		out: l.load(p+"o_proj.weight", backend.Matrix),
		attn: backend.Attn{
			Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim, Rotary: c.Rotary, Eps: c.Eps,
			QNorm: l.centred(p + "q_norm.weight"), KNorm: l.centred(p + "k_norm.weight"),
		},
	}
	for _, n := range []string{"q", "k", "v"} {
		a.in = append(a.in, l.load(p+n+"_proj.weight", backend.Matrix))
	}
	return a
}
