package endpoint

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"clefbar/engine"

	"github.com/klauspost/compress/zstd"
)

func zstdOf(t testing.TB, data []byte) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	return e.EncodeAll(data, nil)
}

// packed compresses data with a writer from the standard library.
func packed(t testing.TB, data []byte, open func(io.Writer) io.WriteCloser) []byte {
	t.Helper()
	var b bytes.Buffer
	w := open(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func toGzip(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }
func toZlib(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }
func toFlate(w io.Writer) io.WriteCloser {
	f, err := flate.NewWriter(w, 6)
	if err != nil {
		panic(err)
	}
	return f
}

func TestEncodings(t *testing.T) {
	r := start(t, Options{Limits: engine.Limits{Body: 1 << 20}})
	plain := r.ask(t, noul)
	z, g := zstdOf(t, []byte(noul)), packed(t, []byte(noul), toGzip)
	skippable := append([]byte{0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0}, "abc"...)
	rle := zstdOf(t, bytes.Repeat([]byte{' '}, 2<<20)) // a bomb: 2 MiB from a few bytes
	for _, c := range []struct {
		name, encoding string
		body           []byte
		status         int
		kind           string
	}{
		{"zstd", "zstd", z, 200, ""},
		{"ZSTD", "ZSTD", z, 200, ""},
		{"gzip", "gzip", g, 200, ""},
		{"zlib", "deflate", packed(t, []byte(noul), toZlib), 200, ""},
		{"bare deflate", "deflate", packed(t, []byte(noul), toFlate), 200, ""},
		{"identity", "identity", []byte(noul), 200, ""},
		{"two frames", "zstd", append(zstdOf(t, []byte(noul[:20])), zstdOf(t, []byte(noul[20:]))...), 200, ""},
		{"skippable frame", "zstd", append(skippable, z...), 200, ""},
		{"17 frames", "zstd", append(bytes.Repeat(zstdOf(t, []byte(" ")), 16), z...), 422, "encoding_invalid"},
		{"many skippable frames", "zstd", bytes.Repeat(skippable, 50_000), 422, "encoding_invalid"},
		{"cut zstd", "zstd", z[:len(z)-3], 422, "encoding_invalid"},
		{"no zstd", "zstd", []byte(noul), 422, "encoding_invalid"},
		{"empty zstd", "zstd", nil, 422, "encoding_invalid"},
		{"rubbish after zstd", "zstd", append(bytes.Clone(z), "rubbish"...), 422, "encoding_invalid"},
		{"wrong checksum", "zstd", flip(z, len(z)-1), 422, "encoding_invalid"},
		{"huge window", "zstd", []byte{0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xF8, 0x01, 0x00, 0x00}, 422, "encoding_invalid"},
		{"zstd bomb", "zstd", rle, 413, "request_too_large"},
		{"gzip bomb", "gzip", packed(t, make([]byte, 2<<20), toGzip), 413, "request_too_large"},
		{"deflate bomb", "deflate", packed(t, make([]byte, 2<<20), toZlib), 413, "request_too_large"},
		{"cut gzip", "gzip", g[:len(g)-9], 422, "encoding_invalid"},
		{"no gzip", "gzip", []byte(noul), 422, "encoding_invalid"},
		{"no deflate", "deflate", []byte{0xFF, 0xFF}, 422, "encoding_invalid"},
		{"br", "br", []byte(noul), 415, "unsupported_media_type"},
		{"two encodings", "gzip, zstd", z, 415, "unsupported_media_type"},
		{"large", "", make([]byte, 2<<20), 413, "request_too_large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := r.ask(t, string(c.body), "Content-Encoding: "+c.encoding, "Content-Type: application/json")
			if got.status != c.status {
				t.Fatalf("status: got %d, want %d: %s", got.status, c.status, got.body)
			}
			if c.status == 200 && !bytes.Equal(got.body, plain.body) {
				t.Errorf("got %s, want %s", got.body, plain.body)
			}
			if c.status != 200 && got.kind(t) != c.kind {
				t.Errorf("kind: got %s, want %s", got.body, c.kind)
			}
		})
	}
}

func flip(b []byte, at int) []byte {
	c := bytes.Clone(b)
	c[at] ^= 0xFF
	return c
}

// TestLargeBodyIsAnsweredNotReset sends more than is allowed without a length and
// with one: the client has to see the 413.
func TestLargeBodyIsAnsweredNotReset(t *testing.T) {
	r := start(t, Options{Limits: engine.Limits{Body: 1 << 20}})
	for _, length := range []int64{-1, 8 << 20} {
		req, err := http.NewRequestWithContext(t.Context(), "POST", r.URL+"/v1/systemone", io.LimitReader(zeros{}, 8<<20))
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = length
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatalf("length %d: %v", length, err)
		}
		resp.Body.Close()
		if resp.StatusCode != 413 {
			t.Errorf("length %d: got %d, want 413", length, resp.StatusCode)
		}
	}
	if got := r.ask(t, noul); got.status != 200 {
		t.Errorf("the next request: got %d", got.status)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestShortBody(t *testing.T) {
	r := start(t, Options{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /v1/systemone HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{")
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(conn) // the server may answer or hang up; it must not hang
	conn.Close()
	if bytes.Contains(answer, []byte(" 500 ")) {
		t.Errorf("got %s", answer)
	}
	if got := r.ask(t, noul); got.status != 200 {
		t.Errorf("the next request: got %d", got.status)
	}
}

func TestMultipart(t *testing.T) {
	r := start(t, Options{})
	part := func(name, kind, content string) string {
		return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"; filename=\"f\"\r\nContent-Type: " + kind + "\r\n\r\n" + content + "\r\n"
	}
	request := func(assets string) string {
		return part("request", "application/json", `{"state":"<image:1>","questions":{"q":{"type":"noul"}}`+assets+`}`)
	}
	claim := `,"assets":{"<image:1>":{"type":"image","part":"asset-0"}}`
	png := part("asset-0", "application/octet-stream", string(pngOf(8, 4)))
	const form = "multipart/form-data; boundary=B"
	for _, c := range []struct {
		name, kind, body string
		status           int
		want             string
	}{
		{"no image", form, request("") + "--B--\r\n", 200, ""},
		{"image for a text model", form, request(claim) + png + "--B--\r\n", 422, "media_unsupported"},
		{"absent part", form, request(claim) + "--B--\r\n", 422, "missing"},
		{"unclaimed part", form, request("") + png + "--B--\r\n", 400, "api_usage_error"},
		{"no request", form, png + "--B--\r\n", 422, "missing"},
		{"request twice", form, request("") + request("") + "--B--\r\n", 422, "multipart_invalid"},
		{"part twice", form, request(claim) + png + png + "--B--\r\n", 422, "multipart_invalid"},
		{"no boundary", "multipart/form-data", request(""), 422, "multipart_invalid"},
		{"wrong boundary", "multipart/form-data; boundary=C", request("") + "--B--\r\n", 422, "multipart_invalid"},
		{"cut off", form, request(""), 422, "multipart_invalid"},
		{"no name", form, "--B\r\n\r\nx\r\n" + request("") + "--B--\r\n", 422, "multipart_invalid"},
		{"many parts", form, request("") + strings.Repeat(part("a", "text/plain", "x"), 1) + manyParts(40) + "--B--\r\n", 422, "multipart_invalid"},
		{"not an image", form, request(claim) + part("asset-0", "image/png", "text") + "--B--\r\n", 422, "image_invalid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := r.ask(t, c.body, "Content-Type: "+c.kind)
			if got.status != c.status || c.want != "" && got.kind(t) != c.want {
				t.Errorf("got %d %s, want %d %s", got.status, got.body, c.status, c.want)
			}
		})
	}
	z := zstdOf(t, []byte(request("")+"--B--\r\n"))
	if got := r.ask(t, string(z), "Content-Type: "+form, "Content-Encoding: zstd"); got.status != 200 {
		t.Errorf("compressed multipart: got %d %s", got.status, got.body)
	}
	if got := r.do(t, "POST", "/v1/decisions", request("")+"--B--\r\n", "Content-Type: "+form); got.status != 415 {
		t.Errorf("multipart to /v1/decisions: got %d, want 415", got.status)
	}
}

func manyParts(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "--B\r\nContent-Disposition: form-data; name=\"p%d\"\r\n\r\nx\r\n", i)
	}
	return b.String()
}

func TestCountFrames(t *testing.T) {
	for _, content := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte("ab"), 300_000), make([]byte, 1<<20)} {
		z := zstdOf(t, content)
		if n, err := countFrames(append(bytes.Clone(z), z...)); n != 2 || err != nil {
			t.Errorf("%d bytes twice: got %d, %v; want 2", len(content), n, err)
		}
		for cut := range min(len(z), 64) {
			if n, err := countFrames(z[:cut]); cut > 0 && err == nil {
				t.Errorf("%d of %d bytes: got %d frames, want an error", cut, len(z), n)
			}
		}
	}
	lying := binary.LittleEndian.AppendUint32([]byte{0x50, 0x2A, 0x4D, 0x18}, 0xFFFFFFFF)
	if _, err := countFrames(lying); err == nil {
		t.Error("a skippable frame longer than the data: no error")
	}
}

// Large bodies beyond the places that there are wait, and small ones pass them.
func TestLargeBodiesAreTakenInFewAtATime(t *testing.T) {
	r := start(t, Options{})
	for range largeAtOne {
		r.api.large <- struct{}{}
	}
	large := r.send(t.Context(), question("hello"+strings.Repeat(" ", largeBody)))
	if got := r.ask(t, noul); got.status != 200 {
		t.Errorf("a small request beside full places: got %d", got.status)
	}
	select {
	case got := <-large:
		t.Fatalf("a large request without a place: got %d", got)
	case <-time.After(50 * time.Millisecond):
	}
	<-r.api.large
	if got := <-large; got != 413 { // too many tokens for the oracle, but taken in
		t.Errorf("a large request with a place: got %d, want 413", got)
	}
}
