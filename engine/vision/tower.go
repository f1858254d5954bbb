// Package vision reads images: it decodes and resizes them as the reference does
// and runs the vision tower, whose merged patches take the place of the image
// tokens' embeddings (clef.md 5).
package vision

import (
	"context"
	"fmt"
	"math"

	"clefbar/engine/backend"
	"clefbar/models"
)

// Constants of the tower (clef.md 5.4).
const (
	normEps   = 1e-6
	ropeTheta = 10000
	blockRows = 1024 // patches that pass through a layer at a time
)

// Tower is a vision tower whose weights a backend holds. Prepare and Tokens may be called
// from any goroutine, the rest belongs to the one that owns the backend.
type Tower struct {
	b         backend.Backend
	cfg       *models.VisionConfig
	processor *processor
	embed     linear
	positions []float32 // the position table, (side², Hidden)
	blocks    []block
	norm      norm
	fc1, fc2  linear
	probe     Probe
}

// Probe sees an intermediate matrix under its name in the golden data.
type Probe func(name string, x backend.Buffer)

// SetProbe makes Embed show its intermediate results to p; nil stops it. For tests.
func (t *Tower) SetProbe(p Probe) { t.probe = p }

func (t *Tower) show(name string, x backend.Buffer) {
	if t.probe != nil {
		t.probe(name, x)
	}
}

type (
	norm   struct{ w, b backend.Weight }
	linear struct{ w, b backend.Weight }
	block  struct {
		norm1, norm2 norm
		qkv, qkvBias []backend.Weight
		proj         linear
		up, down     linear
	}
)

// Load hands the tower's weights to the backend. The folder must have a tower.
func Load(b backend.Backend, f *models.Folder) (*Tower, error) {
	p, err := newProcessor(f.Config.Vision, f.Processor)
	if err != nil {
		return nil, err
	}
	l := loader{backend.Loader{Backend: b}, f}
	positions := f.Tensor("vision.pos_embed.weight")
	t := &Tower{
		b: b, cfg: f.Config.Vision, processor: p, positions: positions.Floats(),
		embed: linear{l.Take(patchMatrix(f.Tensor("vision.patch_embed.proj.weight"), f.Config.Vision), backend.Matrix), l.vector("patch_embed.proj.bias")},
		norm:  l.norm("merger.norm"), fc1: l.linear("merger.linear_fc1"), fc2: l.linear("merger.linear_fc2"),
	}
	for i := range t.cfg.Depth {
		t.blocks = append(t.blocks, l.block(fmt.Sprintf("blocks.%d.", i), t.cfg.Hidden))
	}
	return t, l.Err
}

// patchMatrix flattens the patch embedding to (out, C·T·H·W). MLX stores (out, T, H, W, C).
func patchMatrix(t models.Tensor, v *models.VisionConfig) models.Tensor {
	size := v.PatchSize()
	if t.Shape[4] != v.Channels || t.Shape[1] == v.Channels {
		t.Shape = []int{t.Shape[0], size}
		return t
	}
	in := t.Floats()
	out := make([]float32, len(in))
	inner := size / v.Channels // T·H·W
	for o := range t.Shape[0] {
		for i := range inner {
			for c := range v.Channels {
				out[o*size+c*inner+i] = in[o*size+i*v.Channels+c]
			}
		}
	}
	return models.FromFloats(t.Name, []int{t.Shape[0], size}, out)
}

// loader loads the tower's weights of a folder.
type loader struct {
	backend.Loader
	f *models.Folder
}

func (l *loader) vector(name string) backend.Weight {
	return l.Take(l.f.Tensor("vision."+name), backend.Vector)
}

func (l *loader) norm(name string) norm {
	return norm{l.vector(name + ".weight"), l.vector(name + ".bias")}
}

func (l *loader) linear(name string) linear {
	return linear{l.Take(l.f.Tensor("vision."+name+".weight"), backend.Matrix), l.vector(name + ".bias")}
}

func (l *loader) block(p string, width int) block {
	b := block{
		norm1: l.norm(p + "norm1"), norm2: l.norm(p + "norm2"), proj: l.linear(p + "attn.proj"),
		up: l.linear(p + "mlp.linear_fc1"), down: l.linear(p + "mlp.linear_fc2"),
	}
	w, bias := l.f.Tensor("vision."+p+"attn.qkv.weight"), l.f.Tensor("vision."+p+"attn.qkv.bias")
	for i := range 3 {
		b.qkv = append(b.qkv, l.Take(w.Rows(i*width, (i+1)*width), backend.Matrix))
		b.qkvBias = append(b.qkvBias, l.Take(bias.Rows(i*width, (i+1)*width), backend.Vector))
	}
	return b
}

// Tokens returns how many tokens an image will take, without decoding it.
func (t *Tower) Tokens(data []byte) (int, error) {
	width, height, err := Size(data)
	if err != nil {
		return 0, err
	}
	return t.processor.tokens(width, height)
}

// Prepare decodes, resizes and normalises an image.
func (t *Tower) Prepare(data []byte) (*Pixels, error) {
	img, err := decode(data)
	if err != nil {
		return nil, err
	}
	w, h, err := t.processor.fit(img.width, img.height)
	if err != nil {
		return nil, err
	}
	return t.processor.pixels(img.resize(w, h)), nil
}

// Embed runs the tower on one image and returns its rows, (Tokens, Out) Exact, in the
// order of the image tokens. The caller frees them.
func (t *Tower) Embed(ctx context.Context, p *Pixels) (backend.Buffer, error) {
	t.b.Begin(ctx)
	n := p.Tokens() * t.cfg.Merge * t.cfg.Merge
	x := t.patchEmbed(p, n)
	cos, sin := t.angles(p)
	for i := range t.blocks {
		t.attention(&t.blocks[i], x, cos, sin)
		t.mlp(&t.blocks[i], x)
		t.show(fmt.Sprintf("vis.block%d", i), x)
	}
	out, err := t.merge(x, p.Tokens())
	t.b.Free(x, cos, sin)
	if err != nil {
		return nil, fmt.Errorf("run the vision tower: %w", err)
	}
	return out, nil
}

// patchEmbed projects the patches and adds their places.
func (t *Tower) patchEmbed(p *Pixels, n int) backend.Buffer {
	x := t.b.New(n, t.cfg.Hidden, backend.Exact)
	size := t.cfg.PatchSize()
	in := t.b.New(min(n, blockRows), size, backend.Work)
	host := make([]float32, in.Rows()*size)
	for from := 0; from < n; from += blockRows {
		to := min(from+blockRows, n)
		p.fill(host, from, to)
		part := in.Slice(0, to-from)
		t.b.Write(part, host[:(to-from)*size])
		t.b.Linear([]backend.Buffer{x.Slice(from, to)}, part, []backend.Weight{t.embed.w}, []backend.Weight{t.embed.b}, backend.None)
	}
	t.b.Free(in)
	t.show("vis.patch_embed", x)
	places := t.b.New(n, t.cfg.Hidden, backend.Exact)
	t.b.Write(places, t.places(p))
	t.b.Add(x, places)
	t.b.Free(places)
	t.show("vis.block0_input", x)
	return x
}

// attention adds self-attention over the whole image.
func (t *Tower) attention(b *block, x, cos, sin backend.Buffer) {
	n, w := x.Rows(), t.cfg.Hidden
	q, k, v := t.b.New(n, w, backend.Work), t.b.New(n, w, backend.Work), t.b.New(n, w, backend.Work)
	normed := t.b.New(n, w, backend.Work)
	t.b.LayerNorm(normed, x, b.norm1.w, b.norm1.b, normEps)
	t.b.Linear([]backend.Buffer{q, k, v}, normed, b.qkv, b.qkvBias, backend.None)
	t.rotate(q, cos, sin)
	t.rotate(k, cos, sin)
	t.b.MHA(normed, q, k, v, t.cfg.Heads, nil)
	t.b.LinearAdd(x, normed, b.proj.w, b.proj.b)
	t.b.Free(q, k, v, normed)
}

// mlp adds the feed-forward part, block by block of rows.
func (t *Tower) mlp(b *block, x backend.Buffer) {
	rows := min(blockRows, x.Rows())
	normed, wide := t.b.New(rows, t.cfg.Hidden, backend.Work), t.b.New(rows, t.cfg.MLP, backend.Work)
	for from := 0; from < x.Rows(); from += blockRows {
		part := x.Slice(from, min(from+blockRows, x.Rows()))
		h, u := normed.Slice(0, part.Rows()), wide.Slice(0, part.Rows())
		t.b.LayerNorm(h, part, b.norm2.w, b.norm2.b, normEps)
		t.b.Linear([]backend.Buffer{u}, h, []backend.Weight{b.up.w}, []backend.Weight{b.up.b}, backend.GELUTanh)
		t.b.LinearAdd(part, u, b.down.w, b.down.b)
	}
	t.b.Free(normed, wide)
}

// merge joins the patches of each block to one token (clef.md 5.5). Its GELU is the exact one.
func (t *Tower) merge(x backend.Buffer, tokens int) (backend.Buffer, error) {
	normed := t.b.New(x.Rows(), x.Cols(), backend.Exact)
	t.b.LayerNorm(normed, x, t.norm.w, t.norm.b, normEps)
	flat := make([]float32, x.Rows()*x.Cols())
	err := t.b.Read(flat, normed)
	t.b.Free(normed)
	if err != nil {
		return nil, err
	}
	wide := x.Rows() / tokens * x.Cols()
	in, mid := t.b.New(tokens, wide, backend.Work), t.b.New(tokens, wide, backend.Work)
	out := t.b.New(tokens, t.cfg.Out, backend.Exact)
	t.b.Write(in, flat)
	t.b.Linear([]backend.Buffer{mid}, in, []backend.Weight{t.fc1.w}, []backend.Weight{t.fc1.b}, backend.GELU)
	t.b.Linear([]backend.Buffer{out}, mid, []backend.Weight{t.fc2.w}, []backend.Weight{t.fc2.b}, backend.None)
	t.b.Free(in, mid)
	t.show("vis.merged", out)
	if err := t.b.Sync(); err != nil {
		t.b.Free(out)
		return nil, err
	}
	return out, nil
}

// angles returns the cosines and sines of every patch's row and column, (N, HeadDim/2).
func (t *Tower) angles(p *Pixels) (cos, sin backend.Buffer) {
	half := t.cfg.Hidden / t.cfg.Heads / 2
	freqs := half / 2
	inv := make([]float32, freqs)
	for i := range inv {
		inv[i] = 1 / float32(math.Pow(ropeTheta, float64(float32(2*i)/float32(half))))
	}
	n := p.Tokens() * t.cfg.Merge * t.cfg.Merge
	cs, sn := make([]float32, n*half), make([]float32, n*half)
	for i := range n {
		row, col := t.processor.place(p, i)
		for f, w := range inv {
			s, c := math.Sincos(float64(float32(row) * w))
			cs[i*half+f], sn[i*half+f] = float32(c), float32(s)
			s, c = math.Sincos(float64(float32(col) * w))
			cs[i*half+freqs+f], sn[i*half+freqs+f] = float32(c), float32(s)
		}
	}
	cos, sin = t.b.New(n, half, backend.Exact), t.b.New(n, half, backend.Exact)
	t.b.Write(cos, cs)
	t.b.Write(sin, sn)
	return cos, sin
}

// rotate turns the heads of x.
func (t *Tower) rotate(x, cos, sin backend.Buffer) {
	if r, ok := t.b.(backend.Rotator); ok {
		r.Rotate(x, cos, sin)
		return
	}
	rows, cs, sn := make([]float32, x.Rows()*x.Cols()), make([]float32, x.Rows()*cos.Cols()), make([]float32, x.Rows()*cos.Cols())
	if t.b.Read(rows, x) != nil || t.b.Read(cs, cos) != nil || t.b.Read(sn, sin) != nil {
		return // Sync will tell
	}
	half := cos.Cols()
	for at := 0; at < len(rows); at += 2 * half {
		angle := at / x.Cols() * half
		for i := range half {
			a, b, c, s := rows[at+i], rows[at+half+i], cs[angle+i], sn[angle+i]
			rows[at+i], rows[at+half+i] = a*c-b*s, b*c+a*s
		}
	}
	t.b.Write(x, rows)
}
