package models

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"clefbar/models/modeltest"
)

// settings is a quantization block of config.json.
type settings = map[string]any

func affine(bits, group int) settings { return settings{"bits": bits, "group_size": group} }

// plus returns m with one more member.
func plus(m settings, key string, value any) settings {
	out := settings{key: value}
	for k, v := range m {
		out[k] = v
	}
	return out
}

func uniform(bits, group int) func(string) modeltest.Bits {
	return func(string) modeltest.Bits { return modeltest.Bits{Bits: bits, Group: group} }
}

// except quantises everything with 4 bits but one module.
func except(module string, b modeltest.Bits) func(string) modeltest.Bits {
	return func(m string) modeltest.Bits {
		if strings.HasSuffix(m, module) {
			return b
		}
		return modeltest.Bits{Bits: 4, Group: 64}
	}
}

func TestQuantizedFolders(t *testing.T) {
	plain, err := OpenFS(small, "m")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	const up = "layers.1.mlp.up_proj"
	for name, tt := range map[string]struct {
		config settings
		choose func(string) modeltest.Bits
		layout string
		bits   int // of up
	}{
		"2 bits":                        {affine(2, 32), uniform(2, 32), "2-bit", 2},
		"3 bits":                        {affine(3, 64), uniform(3, 64), "3-bit", 3},
		"4 bits":                        {affine(4, 32), uniform(4, 32), "4-bit", 4},
		"5 bits":                        {affine(5, 64), uniform(5, 64), "5-bit", 5},
		"6 bits":                        {affine(6, 64), uniform(6, 64), "6-bit", 6},
		"8 bits":                        {affine(8, 64), uniform(8, 64), "8-bit", 8},
		"mode spelled out":              {plus(affine(4, 64), "mode", "affine"), uniform(4, 64), "4-bit", 4},
		"lm_head left alone":            {affine(4, 64), except("lm_head", modeltest.Bits{}), "mixed 4-bit", 4},
		"lm_head false":                 {plus(affine(4, 64), "language_model.lm_head", false), except("lm_head", modeltest.Bits{}), "mixed 4-bit", 4},
		"override of a module":          {plus(affine(4, 64), "language_model.model."+up, affine(8, 32)), except(up, modeltest.Bits{Bits: 8, Group: 32}), "mixed 4-bit", 8},
		"override under the HF name":    {plus(affine(4, 64), "model.language_model."+up, affine(8, 32)), except(up, modeltest.Bits{Bits: 8, Group: 32}), "mixed 4-bit", 8},
		"override under the bare name":  {plus(affine(4, 64), "model."+up, affine(8, 32)), except(up, modeltest.Bits{Bits: 8, Group: 32}), "mixed 4-bit", 8},
		"override without a group":      {plus(affine(4, 64), "model."+up, settings{"bits": 8}), except(up, modeltest.Bits{Bits: 8, Group: 64}), "mixed 4-bit", 8},
		"override that says true":       {plus(affine(4, 64), "model."+up, true), uniform(4, 64), "4-bit", 4},
		"a converter's own note":        {plus(affine(4, 64), "decision_quantization", "preserve-output"), uniform(4, 64), "4-bit", 4},
		"override of an absent module":  {plus(affine(4, 64), "model.layers.9.mlp.up_proj", false), uniform(4, 64), "4-bit", 4},
		"false for an unscaled module":  {plus(affine(4, 64), "model."+up, false), except(up, modeltest.Bits{}), "mixed 4-bit", 0},
		"block without quantised parts": {affine(4, 64), nil, "bf16", 0},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := modeltest.Small.MLX(nil, tt.config, tt.choose)
			f, err := OpenFS(fsys, "m")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got := f.Tensor(up + ".weight")
			bits := 0
			if got.Quant != nil {
				bits = got.Quant.Bits
			}
			if f.Layout != tt.layout || bits != tt.bits {
				t.Errorf("got layout %s, %d bits; want %s, %d", f.Layout, bits, tt.layout, tt.bits)
			}
			// The values must be those of the original, up to half a step of the code.
			want := plain.Tensor(up + ".weight")
			step := 0.01
			if bits > 0 {
				step = 0.45 / float64(int(1)<<bits-1)
			}
			exact := want.Floats()
			for i, v := range got.Floats() {
				if d := math.Abs(float64(v - exact[i])); d > step {
					t.Fatalf("element %d: got %v, want %v within %v", i, v, exact[i], step)
				}
			}
		})
	}
}

func TestRefusedQuantization(t *testing.T) {
	const up = "model.layers.1.mlp.up_proj"
	four := uniform(4, 64)
	for name, tt := range map[string]struct {
		fsys fstest.MapFS
		kind Kind
		want string
	}{
		"block missing":             {modeltest.Small.MLX(nil, nil, four), Mismatch, "has no quantization block"},
		"mxfp4":                     {modeltest.Small.MLX(nil, plus(affine(4, 32), "mode", "mxfp4"), four), Unsupported, `mode "mxfp4"`},
		"nvfp4 override":            {modeltest.Small.MLX(nil, plus(affine(4, 64), up, settings{"mode": "nvfp4"}), four), Unsupported, `mode "nvfp4"`},
		"7 bits":                    {modeltest.Small.MLX(nil, affine(7, 64), four), Unsupported, "bits 7"},
		"group of 48":               {modeltest.Small.MLX(nil, affine(4, 48), four), Unsupported, "group_size 48"},
		"bits missing":              {modeltest.Small.MLX(nil, settings{"group_size": 64}, four), Mismatch, "quantization.bits is missing"},
		"bits that lie":             {modeltest.Small.MLX(nil, affine(8, 64), four), Mismatch, "for 8 bits"},
		"group that lies":           {modeltest.Small.MLX(nil, affine(4, 32), four), Mismatch, "expected (32, 2)"},
		"false for a packed module": {modeltest.Small.MLX(nil, plus(affine(4, 64), up, false), four), Mismatch, "packed codes"},
		"override without scales":   {modeltest.Small.MLX(nil, plus(affine(4, 64), up, affine(4, 64)), except("up_proj", modeltest.Bits{})), Mismatch, "its scales are missing"},
		"two spellings of override": {modeltest.Small.MLX(nil, plus(plus(affine(4, 64), up, false), "language_model."+up, false), four), Mismatch, "two spellings"},
		"override is a number":      {modeltest.Small.MLX(nil, plus(affine(4, 64), up, 4), four), Malformed, "expected false or an object"},
		"gptq":                      {modeltest.Small.MLX(nil, plus(affine(4, 64), "quant_method", "gptq"), four), Unsupported, "gptq"},
	} {
		f, err := OpenFS(tt.fsys, "m")
		if err == nil {
			f.Close()
			t.Errorf("%s: the folder was accepted", name)
			continue
		}
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Kind != tt.kind || !strings.Contains(e.Error(), tt.want) {
			t.Errorf("%s: got %v, want kind %d, …%s…", name, err, tt.kind, tt.want)
		}
	}
}

func TestBiasesMissing(t *testing.T) {
	fsys := modeltest.Small.MLX(nil, affine(4, 64), uniform(4, 64))
	data := fsys["model.safetensors"].Data
	renamed := strings.Replace(string(data), "layers.1.mlp.up_proj.biases", "layers.1.mlp.up_proj.biased", 1)
	fsys["model.safetensors"].Data = []byte(renamed)
	if _, err := OpenFS(fsys, "m"); err == nil || !strings.Contains(err.Error(), "its biases are missing") {
		t.Errorf("got %v, want its biases are missing", err)
	}
}

func TestInspect(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(goldenDir+"tiny-9b-shape-mlx-4bit")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "._model.safetensors"), []byte("Mac OS X"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Inspect(dir)
	if err != nil {
		t.Fatal(err)
	}
	if l.Problem != nil || l.Layout != "4-bit" {
		t.Errorf("got layout %s, problem %v", l.Layout, l.Problem)
	}
	files := map[string]int{}
	for _, x := range l.Tensors {
		files[x.File]++
		if x.Name == "language_model.lm_head.weight" && (x.Quant != "4-bit, group 64" || x.DType != "U32" || x.Bytes != 512*32) {
			t.Errorf("lm_head: got %+v", x)
		}
	}
	if files["joint_head.safetensors"] != 104 || files["model.safetensors"] < 200 {
		t.Errorf("got tensors %v", files)
	}
}
