package vision

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/color"
	"image/png"
	"os"
	"strings"
	"testing"

	"clefbar/engine/goldentest"
	"clefbar/models"
	"clefbar/models/modeltest"
)

var released = &models.VisionConfig{Patch: 16, Temporal: 2, Merge: 2, Channels: 3}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// TestBicubicGolden compares with Pillow, bit for bit.
func TestBicubicGolden(t *testing.T) {
	golden := goldentest.Load[struct {
		Pairs []struct {
			In         [2]int `json:"in"`
			Out        [2]int `json:"out"`
			Gen        string `json:"gen"`
			Horizontal string `json:"sha256_rgb_horizontal_first"`
		} `json:"pillow_bicubic"`
	}](t, "misc_golden.json")
	if len(golden.Pairs) != 8 {
		t.Fatalf("got %d size pairs, want 8", len(golden.Pairs))
	}
	for _, g := range golden.Pairs {
		p := newPicture(g.In[0], g.In[1])
		for i, u := range modeltest.Uniform(strings.Split(g.Gen, "'")[1], len(p.pix)) {
			p.pix[i] = byte(u * 256)
		}
		if got := hash(p.resize(g.Out[0], g.Out[1]).pix); got != g.Horizontal {
			t.Errorf("%v to %v: got %s, want %s", g.In, g.Out, got, g.Horizontal)
		}
	}
}

func TestSmartResizeGolden(t *testing.T) {
	golden := goldentest.Load[struct {
		Sizes []struct {
			H       int    `json:"h"`
			W       int    `json:"w"`
			Resized [2]int `json:"resized"`
			Tokens  int    `json:"tokens"`
		} `json:"smart_resize_image"`
	}](t, "misc_golden.json")
	p, err := newProcessor(released, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(golden.Sizes) == 0 {
		t.Fatal("no sizes")
	}
	for _, s := range golden.Sizes {
		w, h, err := p.fit(s.W, s.H)
		if err != nil || w != s.Resized[1] || h != s.Resized[0] {
			t.Errorf("%d by %d: got %d by %d, %v; want %v", s.W, s.H, w, h, err, s.Resized)
		}
		if n, err := p.tokens(s.W, s.H); err != nil || n != s.Tokens {
			t.Errorf("%d by %d: got %d tokens, %v; want %d", s.W, s.H, n, err, s.Tokens)
		}
	}
	if _, _, err := p.fit(2000, 10); err != nil {
		t.Errorf("a ratio of 200: %v", err)
	}
	if _, _, err := p.fit(2010, 10); err == nil {
		t.Error("a ratio of 201 was accepted")
	}
}

func TestProcessorConfig(t *testing.T) {
	for name, tt := range map[string]struct {
		config string
		want   string // of the error, "" for none
	}{
		"released":        {`{"image_processor":{"size":{"shortest_edge":65536,"longest_edge":16777216},"image_mean":[0.5,0.5,0.5],"image_std":[0.5,0.5,0.5],"rescale_factor":0.00392156862745098,"patch_size":16,"merge_size":2}}`, ""},
		"no image part":   {`{"video_processor":{}}`, ""},
		"not JSON":        {`{`, "processor_config.json"},
		"sizes swapped":   {`{"image_processor":{"size":{"shortest_edge":16777216,"longest_edge":65536}}}`, "makes no sense"},
		"size beyond cap": {`{"image_processor":{"size":{"shortest_edge":65536,"longest_edge":1099511627776}}}`, "makes no sense"},
		"two means":       {`{"image_processor":{"image_mean":[0.5,0.5]}}`, "three means"},
		"zero deviation":  {`{"image_processor":{"image_std":[0.5,0,0.5]}}`, "three positive deviations"},
		"other patches":   {`{"image_processor":{"patch_size":14}}`, "contradict config.json"},
	} {
		_, err := newProcessor(released, []byte(tt.config))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

// encodePNG encodes an image.
func encodePNG(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestColours: every kind of PNG gives the stored colours, alpha or not.
func TestColours(t *testing.T) {
	at := image.Rect(0, 0, 1, 1)
	nrgba, nrgba64 := image.NewNRGBA(at), image.NewNRGBA64(at)
	nrgba.SetNRGBA(0, 0, color.NRGBA{200, 100, 50, 3})
	nrgba64.SetNRGBA64(0, 0, color.NRGBA64{0xC8FF, 0x6400, 0x3280, 0x0101})
	rgba, gray, gray16 := image.NewRGBA(at), image.NewGray(at), image.NewGray16(at)
	rgba.SetRGBA(0, 0, color.RGBA{200, 100, 50, 255})
	gray.SetGray(0, 0, color.Gray{77})
	gray16.SetGray16(0, 0, color.Gray16{0x4DFF})
	palette := image.NewPaletted(at, color.Palette{color.NRGBA{200, 100, 50, 0}, color.NRGBA{1, 2, 3, 255}})
	for name, tt := range map[string]struct {
		img  image.Image
		want [3]byte
	}{
		"transparent":         {nrgba, [3]byte{200, 100, 50}},
		"16-bit transparent":  {nrgba64, [3]byte{200, 100, 50}},
		"opaque":              {rgba, [3]byte{200, 100, 50}},
		"grey":                {gray, [3]byte{77, 77, 77}},
		"16-bit grey":         {gray16, [3]byte{77, 77, 77}},
		"transparent palette": {palette, [3]byte{200, 100, 50}},
	} {
		p, err := decode(encodePNG(t, tt.img))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := [3]byte(p.pix); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}

func TestDecodeRefusesDamage(t *testing.T) {
	good, err := os.ReadFile(goldentest.Path(t, "images/a_96x64.png"))
	if err != nil {
		t.Fatal(err)
	}
	huge := bytes.Clone(good)
	copy(huge[16:], "\x7f\xff\xff\xff\x7f\xff\xff\xff")
	for name, data := range map[string][]byte{
		"empty": nil, "text": []byte("hello"), "GIF": []byte("GIF89a\x01\x00\x01\x00"), "header only": good[:33],
		"half": good[:len(good)/2], "damaged": append(bytes.Clone(good[:60]), make([]byte, len(good)-60)...), "too many pixels": huge,
		"JPEG marker only": []byte("\xff\xd8\xff"), "WebP head only": []byte("RIFF\x00\x00\x00\x00WEBP"),
	} {
		if p, err := decode(data); err == nil {
			t.Errorf("%s: got %d by %d pixels, want an error", name, p.width, p.height)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, name := range []string{"a_96x64.png", "d_rgba_64x64.png"} {
		data, err := os.ReadFile(goldentest.Path(f, "images/"+name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x10Exif\x00\x00MM\x00*\x00\x00\x00\x08"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		orientation(data)
		if w, h, err := Size(data); err == nil && w*h < 1<<16 {
			decode(data) //nolint:errcheck // it must only not panic
		}
	})
}
