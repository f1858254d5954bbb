package endpoint

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"clefbar/app/worker"
)

// thrown is one request of the fuzzers.
type thrown struct {
	path, kind, encoding string
	body                 []byte
}

// seeds are requests of every form that there is.
func seeds(t testing.TB) []thrown {
	var all []thrown
	for i := range 10 {
		path, body, _ := mixedRequest(i)
		all = append(all, thrown{path, "application/json", "", []byte(body)})
	}
	const one = "/v1/systemone"
	return append(all,
		thrown{one, "application/json", "zstd", zstdOf(t, []byte(noul))},
		thrown{one, "application/json", "gzip", packed(t, []byte(noul), toGzip)},
		thrown{one, "application/json", "deflate", packed(t, []byte(noul), toZlib)},
		thrown{one, "multipart/form-data; boundary=B", "", []byte("--B\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n" + noul + "\r\n--B--\r\n")},
		thrown{"/v1/decisions", "application/json", "", []byte(`{"input":[{"role":"user","content":[{"type":"input_json","data":[1e5]}]}],` +
			`"questions":[{"type":"choice","choices":[{"value":"true"},{"value":true}]},{"type":"score","levels":[{"label":"a"},{"label":"b"}]}]}`)},
		thrown{"/client/v4/accounts/a/ai/run/@cf/cloudflare/clef-flash", "application/json", "", []byte(mixed)},
		thrown{one, "application/json", "", []byte(mixed)},
		thrown{one, "application/json", "", []byte(`{"state":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}],` +
			`"assets":{"x":{}},"x_mode":"independent","questions":{"x":{"type":"noul","criteria":{"true":null}}}}`)},
	)
}

func fuzzed(t testing.TB) *Server {
	return startWith(t, oneModel{model: &oracle{name: "oracle"}}, worker.Options{Depth: 64}, Options{}).api
}

// throw sends one request. The answer has to be JSON and never a 5xx, unless the
// body asks the oracle for one.
func (s *Server) throw(t *testing.T, x thrown) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), "POST", "/", bytes.NewReader(x.body))
	req.URL = &url.URL{Path: x.path}
	req.Host = "localhost"
	req.Header.Set("Content-Type", x.kind)
	req.Header.Set("Content-Encoding", x.encoding)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	scripted := bytes.Contains(x.body, []byte("panic")) || bytes.Contains(x.body, []byte("odd")) || bytes.Contains(x.body, []byte("device"))
	if w.Code >= 500 && !scripted {
		t.Errorf("got %d %s for %q", w.Code, w.Body, x.body)
	}
	if !json.Valid(w.Body.Bytes()) {
		t.Errorf("got %d, not JSON: %q for %q", w.Code, w.Body, x.body)
	}
	if w.Code == http.StatusOK && w.Header().Get("Server-Timing") == "" {
		t.Errorf("got 200 without Server-Timing for %q", x.body)
	}
}

// FuzzBody throws bodies at every route that reads one. By hand:
// go test -run - -fuzz FuzzBody -fuzztime 200000x ./app/endpoint
func FuzzBody(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s.path, s.kind, s.encoding, s.body)
	}
	api := fuzzed(f)
	f.Fuzz(func(t *testing.T, path, kind, encoding string, body []byte) {
		api.throw(t, thrown{path, kind, encoding, body})
	})
}

// TestMutatedBodies is the fuzzer's smaller sister for every run: the same 20,000
// mutations of the seeds each time.
func TestMutatedBodies(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 2_000
	}
	api, all := fuzzed(t), seeds(t)
	r := rand.New(rand.NewPCG(25, 33))
	for range n {
		x := all[r.IntN(len(all))]
		x.body = slices.Clone(x.body)
		for range 1 + r.IntN(4) {
			x.body = mutate(r, x.body, all)
		}
		if api.throw(t, x); t.Failed() {
			return
		}
	}
}

// pieces are what JSON parsers stumble over.
var pieces = []string{
	`"`, `{`, `}`, `[`, `]`, `,`, `:`, `null`, `true`, `-0.0`, `1e999`, `NaN`, `\ud83d`, `\u0000`, "\xff", "\xed\xa0\x80",
	`"questions":{`, `"state":[`, `"type":"score"`, `"criteria":null`, `"images":["data:,"]`, `"model":{}`, `"assets":{"":{}}`,
}

// mutate changes a body in one place.
func mutate(r *rand.Rand, b []byte, all []thrown) []byte {
	if len(b) == 0 {
		return []byte(pieces[r.IntN(len(pieces))])
	}
	at := r.IntN(len(b))
	end := min(len(b), at+1+r.IntN(30))
	switch r.IntN(6) {
	case 0:
		b[at] ^= 1 << r.IntN(8)
		return b
	case 1:
		return slices.Delete(b, at, end)
	case 2:
		return slices.Insert(b, at, b[at:end]...)
	case 3:
		return slices.Insert(b, at, []byte(pieces[r.IntN(len(pieces))])...)
	case 4:
		return b[:at]
	}
	other := all[r.IntN(len(all))].body
	from := r.IntN(len(other))
	return slices.Insert(b, at, other[from:min(len(other), from+40)]...)
}
