package remote

import (
	"math"
	"net/http"
	"testing"
)

// FuzzReadResponse: whatever a server sends, nothing panics, and what is believed is
// an answer to every question, with probabilities that sum to 1.
func FuzzReadResponse(f *testing.F) {
	r := parse(f, body)
	f.Add(decide(r).JSON(), 200)
	f.Add([]byte(`{"result":{"answers":{"urgent":{"type":"noul","noul":1e-300}}},"success":true}`), 200)
	f.Add([]byte(`{"detail":[{"loc":["body",1,"x"],"msg":"m","type":"t"}]}`), 422)
	f.Add([]byte(`{"detail":{"error_type":"model_loading","message":"12 of 13"}}`), 529)
	f.Add([]byte(`{"errors":[{"code":1,"message":"m"}]}`), 413)
	f.Add([]byte("<html>"), 502)
	d, err := New(Options{URL: "http://127.0.0.1:1"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, status int) {
		got := &reply{status: status, header: http.Header{"Server-Timing": {string(data)}}, body: data}
		if err := d.refusal(got); err.Error() == "" {
			t.Errorf("%d %q: the error says nothing", status, data)
		}
		_, _ = readModels(got)
		response, err := readResponse(r, got)
		if err != nil {
			return
		}
		response.JSON() // panics where a number is not finite
		if len(response.Answers) != len(r.Questions) {
			t.Fatalf("%q: got %d answers", data, len(response.Answers))
		}
		for _, a := range response.Answers {
			sum := 0.0
			for _, p := range a.Probs {
				sum += p
			}
			if math.Abs(sum-1) > 1e-9 || a.Best >= len(a.Options) {
				t.Fatalf("%q: got %+v", data, a)
			}
		}
	})
}
