package models

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

const configFile = "config.json"

// modelTypes are the backbones whose forward pass engine/qwen computes.
var modelTypes = []string{"qwen3_5", "qwen3_5_text"}

// parseConfig reads config.json, nested (text_config) or flat.
func parseConfig(data []byte) (*Config, error) {
	if what := impostor(data); what != "" {
		return nil, fileError(Malformed, configFile, "%s", what)
	}
	root, err := newObject("", data)
	if err != nil {
		return nil, &Error{Kind: Malformed, File: configFile, Message: err.Error(), Err: err}
	}
	text := root.child("text_config")
	if text == nil {
		text = root
	}
	if err := checkModelType(root, text); err != nil {
		return nil, err
	}
	c := &Config{}
	c.readText(text)
	c.readLayers(text)
	rope := c.readRope(text)
	c.Tied = root.boolean("tie_word_embeddings", false) || text.boolean("tie_word_embeddings", false)
	c.ImageToken = root.token("image_token_id", c.Vocab)
	c.VideoToken = root.token("video_token_id", c.Vocab)
	c.VisionStart = root.token("vision_start_token_id", c.Vocab)
	c.VisionEnd = root.token("vision_end_token_id", c.Vocab)
	vision := root.child("vision_config")
	if vision != nil {
		c.readVision(vision)
	}
	root.join(text, rope, vision)
	if root.err == nil {
		root.err = c.consistent()
	}
	if root.err != nil {
		return nil, &Error{Kind: Mismatch, File: configFile, Message: root.err.Error(), Err: root.err}
	}
	c.quantization, err = parseQuantization(root)
	return c, err
}

func checkModelType(root, text *object) error {
	types := []string{root.text("model_type", ""), text.text("model_type", "")}
	if types[0] == "" && types[1] == "" {
		return fileError(Unsupported, configFile, "model_type is missing: is this a Clef model?")
	}
	if types[0] == "clef" {
		return fileError(Unsupported, configFile, "model_type %q keeps the decision head inside the backbone's files, which is not supported: choose a conversion with %s", types[0], headFile)
	}
	for _, t := range types {
		if t != "" && !slices.Contains(modelTypes, t) {
			return fileError(Unsupported, configFile, "model_type %q is not supported: Clef and Clef-flash are %q", t, modelTypes[0])
		}
	}
	return nil
}

func (c *Config) readText(o *object) {
	c.Vocab = o.integer("vocab_size", 0, maxVocab)
	c.Hidden = o.integer("hidden_size", 0, maxWidth)
	c.MLP = o.integer("intermediate_size", 0, maxWidth)
	c.Heads = o.integer("num_attention_heads", 0, maxWidth)
	c.KVHeads = o.integer("num_key_value_heads", c.Heads, maxWidth)
	c.HeadDim = o.integer("head_dim", 256, maxWidth)
	c.KeyHeads = o.integer("linear_num_key_heads", 16, maxWidth)
	c.ValueHeads = o.integer("linear_num_value_heads", 32, maxWidth)
	c.KeyDim = o.integer("linear_key_head_dim", 128, maxWidth)
	c.ValueDim = o.integer("linear_value_head_dim", 128, maxWidth)
	c.ConvTaps = o.integer("linear_conv_kernel_dim", 4, 64)
	c.Eps = float32(o.number("rms_norm_eps", 1e-6))
	c.Positions = o.integer("max_position_embeddings", 262144, math.MaxInt32)
	o.only("hidden_act", "silu", "silu", "swish")
	if o.boolean("attention_bias", false) {
		o.fail("attention_bias", "true is not supported")
	}
	if !o.boolean("attn_output_gate", true) {
		o.fail("attn_output_gate", "false is not supported")
	}
}

// readLayers tells full-attention layers from delta layers: layer_types when
// present, else every full_attention_interval-th layer is full.
func (c *Config) readLayers(o *object) {
	n := o.integer("num_hidden_layers", 0, maxLayers)
	c.Full = make([]bool, n)
	raw, ok := o.m["layer_types"]
	if !ok {
		every := o.integer("full_attention_interval", 4, maxLayers)
		for i := range c.Full {
			c.Full[i] = (i+1)%every == 0
		}
		return
	}
	var types []string
	if json.Unmarshal(raw, &types) != nil {
		o.fail("layer_types", "is not a list of strings")
		return
	}
	if len(types) != n {
		o.fail("layer_types", "names %d layers, num_hidden_layers says %d", len(types), n)
		return
	}
	for i, t := range types {
		switch t {
		case "full_attention":
			c.Full[i] = true
		case "linear_attention":
		default:
			o.fail("layer_types", "has %q for layer %d: not supported", t, i)
		}
	}
}

// readRope reads rope_parameters (or the older rope_scaling, or keys of the text config itself).
func (c *Config) readRope(o *object) *object {
	r := o.child("rope_parameters")
	if r == nil {
		r = o.child("rope_scaling")
	}
	if r == nil {
		r = o
	}
	pick := func(key string, def float64) float64 {
		if _, ok := r.m[key]; ok {
			return r.number(key, def)
		}
		return o.number(key, def)
	}
	kind := r.text("rope_type", r.text("type", "default"))
	if kind != "default" && kind != "mrope" {
		r.fail("rope_type", "%q is not supported, expected default", kind)
	}
	c.RopeTheta = pick("rope_theta", 1e7)
	c.Rotary = int(float64(c.HeadDim) * pick("partial_rotary_factor", 0.25))
	if !r.boolean("mrope_interleaved", true) {
		r.fail("mrope_interleaved", "false is not supported")
	}
	c.Sections = [3]int{11, 11, 10}
	raw, ok := r.m["mrope_section"]
	if !ok {
		return r
	}
	sections, err := naturals(raw, 3)
	if err != nil || len(sections) != 3 {
		r.fail("mrope_section", "must be three sizes: %s", clip(raw))
		return r
	}
	for i, s := range sections {
		if s > maxWidth {
			r.fail("mrope_section", "is too large: %s", clip(raw))
			return r
		}
		c.Sections[i] = int(s)
	}
	if sum := c.Sections[0] + c.Sections[1] + c.Sections[2]; sum != c.Rotary/2 {
		r.fail("mrope_section", "adds up to %d, the rotated half has %d frequencies", sum, c.Rotary/2)
	}
	return r
}

// token reads a token id; -1 when absent.
func (o *object) token(key string, vocab int) int32 {
	raw, ok := o.m[key]
	if !ok {
		return -1
	}
	var id int64
	if json.Unmarshal(raw, &id) != nil || id < 0 || id >= int64(vocab) {
		o.fail(key, "is %s, not a token of a vocabulary of %d", clip(raw), vocab)
		return -1
	}
	return int32(id)
}

func (c *Config) readVision(o *object) {
	v := &VisionConfig{
		Depth:     o.integer("depth", 27, maxLayers),
		Hidden:    o.integer("hidden_size", 1152, maxWidth),
		MLP:       o.integer("intermediate_size", 4304, maxWidth),
		Heads:     o.integer("num_heads", 16, maxWidth),
		Channels:  o.integer("in_channels", 3, 16),
		Patch:     o.integer("patch_size", 16, 1024),
		Temporal:  o.integer("temporal_patch_size", 2, 16),
		Merge:     o.integer("spatial_merge_size", 2, 16),
		Positions: o.integer("num_position_embeddings", 2304, maxWidth),
		Out:       o.integer("out_hidden_size", c.Hidden, maxWidth),
	}
	o.only("hidden_act", "gelu_pytorch_tanh", "gelu_pytorch_tanh")
	var deep []int
	if raw, ok := o.m["deepstack_visual_indexes"]; ok && (json.Unmarshal(raw, &deep) != nil || len(deep) > 0) {
		o.fail("deepstack_visual_indexes", "%s is not supported, expected []", clip(raw))
	}
	side := int(math.Sqrt(float64(v.Positions)))
	switch {
	case side*side != v.Positions:
		o.fail("num_position_embeddings", "is %d, not a square number", v.Positions)
	case v.Hidden%v.Heads != 0 || v.Hidden/v.Heads%4 != 0:
		o.fail("hidden_size", "%d does not divide into %d heads of a multiple of 4", v.Hidden, v.Heads)
	case v.Channels != 3:
		o.fail("in_channels", "%d is not supported, expected 3", v.Channels)
	case v.Out != c.Hidden:
		o.fail("out_hidden_size", "is %d, the backbone is %d wide", v.Out, c.Hidden)
	}
	c.Vision = v
}

// consistent checks relations between the numbers.
func (c *Config) consistent() error {
	switch {
	case c.Heads%c.KVHeads != 0:
		return fmt.Errorf("num_attention_heads %d is not a multiple of num_key_value_heads %d", c.Heads, c.KVHeads)
	case c.ValueHeads%c.KeyHeads != 0:
		return fmt.Errorf("linear_num_value_heads %d is not a multiple of linear_num_key_heads %d", c.ValueHeads, c.KeyHeads)
	case c.Rotary < 2 || c.Rotary%2 != 0 || c.Rotary > c.HeadDim:
		return fmt.Errorf("partial_rotary_factor rotates %d of %d dims: it must be an even number of at most %d", c.Rotary, c.HeadDim, c.HeadDim)
	case c.ConvTaps < 2:
		return fmt.Errorf("linear_conv_kernel_dim is %d, expected 2 or more", c.ConvTaps)
	case c.Heads*c.HeadDim > maxWidth || c.QKV() > 4*maxWidth:
		return fmt.Errorf("heads times head size is too large")
	}
	return nil
}
