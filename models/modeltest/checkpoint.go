package modeltest

import (
	"encoding/json"
	"fmt"
	"testing/fstest"
)

// Shape holds the dimensions of a synthetic model in the Hugging Face bf16 layout.
type Shape struct {
	Vocab, Hidden, MLP, Layers, Interval           int
	Heads, KVHeads, HeadDim                        int
	KeyHeads, ValueHeads, KeyDim, ValueDim         int
	Sections                                       [3]int
	Vision                                         *VisionShape
	Width, Routing, HeadLayers, HeadHeads, FF      int
	ImageToken, VideoToken, VisionStart, VisionEnd int
	Scalars                                        Scalars
}

// VisionShape holds the dimensions of the vision tower.
type VisionShape struct{ Depth, Hidden, Heads, MLP, Patch, Positions int }

// Small is a text-only model of two layers for tests that need many folders.
var Small = Shape{
	Vocab: 32, Hidden: 64, MLP: 64, Layers: 2, Interval: 2, Heads: 2, KVHeads: 1, HeadDim: 32,
	KeyHeads: 1, ValueHeads: 2, KeyDim: 32, ValueDim: 32, Sections: [3]int{2, 1, 1},
	Width: 32, Routing: 1, HeadLayers: 1, HeadHeads: 2, FF: 32,
	ImageToken: 28, VideoToken: 29, VisionStart: 26, VisionEnd: 27, Scalars: TinyScalars,
}

// Golden is the file-free golden model of golden.json.
var Golden = Shape{
	Vocab: 512, Hidden: 128, MLP: 256, Layers: 4, Interval: 4, Heads: 4, KVHeads: 2, HeadDim: 64,
	KeyHeads: 2, ValueHeads: 4, KeyDim: 32, ValueDim: 32, Sections: [3]int{3, 3, 2},
	Vision: &VisionShape{Depth: 2, Hidden: 64, Heads: 4, MLP: 96, Patch: 4, Positions: 36},
	Width:  64, Routing: 2, HeadLayers: 2, HeadHeads: 4, FF: 96,
	ImageToken: 500, VideoToken: 501, VisionStart: 498, VisionEnd: 499, Scalars: GoldenScalars,
}

// Tiny27B has the proportions of Clef 27B; its answers are in tiny-27b-shape-generated.json.
var Tiny27B = Shape{
	Vocab: 512, Hidden: 192, MLP: 448, Layers: 8, Interval: 4, Heads: 12, KVHeads: 2, HeadDim: 64,
	KeyHeads: 2, ValueHeads: 6, KeyDim: 64, ValueDim: 64, Sections: [3]int{3, 3, 2},
	Width: 64, Routing: 2, HeadLayers: 4, HeadHeads: 2, FF: 64,
	ImageToken: 460, VideoToken: 461, VisionStart: 457, VisionEnd: 458, Scalars: TinyScalars,
}

// Files returns the model folder, without a tokenizer unless one is given.
func (s Shape) Files(tokenizer []byte) fstest.MapFS {
	if tokenizer == nil {
		tokenizer = []byte("{}")
	}
	return fstest.MapFS{
		"config.json":            {Data: marshal(s.config())},
		"joint_head_config.json": {Data: marshal(s.headConfig())},
		"tokenizer.json":         {Data: tokenizer},
		"model.safetensors":      {Data: Safetensors(s.Backbone(), 8)},
		"joint_head.safetensors": {Data: Safetensors(s.Head(), 8)},
	}
}

func marshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

func (s Shape) config() map[string]any {
	c := map[string]any{
		"architectures": []string{"Qwen3_5ForConditionalGeneration"}, "model_type": "qwen3_5", "tie_word_embeddings": false,
		"image_token_id": s.ImageToken, "video_token_id": s.VideoToken,
		"vision_start_token_id": s.VisionStart, "vision_end_token_id": s.VisionEnd,
		"text_config": map[string]any{
			"model_type": "qwen3_5_text", "vocab_size": s.Vocab, "hidden_size": s.Hidden, "intermediate_size": s.MLP,
			"num_hidden_layers": s.Layers, "num_attention_heads": s.Heads, "num_key_value_heads": s.KVHeads, "head_dim": s.HeadDim,
			"linear_num_key_heads": s.KeyHeads, "linear_num_value_heads": s.ValueHeads,
			"linear_key_head_dim": s.KeyDim, "linear_value_head_dim": s.ValueDim, "linear_conv_kernel_dim": 4,
			"full_attention_interval": s.Interval, "rms_norm_eps": 1e-6, "hidden_act": "silu", "max_position_embeddings": 262144,
			"rope_parameters": map[string]any{
				"rope_type": "default", "rope_theta": 10000000, "partial_rotary_factor": 0.25,
				"mrope_interleaved": true, "mrope_section": s.Sections,
			},
		},
	}
	if v := s.Vision; v != nil {
		c["vision_config"] = map[string]any{
			"depth": v.Depth, "hidden_size": v.Hidden, "intermediate_size": v.MLP, "num_heads": v.Heads, "in_channels": 3,
			"patch_size": v.Patch, "temporal_patch_size": 2, "spatial_merge_size": 2, "num_position_embeddings": v.Positions,
			"out_hidden_size": s.Hidden, "hidden_act": "gelu_pytorch_tanh", "deepstack_visual_indexes": []int{},
		}
	}
	return c
}

func (s Shape) headConfig() map[string]any {
	return map[string]any{
		"hidden_size": s.Hidden, "width": s.Width, "routing_layers": s.Routing, "layers": s.HeadLayers,
		"heads": s.HeadHeads, "feedforward": s.FF,
	}
}

// list collects tensors, generated ones unless bare.
type list struct {
	scalars Scalars
	bare    bool // names and shapes only
	out     []Tensor
}

func (l *list) add(name string, shape ...int) {
	t := Tensor{Name: name, DType: "BF16", Shape: shape}
	if !l.bare {
		t.Data = Values(name, shape, l.scalars)
	}
	l.out = append(l.out, t)
}

func (l *list) pair(name string, rows, cols int) {
	l.add(name+".weight", rows, cols)
	l.add(name+".bias", rows)
}

func (l *list) norm(name string, n int) {
	l.add(name+".weight", n)
	l.add(name+".bias", n)
}

// Backbone returns the generated backbone tensors under Hugging Face names.
func (s Shape) Backbone() []Tensor { return s.backbone(&list{scalars: s.Scalars}) }

// Plan returns the tensors of the backbone and of the head without values, for whoever writes them piece by piece.
func (s Shape) Plan() (backbone, head []Tensor) {
	return s.backbone(&list{bare: true}), s.head(&list{bare: true})
}

// Configs returns config.json, with quantization unless that is nil, and joint_head_config.json.
func (s Shape) Configs(quantization map[string]any) (config, head []byte) {
	c := s.config()
	if quantization != nil {
		c["quantization"], c["quantization_config"] = quantization, quantization
	}
	return marshal(c), marshal(s.headConfig())
}

func (s Shape) backbone(l *list) []Tensor {
	const p = "model.language_model."
	qkv := 2*s.KeyHeads*s.KeyDim + s.ValueHeads*s.ValueDim
	l.add(p+"embed_tokens.weight", s.Vocab, s.Hidden)
	for i := range s.Layers {
		n := fmt.Sprintf("%slayers.%d.", p, i)
		l.add(n+"input_layernorm.weight", s.Hidden)
		l.add(n+"post_attention_layernorm.weight", s.Hidden)
		if (i+1)%s.Interval == 0 {
			l.add(n+"self_attn.q_proj.weight", 2*s.Heads*s.HeadDim, s.Hidden)
			l.add(n+"self_attn.k_proj.weight", s.KVHeads*s.HeadDim, s.Hidden)
			l.add(n+"self_attn.v_proj.weight", s.KVHeads*s.HeadDim, s.Hidden)
			l.add(n+"self_attn.o_proj.weight", s.Hidden, s.Heads*s.HeadDim)
			l.add(n+"self_attn.q_norm.weight", s.HeadDim)
			l.add(n+"self_attn.k_norm.weight", s.HeadDim)
		} else {
			a := n + "linear_attn."
			l.add(a+"in_proj_qkv.weight", qkv, s.Hidden)
			l.add(a+"in_proj_z.weight", s.ValueHeads*s.ValueDim, s.Hidden)
			l.add(a+"in_proj_b.weight", s.ValueHeads, s.Hidden)
			l.add(a+"in_proj_a.weight", s.ValueHeads, s.Hidden)
			l.add(a+"conv1d.weight", qkv, 1, 4)
			l.add(a+"dt_bias", s.ValueHeads)
			l.add(a+"A_log", s.ValueHeads)
			l.out[len(l.out)-1].DType = "F32"
			l.add(a+"norm.weight", s.ValueDim)
			l.add(a+"out_proj.weight", s.Hidden, s.ValueHeads*s.ValueDim)
		}
		l.add(n+"mlp.gate_proj.weight", s.MLP, s.Hidden)
		l.add(n+"mlp.up_proj.weight", s.MLP, s.Hidden)
		l.add(n+"mlp.down_proj.weight", s.Hidden, s.MLP)
	}
	l.add(p+"norm.weight", s.Hidden)
	l.add("lm_head.weight", s.Vocab, s.Hidden)
	if s.Vision != nil {
		l.vision(s.Vision, s.Hidden)
	}
	return l.out
}

func (l *list) vision(v *VisionShape, out int) {
	const p = "model.visual."
	l.add(p+"patch_embed.proj.weight", v.Hidden, 3, 2, v.Patch, v.Patch)
	l.add(p+"patch_embed.proj.bias", v.Hidden)
	l.add(p+"pos_embed.weight", v.Positions, v.Hidden)
	for i := range v.Depth {
		b := fmt.Sprintf("%sblocks.%d.", p, i)
		l.norm(b+"norm1", v.Hidden)
		l.norm(b+"norm2", v.Hidden)
		l.pair(b+"attn.qkv", 3*v.Hidden, v.Hidden)
		l.pair(b+"attn.proj", v.Hidden, v.Hidden)
		l.pair(b+"mlp.linear_fc1", v.MLP, v.Hidden)
		l.pair(b+"mlp.linear_fc2", v.Hidden, v.MLP)
	}
	l.norm(p+"merger.norm", v.Hidden)
	l.pair(p+"merger.linear_fc1", 4*v.Hidden, 4*v.Hidden)
	l.pair(p+"merger.linear_fc2", out, 4*v.Hidden)
}

// Head returns the generated tensors of the joint head.
func (s Shape) Head() []Tensor { return s.head(&list{scalars: s.Scalars}) }

func (s Shape) head(l *list) []Tensor {
	w := s.Width
	attention := func(name string) {
		l.add(name+".in_proj_weight", 3*w, w)
		l.add(name+".in_proj_bias", 3*w)
		l.pair(name+".out_proj", w, w)
	}
	l.add("prior_logit_scale")
	l.add("joint_logit_scale")
	l.add("residual_gate")
	l.norm("hidden_norm", s.Hidden)
	for _, p := range []string{"memory", "question", "option_question", "global", "option_context", "option_lexical"} {
		l.add(p+"_projection.weight", w, s.Hidden)
	}
	l.add("type_embedding.weight", 3, w)
	for i := range s.Routing {
		e := fmt.Sprintf("evidence_layers.%d.", i)
		l.norm(e+"query_norm", w)
		l.norm(e+"memory_norm", w)
		l.norm(e+"feedforward_norm", w)
		attention(e + "attention")
		l.pair(e+"feedforward.0", s.FF, w)
		l.pair(e+"feedforward.3", w, s.FF)
	}
	l.norm("option_summary_norm", w)
	l.norm("field_norm", w)
	l.norm("option_norm", w)
	for i := range s.HeadLayers {
		d := fmt.Sprintf("layers.%d.", i)
		attention(d + "self_attn")
		attention(d + "multihead_attn")
		l.pair(d+"linear1", s.FF, w)
		l.pair(d+"linear2", w, s.FF)
		l.norm(d+"norm1", w)
		l.norm(d+"norm2", w)
		l.norm(d+"norm3", w)
	}
	l.pair("residual_scorer.0", w, 4*w)
	l.pair("residual_scorer.3", 1, w)
	return l.out
}
