package models

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"clefbar/models/modeltest"
)

var small = modeltest.Small.Files(nil)

// with returns the small folder with files replaced; nil removes one.
func with(changes map[string][]byte) fstest.MapFS {
	out := maps.Clone(small)
	for name, data := range changes {
		if data == nil {
			delete(out, name)
		} else {
			out[name] = &fstest.MapFile{Data: data}
		}
	}
	return out
}

// edit returns the small folder with text replaced in one of its files.
func edit(t *testing.T, name, old, replacement string) fstest.MapFS {
	t.Helper()
	before := string(small[name].Data)
	after := strings.Replace(before, old, replacement, 1)
	if after == before {
		t.Fatalf("%s has no %q: %.300s", name, old, before)
	}
	return with(map[string][]byte{name: []byte(after)})
}

// weights returns the small folder with its backbone tensors changed.
func weights(change func([]modeltest.Tensor) []modeltest.Tensor) fstest.MapFS {
	return with(map[string][]byte{"model.safetensors": modeltest.Safetensors(change(modeltest.Small.Backbone()), 8)})
}

func headWeights(change func([]modeltest.Tensor) []modeltest.Tensor) fstest.MapFS {
	return with(map[string][]byte{"joint_head.safetensors": modeltest.Safetensors(change(modeltest.Small.Head()), 8)})
}

// drop removes the tensor with a name, rename renames it, reshape changes its shape.
func drop(name string) func([]modeltest.Tensor) []modeltest.Tensor {
	return func(ts []modeltest.Tensor) []modeltest.Tensor {
		var out []modeltest.Tensor
		for _, t := range ts {
			if t.Name != name {
				out = append(out, t)
			}
		}
		return out
	}
}

func change(name string, f func(t *modeltest.Tensor)) func([]modeltest.Tensor) []modeltest.Tensor {
	return func(ts []modeltest.Tensor) []modeltest.Tensor {
		for i := range ts {
			if ts[i].Name == name {
				f(&ts[i])
			}
		}
		return ts
	}
}

func extra(name string, shape ...int) func([]modeltest.Tensor) []modeltest.Tensor {
	return func(ts []modeltest.Tensor) []modeltest.Tensor {
		return append(ts, modeltest.Tensor{Name: name, DType: "BF16", Shape: shape, Data: modeltest.Values(name, shape, modeltest.TinyScalars)})
	}
}

const hf = "model.language_model."

func TestRefusedFolders(t *testing.T) {
	ed := func(name, old, replacement string) fstest.MapFS { return edit(t, name, old, replacement) }
	tests := []struct {
		name string
		fsys fstest.MapFS
		kind Kind
		want string
	}{
		{"empty folder", fstest.MapFS{}, NotFound, "config.json: no such file"},
		{"hub cache folder", fstest.MapFS{"snapshots/a": {}, "blobs/b": {}}, NotFound, "choose one of its snapshots"},
		{"GGUF folder", fstest.MapFS{"Clef-Q4_K_M.gguf": {Data: []byte("GGUF")}}, Unsupported, "Clef-Q4_K_M.gguf: this folder holds a GGUF model"},
		{"no weights", with(map[string][]byte{"model.safetensors": nil}), NotFound, "the folder has no weights"},
		{"no head", with(map[string][]byte{"joint_head.safetensors": nil}), NoHead, "chat backbone without Clef's decision head"},
		{"no head config", with(map[string][]byte{"joint_head_config.json": nil}), NoHead, "joint_head_config.json: no such file: this is a chat backbone"},
		{"no tokenizer", with(map[string][]byte{"tokenizer.json": nil}), Incomplete, "tokenizer.json"},
		{"tokenizer is a pointer", with(map[string][]byte{"tokenizer.json": []byte("version https://git-lfs.github.com/spec/v1\n")}), Malformed, "LFS"},
		{"config is a web page", with(map[string][]byte{"config.json": []byte("<html>")}), Malformed, "web page"},
		{"config is empty", with(map[string][]byte{"config.json": {}}), Malformed, "cut short"},
		{"config is a list", with(map[string][]byte{"config.json": []byte("[]")}), Malformed, "not a JSON object"},
		{"config has a key twice", ed("config.json", `"model_type":`, `"model_type":"x","model_type":`), Malformed, `"model_type" appears twice`},
		{"head cut by one byte", with(map[string][]byte{"joint_head.safetensors": cut(small["joint_head.safetensors"].Data, 1)}), Incomplete, "joint_head.safetensors: the file is incomplete"},
		{"weights cut by one byte", with(map[string][]byte{"model.safetensors": cut(small["model.safetensors"].Data, 1)}), Incomplete, "model.safetensors: the file is incomplete"},
		{"weights empty", with(map[string][]byte{"model.safetensors": {}}), Incomplete, "empty"},

		{"another architecture", ed("config.json", `"model_type":"qwen3_5"`, `"model_type":"llama"`), Unsupported, `model_type "llama"`},
		{"head inside the backbone", ed("config.json", `"model_type":"qwen3_5"`, `"model_type":"clef"`), Unsupported, "choose a conversion with joint_head.safetensors"},
		{"omni", ed("config.json", `"model_type":"qwen3_5_text"`, `"model_type":"qwen3_omni_moe"`), Unsupported, `"qwen3_omni_moe"`},
		{"hidden_size missing", ed("config.json", `"hidden_size":64,`, ``), Mismatch, "text_config.hidden_size is missing"},
		{"hidden_size zero", ed("config.json", `"hidden_size":64`, `"hidden_size":0`), Mismatch, "hidden_size is 0"},
		{"hidden_size absurd", ed("config.json", `"hidden_size":64`, `"hidden_size":1e300`), Mismatch, "hidden_size is 1e300"},
		{"hidden_size a string", ed("config.json", `"hidden_size":64`, `"hidden_size":"64"`), Mismatch, "hidden_size is not a whole number"},
		{"layers negative", ed("config.json", `"num_hidden_layers":2`, `"num_hidden_layers":-2`), Mismatch, "num_hidden_layers is -2"},
		{"layers too many", ed("config.json", `"num_hidden_layers":2`, `"num_hidden_layers":3`), Incomplete, "layers.2.input_layernorm.weight: missing"},
		{"layers too few", ed("config.json", `"num_hidden_layers":2`, `"num_hidden_layers":1`), Mismatch, "config.json has no place"},
		{"layer_types too short", ed("config.json", `"full_attention_interval":2`, `"layer_types":["linear_attention"]`), Mismatch, "layer_types names 1 layers"},
		{"layer_types unknown", ed("config.json", `"full_attention_interval":2`, `"layer_types":["linear_attention","sliding_attention"]`), Mismatch, "sliding_attention"},
		{"layer_types contradicts", ed("config.json", `"full_attention_interval":2`, `"layer_types":["full_attention","linear_attention"]`), Incomplete, "missing"},
		{"heads do not divide", ed("config.json", `"num_key_value_heads":1`, `"num_key_value_heads":3`), Mismatch, "not a multiple of num_key_value_heads"},
		{"activation", ed("config.json", `"hidden_act":"silu"`, `"hidden_act":"gelu"`), Mismatch, `hidden_act "gelu"`},
		{"attention bias", ed("config.json", `"hidden_act":"silu"`, `"attention_bias":true`), Mismatch, "attention_bias"},
		{"no output gate", ed("config.json", `"hidden_act":"silu"`, `"attn_output_gate":false`), Mismatch, "attn_output_gate"},
		{"yarn", ed("config.json", `"rope_type":"default"`, `"rope_type":"yarn"`), Mismatch, `rope_type "yarn"`},
		{"sections do not add up", ed("config.json", `"mrope_section":[2,1,1]`, `"mrope_section":[2,1,3]`), Mismatch, "mrope_section adds up to 6"},
		{"sections negative", ed("config.json", `"mrope_section":[2,1,1]`, `"mrope_section":[5,-1,0]`), Mismatch, "mrope_section must be three sizes"},
		{"rotary odd", ed("config.json", `"partial_rotary_factor":0.25`, `"partial_rotary_factor":3`), Mismatch, "rotate"},
		{"image token outside", ed("config.json", `"image_token_id":28`, `"image_token_id":999`), Mismatch, "image_token_id is 999"},
		{"vocabulary contradicts", ed("config.json", `"vocab_size":32`, `"vocab_size":40`), Mismatch, "shape (32, 64), expected (40, 64)"},
		{"fp8", ed("config.json", `"model_type":"qwen3_5",`, `"model_type":"qwen3_5","quantization_config":{"quant_method":"fp8"},`), Unsupported, "fp8"},

		{"norm missing", weights(drop(hf + "layers.1.input_layernorm.weight")), Incomplete, "layers.1.input_layernorm.weight: missing"},
		{"lm_head missing", weights(drop("lm_head.weight")), Incomplete, "lm_head.weight: missing"},
		{"delta bias missing", weights(drop(hf + "layers.0.linear_attn.dt_bias")), Incomplete, "dt_bias: missing"},
		{"wrong shape", weights(change(hf+"layers.0.mlp.up_proj.weight", func(t *modeltest.Tensor) { t.Shape = []int{32, 128} })), Mismatch, "shape (32, 128), expected (64, 64)"},
		{"integers for floats", weights(change(hf+"norm.weight", func(t *modeltest.Tensor) { t.DType, t.Raw = "I16", make([]byte, 128) })), Unsupported, "dtype I16"},
		{"fp8 tensor", weights(change(hf+"norm.weight", func(t *modeltest.Tensor) { t.DType, t.Raw = "F8_E4M3", make([]byte, 64) })), Unsupported, "dtype F8_E4M3"},
		{"unknown tensor", weights(extra("audio_tower.conv.weight", 4)), Mismatch, "not a tensor of Clef's backbone"},
		{"bias nobody asked for", weights(extra(hf+"layers.1.self_attn.q_proj.bias", 128)), Mismatch, "q_proj.bias: config.json has no place"},
		{"two spellings of a tensor", weights(extra("model.norm.weight", 64)), Mismatch, "also stored as"},
		{"two layouts of names", weights(change(hf+"norm.weight", func(t *modeltest.Tensor) { t.Name = "language_model.model.norm.weight" })), Mismatch, "are mixed"},
		{"conv of the other layout", weights(change(hf+"layers.0.linear_attn.conv1d.weight", func(t *modeltest.Tensor) { t.Shape = []int{128, 4, 1} })), Mismatch, "contradicts the tensor names"},
		{"conv of no layout", weights(change(hf+"layers.0.linear_attn.conv1d.weight", func(t *modeltest.Tensor) { t.Shape = []int{4, 1, 128} })), Mismatch, "shape (4, 1, 128), expected (128, 1, 4)"},
		{"packed codes without block", weights(change(hf+"layers.0.mlp.up_proj.weight", func(t *modeltest.Tensor) {
			t.DType, t.Shape, t.Raw = "U32", []int{64, 8}, make([]byte, 2048)
		})), Mismatch, "packed codes"},

		{"head width of another model", ed("joint_head_config.json", `"hidden_size":64`, `"hidden_size":128`), Mismatch, "this head belongs to another model"},
		{"head key unknown", ed("joint_head_config.json", `"width":32`, `"width":32,"gating":1`), Mismatch, "gating is not a setting"},
		{"head key missing", ed("joint_head_config.json", `"heads":2,`, ``), Mismatch, "heads is missing"},
		{"head heads do not divide", ed("joint_head_config.json", `"heads":2`, `"heads":5`), Mismatch, "does not divide"},
		{"head width contradicts", ed("joint_head_config.json", `"width":32`, `"width":64`), Mismatch, "expected (64, 64)"},
		{"head tensor missing", headWeights(drop("residual_gate")), Incomplete, "residual_gate: missing"},
		{"head tensor extra", headWeights(extra("layers.7.norm1.weight", 32)), Mismatch, "layers.7.norm1.weight: not a tensor of Clef's head"},
		{"head tensor of wrong shape", headWeights(change("type_embedding.weight", func(t *modeltest.Tensor) { t.Shape = []int{32, 3} })), Mismatch, "shape (32, 3), expected (3, 32)"},
		{"card not JSON", with(map[string][]byte{"clefbar.json": []byte("{")}), Malformed, "clefbar.json"},
		{"card temperature", with(map[string][]byte{"clefbar.json": []byte(`{"temperature":-1}`)}), Malformed, "temperature"},
		{"card date", with(map[string][]byte{"clefbar.json": []byte(`{"release_date":"yesterday"}`)}), Malformed, "release_date"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := OpenFS(tt.fsys, "m")
			if err == nil {
				f.Close()
				t.Fatal("the folder was accepted")
			}
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("got %T %v, want *Error", err, err)
			}
			if e.Kind != tt.kind || !strings.Contains(e.Error(), tt.want) {
				t.Errorf("got kind %d, %q; want kind %d, …%s…", e.Kind, e, tt.kind, tt.want)
			}
		})
	}
}

func cut(data []byte, n int) []byte { return data[:len(data)-n] }

func TestAcceptedVariants(t *testing.T) {
	flat := func(ts []modeltest.Tensor) []modeltest.Tensor {
		for i := range ts {
			if rest, ok := strings.CutPrefix(ts[i].Name, hf); ok {
				ts[i].Name = "model." + rest
			}
		}
		return ts
	}
	for name, tt := range map[string]struct {
		fsys    fstest.MapFS
		centred bool
		layout  string
	}{
		"as generated":           {small, true, "bf16"},
		"bare names":             {weights(flat), true, "bf16"},
		"multi-token prediction": {weights(extra("mtp.fc.weight", 4, 4)), true, "bf16"},
		"dropout in the head":    {edit(t, "joint_head_config.json", `"width":32`, `"width":32,"dropout":0.1`), true, "bf16"},
		"rope_scaling":           {edit(t, "config.json", `"rope_parameters"`, `"rope_scaling"`), true, "bf16"},
		"rope type spelled type": {edit(t, "config.json", `"rope_type"`, `"type"`), true, "bf16"},
		"theta with a fraction":  {edit(t, "config.json", `"rope_theta":10000000`, `"rope_theta":10000000.0`), true, "bf16"},
		"null quantization":      {edit(t, "config.json", `"model_type":"qwen3_5",`, `"model_type":"qwen3_5","quantization":null,`), true, "bf16"},
		"MLX bf16":               {modeltest.Small.MLX(nil, nil, nil), false, "bf16"},
		"A_log in BF16":          {weights(change(hf+"layers.0.linear_attn.A_log", func(t *modeltest.Tensor) { t.DType = "BF16" })), true, "bf16"},
	} {
		f, err := OpenFS(tt.fsys, "m")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if f.Centred != tt.centred || f.Layout != tt.layout {
			t.Errorf("%s: got centred %v, layout %s; want %v, %s", name, f.Centred, f.Layout, tt.centred, tt.layout)
		}
		f.Close()
	}
}

func TestFlatConfig(t *testing.T) {
	config := string(small["config.json"].Data)
	from := strings.Index(config, `"text_config":{`)
	inner := config[from+len(`"text_config":{`):]
	depth, end := 1, 0
	for i, c := range inner {
		if c == '{' {
			depth++
		} else if c == '}' {
			depth--
		}
		if depth == 0 {
			end = i
			break
		}
	}
	f, err := OpenFS(with(map[string][]byte{"config.json": []byte("{" + inner[:end] + "}")}), "m")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Config.Hidden != 64 || f.Config.ImageToken != -1 || f.Vision() {
		t.Errorf("got hidden %d, image token %d, vision %v; want 64, -1, false", f.Config.Hidden, f.Config.ImageToken, f.Vision())
	}
}

func TestTiedEmbeddings(t *testing.T) {
	fsys := weights(drop("lm_head.weight"))
	fsys["config.json"] = &fstest.MapFile{Data: []byte(strings.Replace(string(small["config.json"].Data), `"tie_word_embeddings":false`, `"tie_word_embeddings":true`, 1))}
	f, err := OpenFS(fsys, "m")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, want := f.Tensor("lm_head.weight").Name, hf+"embed_tokens.weight"; got != want {
		t.Errorf("lm_head: got %s, want %s", got, want)
	}
}

func TestCardNamesTheModel(t *testing.T) {
	f, err := OpenFS(with(map[string][]byte{"clefbar.json": []byte(`{"name":"etude","description":"d","release_date":"2026-11-30","practice":true,"practice_note":"n","temperature":1.5}`)}), "folder")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := Card{Name: "etude", Description: "d", Released: "2026-11-30", Practice: true, PracticeNote: "n", Temperature: 1.5}
	if f.Card != want || f.Name != "etude" {
		t.Errorf("got %+v named %s, want %+v", f.Card, f.Name, want)
	}
}

func TestOpenPaths(t *testing.T) {
	dir := t.TempDir()
	gguf := filepath.Join(dir, "clef.GGUF")
	if err := os.WriteFile(gguf, []byte("GGUF"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "nowhere"): "nowhere: no such file",
		gguf:                          "clef.GGUF: this is a GGUF file",
		"refuse_test.go":              "refuse_test.go: this is a file: choose the folder",
	} {
		if _, err := Inspect(path); err == nil || want != "nowhere: no such file" && !strings.Contains(err.Error(), want) {
			t.Errorf("Inspect(%s): got %v, want …%s…", path, err, want)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%s): got %v, want …%s…", path, err, want)
		}
	}
}

// TestVanish cuts a mapped file in place: Check must notice before its pages are touched.
func TestVanish(t *testing.T) {
	dir := t.TempDir()
	for name, file := range small {
		if err := os.WriteFile(filepath.Join(dir, name), file.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Check(); err != nil {
		t.Fatalf("untouched: %v", err)
	}
	if err := os.Truncate(filepath.Join(dir, "model.safetensors"), 100); err != nil {
		t.Fatal(err)
	}
	e, ok := errors.AsType[*Error](f.Check())
	if !ok || e.Kind != Vanished || e.File != "model.safetensors" {
		t.Errorf("cut file: got %v, want Vanished of model.safetensors", e)
	}
}

// TestCutBeforeTheHeaderIsRead cuts a file between the moment it is mapped and the one its header is read.
func TestCutBeforeTheHeaderIsRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "model.safetensors")
	if err := os.WriteFile(file, small["model.safetensors"].Data, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := dirSource(dir).weights("model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, 0); err != nil {
		t.Fatal(err)
	}
	_, _, err = b.header()
	if e, ok := errors.AsType[*Error](err); b.file != nil && (!ok || e.Kind != Vanished || e.File != "model.safetensors") {
		t.Errorf("got %v, want Vanished of model.safetensors", err)
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
}
