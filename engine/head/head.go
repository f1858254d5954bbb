// Package head is Clef's joint schema head: it reads the backbone's hidden rows,
// the spans of questions and options and the output embeddings of the options'
// tokens, and gives one logit for every option (clef.md 6). Large products run on
// a backend, option softmax, cosines and anchors on the host, all in float32 but for the
// products over all tokens, which are in the backend's working precision.
package head

import (
	"fmt"
	"math"

	"clefbar/engine"
	"clefbar/engine/backend"
	"clefbar/models"
)

// Head is a joint head whose weights a backend holds. It belongs to the goroutine
// that owns the backend.
type Head struct {
	b   backend.Backend
	cfg *models.HeadConfig

	lmHead                          backend.Weight
	hiddenNorm                      norm
	memory, question, global        backend.Weight
	optionQuestion, context, lexic  backend.Weight
	evidence                        []evidenceLayer
	summaryNorm, fieldNorm, optNorm norm
	layers                          []decoderLayer
	scorer, scorerOut               linear
	types                           []float32 // (3, Width)
	priorScale, jointScale, gate    float32
	probe                           Probe
}

// Probe sees an intermediate matrix under its name in the golden data.
type Probe func(name string, x backend.Buffer)

// SetProbe makes Score show its intermediate results to p; nil stops it. For tests.
func (h *Head) SetProbe(p Probe) { h.probe = p }

func (h *Head) show(name string, x backend.Buffer) {
	if h.probe != nil {
		h.probe(name, x)
	}
}

// normEps is the epsilon of every LayerNorm of the head.
const normEps = 1e-5

// norm is a LayerNorm.
type norm struct{ w, b backend.Weight }

func (h *Head) normed(x backend.Buffer, n norm) backend.Buffer {
	out := h.b.New(x.Rows(), x.Cols(), backend.Exact)
	h.b.LayerNorm(out, x, n.w, n.b, normEps)
	return out
}

// linear is a matrix with a bias.
type linear struct{ w, b backend.Weight }

// attention is torch's MultiheadAttention with its packed input projection split.
type attention struct{ q, k, v, out linear }

// evidenceLayer lets options read the whole sequence (clef.md 6.2).
type evidenceLayer struct {
	queryNorm, memoryNorm, ffNorm norm
	attn                          attention
	up, down                      linear
}

// decoderLayer lets questions read each other and the sequence (clef.md 6.4).
type decoderLayer struct {
	norm1, norm2, norm3 norm
	self, cross         attention
	up, down            linear
}

// shut tells whether the residual gate is zero in float32: then the prior alone answers.
func (h *Head) shut() bool { return h.gate == 0 }

// Rows returns the spans of hidden rows that Score reads for questions behind tokens: nil means all. The prior,
// which is all of a shut head, reads the instructions and the last token alone (clef.md 6.5).
func (h *Head) Rows(qs []engine.QuestionSpans, tokens int) []backend.Span {
	if !h.shut() {
		return nil
	}
	out := []backend.Span{{From: tokens - 1, To: tokens}}
	for _, q := range qs {
		out = append(out, backend.Span{From: q.Field.From, To: q.Field.To})
	}
	return out
}

// Load hands the head's weights to the backend.
func Load(b backend.Backend, f *models.Folder) (*Head, error) {
	l := loader{backend.Loader{Backend: b}, f}
	h := &Head{
		b: b, cfg: f.Head,
		hiddenNorm: l.norm("hidden_norm"), summaryNorm: l.norm("option_summary_norm"),
		fieldNorm: l.norm("field_norm"), optNorm: l.norm("option_norm"),
		memory: l.matrix("memory_projection.weight"), question: l.matrix("question_projection.weight"),
		global: l.matrix("global_projection.weight"), optionQuestion: l.matrix("option_question_projection.weight"),
		context: l.matrix("option_context_projection.weight"), lexic: l.matrix("option_lexical_projection.weight"),
		scorer: l.linear("residual_scorer.0"), scorerOut: l.linear("residual_scorer.3"),
		types:      l.floats("type_embedding.weight"),
		priorScale: logitScale(l.floats("prior_logit_scale")), jointScale: logitScale(l.floats("joint_logit_scale")),
		gate: sigmoid(l.floats("residual_gate")[0]),
	}
	h.lmHead = l.Take(f.Tensor("lm_head.weight"), backend.Table)
	for i := range f.Head.Routing {
		p := fmt.Sprintf("evidence_layers.%d.", i)
		h.evidence = append(h.evidence, evidenceLayer{
			queryNorm: l.norm(p + "query_norm"), memoryNorm: l.norm(p + "memory_norm"), ffNorm: l.norm(p + "feedforward_norm"),
			attn: l.attention(p + "attention"), up: l.linear(p + "feedforward.0"), down: l.linear(p + "feedforward.3"),
		})
	}
	for i := range f.Head.Layers {
		p := fmt.Sprintf("layers.%d.", i)
		h.layers = append(h.layers, decoderLayer{
			norm1: l.norm(p + "norm1"), norm2: l.norm(p + "norm2"), norm3: l.norm(p + "norm3"),
			self: l.attention(p + "self_attn"), cross: l.attention(p + "multihead_attn"),
			up: l.linear(p + "linear1"), down: l.linear(p + "linear2"),
		})
	}
	return h, l.Err
}

// logitScale is the exponential of a learned scale, capped at 100.
func logitScale(raw []float32) float32 {
	return float32(math.Exp(min(float64(raw[0]), math.Log(100))))
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

// loader loads the head's weights of a folder.
type loader struct {
	backend.Loader
	f *models.Folder
}

func (l *loader) matrix(name string) backend.Weight {
	return l.Take(l.f.HeadTensor(name), backend.Matrix)
}

func (l *loader) vector(name string) backend.Weight {
	return l.Take(l.f.HeadTensor(name), backend.Vector)
}

func (l *loader) floats(name string) []float32 {
	t := l.f.HeadTensor(name)
	return t.Floats()
}

func (l *loader) norm(name string) norm {
	return norm{l.vector(name + ".weight"), l.vector(name + ".bias")}
}

func (l *loader) linear(name string) linear {
	return linear{l.matrix(name + ".weight"), l.vector(name + ".bias")}
}

// attention splits in_proj, rows [q; k; v], into views of three matrices.
func (l *loader) attention(name string) attention {
	w, b := l.f.HeadTensor(name+".in_proj_weight"), l.f.HeadTensor(name+".in_proj_bias")
	n := l.f.Head.Width
	part := func(i int) linear {
		return linear{l.Take(w.Rows(i*n, (i+1)*n), backend.Matrix), l.Take(b.Rows(i*n, (i+1)*n), backend.Vector)}
	}
	return attention{q: part(0), k: part(1), v: part(2), out: l.linear(name + ".out_proj")}
}
