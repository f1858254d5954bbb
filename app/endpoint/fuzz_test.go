package endpoint

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"clefbar/app/worker"
)

// FuzzBody throws bodies at every route that reads one. The answer has to be JSON
// and never a 5xx. By hand: go test -run - -fuzz FuzzBody -fuzztime 200000x ./app/endpoint
func FuzzBody(f *testing.F) {
	for i := range 10 {
		path, body, _ := mixedRequest(i)
		f.Add(path, "application/json", "", []byte(body))
	}
	f.Add("/v1/systemone", "application/json", "zstd", zstdOf(f, []byte(noul)))
	f.Add("/v1/systemone", "application/json", "gzip", packed(f, []byte(noul), toGzip))
	f.Add("/v1/systemone", "application/json", "deflate", packed(f, []byte(noul), toZlib))
	f.Add("/v1/systemone", "multipart/form-data; boundary=B", "",
		[]byte("--B\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n"+noul+"\r\n--B--\r\n"))
	f.Add("/v1/decisions", "application/json", "", []byte(`{"input":[{"role":"user","content":[{"type":"input_json","data":[1e5]}]}],`+
		`"questions":[{"type":"choice","choices":[{"value":"true"},{"value":true}]},{"type":"score","levels":[{"label":"a"},{"label":"b"}]}]}`))
	f.Add("/client/v4/accounts/a/ai/run/@cf/cloudflare/clef-flash", "application/json", "", []byte(mixed))
	f.Add("/v1/systemone", "application/json", "", []byte(`{"state":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}],"assets":{"x":{}},"questions":{"x":{"type":"noul"}}}`))
	api := startWith(f, oneModel{model: &oracle{name: "oracle"}}, worker.Options{Depth: 64}, Options{}).api
	f.Fuzz(func(t *testing.T, path, kind, encoding string, body []byte) {
		req := httptest.NewRequestWithContext(t.Context(), "POST", "/", bytes.NewReader(body))
		req.URL = &url.URL{Path: path}
		req.Host = "localhost"
		req.Header.Set("Content-Type", kind)
		req.Header.Set("Content-Encoding", encoding)
		w := httptest.NewRecorder()
		api.ServeHTTP(w, req)
		answer, err := io.ReadAll(w.Result().Body)
		if err != nil {
			t.Fatal(err)
		}
		scripted := bytes.Contains(body, []byte("panic")) || bytes.Contains(body, []byte("odd")) || bytes.Contains(body, []byte("device"))
		if w.Code >= 500 && !scripted {
			t.Errorf("got %d %s", w.Code, answer)
		}
		if !json.Valid(answer) || w.Code == http.StatusOK && w.Header().Get("Server-Timing") == "" && path != "/" {
			t.Errorf("got %d %q", w.Code, answer)
		}
	})
}
