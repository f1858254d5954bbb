package models

import "fmt"

// want is a tensor that a model must have, under its canonical name.
type want struct {
	name  string
	shape []int
	quant bool // may be quantised
}

// backbonePlan lists every text tensor of a configuration (clef.md 1.4).
func backbonePlan(c *Config) []want {
	var out []want
	vector := func(name string, n int) { out = append(out, want{name, []int{n}, false}) }
	matrix := func(name string, rows, cols int) { out = append(out, want{name, []int{rows, cols}, true}) }

	matrix("embed_tokens.weight", c.Vocab, c.Hidden)
	for i, full := range c.Full {
		l := fmt.Sprintf("layers.%d.", i)
		vector(l+"input_layernorm.weight", c.Hidden)
		vector(l+"post_attention_layernorm.weight", c.Hidden)
		if full {
			a := l + "self_attn."
			matrix(a+"q_proj.weight", 2*c.Heads*c.HeadDim, c.Hidden)
			matrix(a+"k_proj.weight", c.KVHeads*c.HeadDim, c.Hidden)
			matrix(a+"v_proj.weight", c.KVHeads*c.HeadDim, c.Hidden)
			matrix(a+"o_proj.weight", c.Hidden, c.Heads*c.HeadDim)
			vector(a+"q_norm.weight", c.HeadDim)
			vector(a+"k_norm.weight", c.HeadDim)
		} else {
			a := l + "linear_attn."
			matrix(a+"in_proj_qkv.weight", c.QKV(), c.Hidden)
			matrix(a+"in_proj_z.weight", c.ValueHeads*c.ValueDim, c.Hidden)
			matrix(a+"in_proj_b.weight", c.ValueHeads, c.Hidden)
			matrix(a+"in_proj_a.weight", c.ValueHeads, c.Hidden)
			out = append(out, want{a + "conv1d.weight", []int{c.QKV(), c.ConvTaps}, false})
			vector(a+"dt_bias", c.ValueHeads)
			vector(a+"A_log", c.ValueHeads)
			vector(a+"norm.weight", c.ValueDim)
			matrix(a+"out_proj.weight", c.Hidden, c.ValueHeads*c.ValueDim)
		}
		matrix(l+"mlp.gate_proj.weight", c.MLP, c.Hidden)
		matrix(l+"mlp.up_proj.weight", c.MLP, c.Hidden)
		matrix(l+"mlp.down_proj.weight", c.Hidden, c.MLP)
	}
	vector("norm.weight", c.Hidden)
	if !c.Tied {
		matrix("lm_head.weight", c.Vocab, c.Hidden)
	}
	return out
}

// visionPlan lists every tensor of the vision tower.
func visionPlan(v *VisionConfig) []want {
	var out []want
	pair := func(name string, rows, cols int) {
		out = append(out, want{name + ".weight", []int{rows, cols}, true}, want{name + ".bias", []int{rows}, false})
	}
	norm := func(name string, n int) {
		out = append(out, want{name + ".weight", []int{n}, false}, want{name + ".bias", []int{n}, false})
	}
	out = append(out,
		want{"vision.patch_embed.proj.weight", []int{v.Hidden, v.Channels, v.Temporal, v.Patch, v.Patch}, false},
		want{"vision.patch_embed.proj.bias", []int{v.Hidden}, false},
		want{"vision.pos_embed.weight", []int{v.Positions, v.Hidden}, true})
	for i := range v.Depth {
		b := fmt.Sprintf("vision.blocks.%d.", i)
		norm(b+"norm1", v.Hidden)
		norm(b+"norm2", v.Hidden)
		pair(b+"attn.qkv", 3*v.Hidden, v.Hidden)
		pair(b+"attn.proj", v.Hidden, v.Hidden)
		pair(b+"mlp.linear_fc1", v.MLP, v.Hidden)
		pair(b+"mlp.linear_fc2", v.Hidden, v.MLP)
	}
	wide := v.Hidden * v.Merge * v.Merge
	norm("vision.merger.norm", v.Hidden)
	pair("vision.merger.linear_fc1", wide, wide)
	pair("vision.merger.linear_fc2", v.Out, wide)
	return out
}

// headPlan lists every tensor of the joint head (clef.md 1.8).
func headPlan(h *HeadConfig) []want {
	var out []want
	add := func(name string, shape ...int) { out = append(out, want{name, shape, false}) }
	norm := func(name string, n int) {
		add(name+".weight", n)
		add(name+".bias", n)
	}
	linear := func(name string, rows, cols int) {
		add(name+".weight", rows, cols)
		add(name+".bias", rows)
	}
	attention := func(name string) {
		add(name+".in_proj_weight", 3*h.Width, h.Width)
		add(name+".in_proj_bias", 3*h.Width)
		linear(name+".out_proj", h.Width, h.Width)
	}
	add("prior_logit_scale")
	add("joint_logit_scale")
	add("residual_gate")
	norm("hidden_norm", h.Hidden)
	for _, p := range []string{"memory", "question", "option_question", "global", "option_context", "option_lexical"} {
		add(p+"_projection.weight", h.Width, h.Hidden)
	}
	add("type_embedding.weight", 3, h.Width)
	for i := range h.Routing {
		l := fmt.Sprintf("evidence_layers.%d.", i)
		norm(l+"query_norm", h.Width)
		norm(l+"memory_norm", h.Width)
		norm(l+"feedforward_norm", h.Width)
		attention(l + "attention")
		linear(l+"feedforward.0", h.FeedForward, h.Width)
		linear(l+"feedforward.3", h.Width, h.FeedForward)
	}
	norm("option_summary_norm", h.Width)
	norm("field_norm", h.Width)
	norm("option_norm", h.Width)
	for i := range h.Layers {
		l := fmt.Sprintf("layers.%d.", i)
		attention(l + "self_attn")
		attention(l + "multihead_attn")
		linear(l+"linear1", h.FeedForward, h.Width)
		linear(l+"linear2", h.Width, h.FeedForward)
		norm(l+"norm1", h.Width)
		norm(l+"norm2", h.Width)
		norm(l+"norm3", h.Width)
	}
	linear("residual_scorer.0", h.Width, 4*h.Width)
	linear("residual_scorer.3", 1, h.Width)
	return out
}
