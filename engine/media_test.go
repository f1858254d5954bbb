package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"reflect"
	"strings"
	"testing"
)

func pngOf(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pngClaiming is a PNG whose header promises a size that the data does not have.
func pngClaiming(t *testing.T, w, h uint32) []byte {
	data := pngOf(t, 1, 1)
	binary.BigEndian.PutUint32(data[16:], w)
	binary.BigEndian.PutUint32(data[20:], h)
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return data
}

func b64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

func withImages(items ...string) string {
	return `{"state":"s","questions":{"q":{"type":"noul"}},"images":[` + strings.Join(items, ",") + `]}`
}

func TestImageForms(t *testing.T) {
	small := pngOf(t, 3, 2)
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 8, 4)), nil); err != nil {
		t.Fatal(err)
	}
	r, err := ParseRequest([]byte(withImages(
		`"data:image/png;base64,`+b64(small)+`"`,
		`"`+b64(photo.Bytes())+`"`,
		`{"content_type":"text/plain","base64":"`+b64(small)+`"}`,
		`"DATA:application/octet-stream;x=y;BASE64,`+b64(small)+`"`,
	)), Limits{})
	if err != nil {
		t.Fatal(details(err))
	}
	want := []Image{{small}, {photo.Bytes()}, {small}, {small}}
	if !reflect.DeepEqual(r.Images, want) {
		t.Errorf("got %d images, want the four that were sent", len(r.Images))
	}
	if got := r.Images[1].Format(); got != "jpeg" {
		t.Errorf("got format %q, want jpeg", got)
	}
	again, err := ParseRequest(r.JSON(), Limits{})
	if err != nil || !reflect.DeepEqual(again, r) {
		t.Errorf("got %v from the request's own JSON", err)
	}
}

func TestImagesRefused(t *testing.T) {
	small := `"` + b64(pngOf(t, 3, 2)) + `"`
	many := strings.Repeat(small+",", 6) + small
	for _, c := range []struct{ name, items, want string }{
		{"path", `"/etc/hosts"`, "image_invalid images.0"},
		{"address", small + `,"https://example.org/a.png"`, "image_remote images.1"},
		{"file address", `"file:///etc/hosts"`, "image_remote images.0"},
		{"ftp", `"FTP://x"`, "image_remote images.0"},
		{"object", `{}`, "image_invalid images.0"},
		{"object with address", `{"base64":"http://x/"}`, "image_remote images.0"},
		{"number", `1`, "image_invalid images.0"},
		{"null", small + `,null`, "image_invalid images.1"},
		{"stars", `"data:image/png;base64,***"`, "image_invalid images.0"},
		{"not base64", `"data:image/png,%89PNG"`, "image_invalid images.0"},
		{"empty", `""`, "image_invalid images.0"},
		{"empty data", `"data:image/png;base64,"`, "image_invalid images.0"},
		{"text bytes", `"` + b64([]byte("hello, this is no picture")) + `"`, "image_invalid images.0"},
		{"gif", `"` + b64([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;")) + `"`, "image_invalid images.0"},
		{"cut header", `"` + b64(pngOf(t, 3, 2)[:20]) + `"`, "image_invalid images.0"},
		{"cut jpeg", `"` + b64([]byte("\xff\xd8\xff\xe0\x00\x10JFIF")) + `"`, "image_invalid images.0"},
		{"cut webp", `"` + b64([]byte("RIFF\x04\x00\x00\x00WEBPVP8 ")) + `"`, "image_invalid images.0"},
		{"too wide", `"` + b64(pngOf(t, 2010, 8)) + `"`, "image_invalid images.0"},
		{"too many pixels", `"` + b64(pngClaiming(t, 4096, 4000)) + `"`, "image_invalid images.0"},
		{"absurd size", `"` + b64(pngClaiming(t, 1<<31-1, 1<<31-1)) + `"`, "image_invalid images.0"},
		{"zero size", `"` + b64(pngClaiming(t, 0, 5)) + `"`, "image_invalid images.0"},
		{"too many", many, "too_long images.4"},
		{"too large", `"` + strings.Repeat("AAAA", 4<<20/3+2) + `"`, "too_long images.0"},
	} {
		r, err := ParseRequest([]byte(withImages(c.items)), Limits{})
		if err == nil {
			t.Errorf("%s: got %d images, want %s", c.name, len(r.Images), c.want)
		} else if got := details(err); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	for _, size := range [][2]int{{1, 1}, {1, 200}, {4000, 4000}} {
		data := pngClaiming(t, uint32(size[0]), uint32(size[1]))
		if _, err := ParseRequest([]byte(withImages(`"`+b64(data)+`"`)), Limits{}); err != nil {
			t.Errorf("%v: %v", size, err)
		}
	}
	_, err := ParseRequest([]byte(`{"state":"s","questions":{"q":{"type":"noul"}},"images":"x"}`), Limits{})
	if got := details(err); got != "list_type images" {
		t.Errorf("images as text: got %q", got)
	}
	total := Limits{ImagesBytes: 2*len(pngOf(t, 3, 2)) - 1}
	if _, err := ParseRequest([]byte(withImages(small, small)), total); details(err) != "too_long images.1" {
		t.Errorf("total size: got %q", details(err))
	}
}

func TestStateImages(t *testing.T) {
	small := pngOf(t, 3, 2)
	url := `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + b64(small) + `","detail":"auto"}}`
	r, err := ParseRequest([]byte(`{"state":["before",`+url+`,{"type":"image"},"after"],"questions":{"q":{"type":"noul"}}}`), Limits{})
	if err != nil {
		t.Fatal(details(err))
	}
	if got, want := r.State.Render(), `["before",{"type":"image"},"after"]`; got != want || len(r.Images) != 1 {
		t.Errorf("got %s and %d images, want %s and 1", got, len(r.Images), want)
	}
	for item, want := range map[string]string{
		`{"type":"image_url"}`:                                          "image_invalid state.1.image_url",
		`{"type":"image_url","image_url":"x"}`:                          "image_invalid state.1.image_url",
		`{"type":"image_url","image_url":{"url":"http://127.0.0.1/x"}}`: "image_remote state.1.image_url",
	} {
		_, err := ParseRequest([]byte(`{"state":["x",`+item+`],"questions":{"q":{"type":"noul"}}}`), Limits{})
		if got := details(err); got != want {
			t.Errorf("%s: got %q, want %q", item, got, want)
		}
	}
}

func assetRequest(state, assets string) []byte {
	return []byte(`{"state":` + state + `,"questions":{"q":{"type":"choice","instructions":"Is <a> like <aa>?","criteria":{"x<a>":["<a>"]}}},"assets":` + assets + `}`)
}

func TestAssets(t *testing.T) {
	small, other := pngOf(t, 3, 2), pngOf(t, 5, 5)
	parts := []BodyPart{{Name: "asset-0", Data: other}}
	inline := `{"type":"image","format":"jpg","data_base64":"` + b64(small) + `"}`
	r, err := ParseParts(assetRequest(`{"<a>":"see <a>!"}`, `{"<a>":`+inline+`,"<aa>":{"part":"asset-0","data_base64":null}}`), parts, Limits{})
	if err != nil {
		t.Fatal(details(err))
	}
	q := r.Questions[0]
	got := r.State.Render() + q.Instructions.Text + q.Options[0].Name + q.Options[0].Description.Render()
	if want := `{"<a>":"see [image 1]!"}Is [image 1] like [image 2]?x<a>["[image 1]"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !reflect.DeepEqual(r.Images, []Image{{small}, {other}}) {
		t.Errorf("got images %v, want both in order", len(r.Images))
	}
	for _, c := range []struct {
		name, assets string
		parts        []BodyPart
		reason       Reason
		want         string
	}{
		{"array", `[]`, nil, Invalid, "dict_type assets"},
		{"empty", `{}`, nil, Invalid, "too_short assets"},
		{"text", `{"<a>":"x"}`, nil, Invalid, "dict_type assets.<a>"},
		{"no data", `{"<a>":{"type":"image"}}`, nil, Invalid, "missing assets.<a>.data_base64"},
		{"video", `{"<a>":{"type":"video","data_base64":""}}`, nil, Invalid, "media_unsupported assets.<a>.type"},
		{"bad data", `{"<a>":{"data_base64":"AAAA"}}`, nil, Invalid, "image_invalid assets.<a>.data_base64"},
		{"absent part", `{"<a>":{"part":"p"}}`, parts, Invalid, "missing assets.<a>.part"},
		{"number part", `{"<a>":{"part":0}}`, parts, Invalid, "missing assets.<a>.part"},
		{"part is no image", `{"<a>":{"part":"p"}}`, []BodyPart{{"p", []byte("text")}}, Invalid, "image_invalid assets.<a>.part"},
		{"part sent twice", `{"<a>":{"part":"asset-0"}}`, append(parts, parts...), Invalid, "multipart_invalid body"},
		{"unclaimed part", `{"<a>":` + inline + `}`, parts, BadUsage, ""},
		{"part claimed twice", `{"<a>":{"part":"asset-0"},"<aa>":{"part":"asset-0"}}`, parts, BadUsage, ""},
		{"unused", `{"<a>":` + inline + `,"<b>":` + inline + `}`, nil, BadUsage, ""},
		{"empty reference", `{"":` + inline + `}`, nil, BadUsage, ""},
	} {
		_, err := ParseParts(assetRequest(`""`, c.assets), c.parts, Limits{})
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Reason != c.reason || c.want != "" && details(err) != c.want {
			t.Errorf("%s: got %q, want reason %v, %q", c.name, details(err), c.reason, c.want)
		}
	}
	if _, err := ParseParts([]byte(withImages()), parts, Limits{}); ReasonOf(err) != BadUsage {
		t.Errorf("part without assets: got %v, want BadUsage", err)
	}
}

func TestWebPIsRead(t *testing.T) {
	// A lossless WebP of one pixel.
	data, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseRequest([]byte(withImages(`"`+b64(data)+`"`)), Limits{})
	if err != nil || r.Images[0].Format() != "webp" {
		t.Errorf("got %v, want a webp image", err)
	}
}

func TestNothingIsOpened(t *testing.T) {
	name := t.TempDir() + "/a.png"
	if err := os.WriteFile(name, pngOf(t, 3, 2), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, item := range []string{name, "file://" + name} {
		if _, err := ParseRequest([]byte(withImages(`"`+item+`"`)), Limits{}); ReasonOf(err) != Invalid || err == nil {
			t.Errorf("%s: got %v, want Invalid", item, err)
		}
	}
}
