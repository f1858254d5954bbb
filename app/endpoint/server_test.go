package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"clefbar/app/worker"
	"clefbar/engine"
)

// oracle is a decider whose answers are a pure function of the state and of each
// question's text, so that a lost or crossed answer shows. A state can make it
// wait, fail or panic. The real engine answers in the tests of package main.
type oracle struct {
	name      string
	gate      chan struct{} // states that start with "wait" wait for it
	runs      atomic.Int32
	cancelled atomic.Int32
}

func (o *oracle) Info() engine.ModelInfo {
	return engine.ModelInfo{Name: o.name, Released: "2026-10-01", Description: "A test", Limit: 4096}
}
func (o *oracle) Close() error { return nil }

func (o *oracle) Decide(ctx context.Context, r *engine.Request) (*engine.Response, error) {
	o.runs.Add(1)
	state := r.State.Render()
	switch {
	case strings.HasPrefix(state, "wait"):
		select {
		case <-o.gate:
		case <-ctx.Done():
			o.cancelled.Add(1)
			return nil, ctx.Err()
		}
	case state == "panic":
		panic("secret state text")
	case state == "device":
		return nil, &engine.Error{Reason: engine.Device, Message: "kernel 7 broke"}
	case state == "odd":
		return nil, io.ErrUnexpectedEOF
	case len(state) > 8192:
		return nil, &engine.Error{Reason: engine.TooLong, Message: "too long", Needed: len(state), Limit: 4096}
	case len(r.Images) > 0:
		return nil, engine.InvalidAt("media_unsupported", []any{"images", 0}, "This model reads no images")
	}
	resp := &engine.Response{Model: o.name, Usage: engine.Usage{InputTokens: len(state)/4 + 1}}
	for _, q := range r.Questions {
		resp.Answers = append(resp.Answers, answer(state, q))
	}
	return resp, nil
}

// answer draws probabilities in steps of a millionth, with the fields that follow
// from them.
func answer(state string, q engine.Question) engine.Answer {
	a := engine.Answer{ID: q.ID, Kind: q.Kind}
	rest := 1_000_000
	for i, o := range q.Options {
		h := fnv.New32a()
		io.WriteString(h, state+"\x00"+q.Instructions.Render()+"\x00"+o.Name)
		part := int(h.Sum32()) % (rest + 1)
		if i == len(q.Options)-1 {
			part = rest
		}
		rest -= part
		a.Options = append(a.Options, o.Name)
		a.Probs = append(a.Probs, float64(part)/1e6)
		a.Legend = append(a.Legend, o.Description)
		a.Score += float64(i) * float64(part) / 1e6
		if a.Probs[i] > a.Probs[a.Best] {
			a.Best = i
		}
	}
	a.Noul, a.Score = a.Probs[0], math.Round(a.Score*1e6)/1e6
	a.Confidence = a.Probs[a.Best]
	return a
}

// oneModel is a shelf with the oracle under the name "oracle".
type oneModel struct {
	model *oracle
	door  chan struct{} // opening waits for it
}

func (s oneModel) Default(name string) bool {
	return name == "" || strings.EqualFold(name, "jev-latest")
}

func (s oneModel) Resolve(name string) (string, error) {
	switch strings.ToLower(name) {
	case "oracle", "clef-flash":
		return "oracle", nil
	case "clef":
		return "", &engine.Error{Reason: engine.NoModel, Message: "clef is not on this machine"}
	}
	return "", &engine.Error{Reason: engine.BadUsage, Message: "Unknown model: " + name}
}

func (s oneModel) Info(string) (engine.ModelInfo, bool) { return s.model.Info(), true }

func (s oneModel) Open(ctx context.Context, _ string, _ func(done, total int64)) (worker.Model, error) {
	if s.door != nil {
		select {
		case <-s.door:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.model, nil
}

// rig is a running server.
type rig struct {
	*httptest.Server
	model *oracle
	work  *worker.Worker
	api   *Server
}

func start(t testing.TB, opt Options) *rig {
	return startWith(t, oneModel{model: &oracle{name: "oracle", gate: make(chan struct{})}}, worker.Options{}, opt)
}

func startWith(t testing.TB, shelf oneModel, limits worker.Options, opt Options) *rig {
	t.Helper()
	w := worker.New(shelf, "oracle", limits)
	opt.Version = "test"
	if opt.List == nil {
		opt.List = func() []Listing {
			return []Listing{{"oracle", "A test", "2026-10-01"}, {"jev-latest", "Answered by oracle", "2026-10-01"}}
		}
	}
	api := New(w, opt)
	r := &rig{Server: httptest.NewServer(api), model: shelf.model, work: w, api: api}
	t.Cleanup(r.Close)
	return r
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// do sends a request with headers given as "Name: value".
func (r *rig) do(t testing.TB, method, path, body string, headers ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		switch name {
		case "":
		case "Host":
			req.Host = value
		case "Content-Type":
			req.Header.Del(name)
			if value != "" {
				req.Header.Set(name, value)
			}
		default:
			req.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return reply{resp.StatusCode, resp.Header, b}
}

// ask posts a System One request.
func (r *rig) ask(t testing.TB, body string, headers ...string) reply {
	t.Helper()
	return r.do(t, "POST", "/v1/systemone", body, headers...)
}

// tree decodes the body.
func (r reply) tree(t testing.TB) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(r.body, &v); err != nil {
		t.Fatalf("status %d, body %q: %v", r.status, r.body, err)
	}
	return v
}

// kind returns the error's type: error_type, or the type of the first detail.
func (r reply) kind(t testing.TB) string {
	t.Helper()
	switch d := r.tree(t)["detail"].(type) {
	case []any:
		first := d[0].(map[string]any)
		if loc := first["loc"].([]any); loc[0] != "body" {
			t.Errorf("loc starts with %v, want body", loc[0])
		}
		return first["type"].(string)
	case map[string]any:
		if d["message"] == "" {
			t.Error("the message is empty")
		}
		return d["error_type"].(string)
	}
	t.Fatalf("no detail in %s", r.body)
	return ""
}

const (
	noul  = `{"state":"hello","questions":{"q":{"type":"noul","instructions":"A greeting?"}}}`
	mixed = `{"model":"jev-latest","state":{"n":1.0},"x_nonce":1,"questions":{"z":{"type":"noul","instructions":null},` +
		`"a 한":{"type":"choice","criteria":{"b":null,"a":"<b> & c"}},"s":{"type":"score","criteria":["low",{"l":1},["high"]]}}}`
)

func TestAnswers(t *testing.T) {
	r := start(t, Options{})
	for _, path := range []string{"/v1/systemone", "/v1/systemone/", "/api/v1/systemone", "/api/alpha/decisions"} {
		got := r.do(t, "POST", path, mixed)
		if got.status != 200 {
			t.Fatalf("%s: got %d %s", path, got.status, got.body)
		}
		want := regexpLike(`{"model":"oracle","answers":{"z":{"type":"noul","noul":*},` +
			`"a 한":{"type":"choice","choice":"*","probabilities":{"b":*,"a":*},"confidence":*},` +
			`"s":{"type":"score","score":*,"legend":{"0":"low","1":{"l":1},"2":["high"]},"probabilities":{"0":*,"1":*,"2":*},"confidence":*}},` +
			`"usage":{"input_tokens":*,"output_tokens":0}}`)
		if !want.Match(got.body) {
			t.Errorf("%s: got %s", path, got.body)
		}
		for name, pattern := range map[string]string{
			"Content-Type": `^application/json$`, "X-Typesafe-Request-Id": `^req_[0-9a-f]{24}$`, "Cache-Control": `^no-store$`,
			"Server-Timing": `queue;dur=[0-9.]+, run;dur=[0-9.]+$`, "Server": `^clefbar/test$`,
		} {
			if !mustMatch(pattern, got.header.Get(name)) {
				t.Errorf("%s: header %s: got %q", path, name, got.header.Get(name))
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	r := start(t, Options{})
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	many := func(n int, each string) string { return strings.TrimSuffix(strings.Repeat(each+",", n), ",") }
	ask := func(q string) string { return `{"state":"x","questions":{"q":` + q + `}}` }
	for _, c := range []struct {
		name, body string
		status     int
		kind       string
	}{
		{"not JSON", `{not json`, 422, "json_invalid"},
		{"empty", ``, 422, "json_invalid"},
		{"array", `[]`, 422, "dict_type"},
		{"NaN", `{"state":[NaN],"questions":{}}`, 422, "json_invalid"},
		{"1e999", `{"state":[1e999],"questions":{}}`, 422, "json_invalid"},
		{"duplicate option", ask(`{"type":"choice","criteria":{"a":null,"a":null}}`), 422, "json_duplicate_key"},
		{"lone surrogate", `{"state":"\ud83d","questions":{}}`, 422, "json_invalid"},
		{"deep", `{"state":` + deep + `,"questions":{}}`, 422, "json_too_deep"},
		{"no state", `{"questions":{"q":{"type":"noul"}}}`, 422, "missing"},
		{"null state", `{"state":null,"questions":{"q":{"type":"noul"}}}`, 422, "union_type"},
		{"no questions", `{"state":"x","questions":{}}`, 422, "too_short"},
		{"list of questions", `{"state":"x","questions":[]}`, 422, "dict_type"},
		{"no type", ask(`{}`), 422, "union_tag_not_found"},
		{"box", ask(`{"type":"box"}`), 422, "union_tag_invalid"},
		{"score map", ask(`{"type":"score","criteria":{"0":"a"}}`), 422, "list_type"},
		{"null level", ask(`{"type":"score","criteria":["a",null]}`), 422, "union_type"},
		{"11 levels", ask(`{"type":"score","criteria":[` + many(11, `"a"`) + `]}`), 422, "too_long"},
		{"model 7", `{"model":7,"state":"x","questions":{"q":{"type":"noul"}}}`, 422, "string_type"},
		{"unknown model", `{"model":"nope","state":"x","questions":{"q":{"type":"noul"}}}`, 400, "api_usage_error"},
		{"absent model", `{"model":"clef","state":"x","questions":{"q":{"type":"noul"}}}`, 404, "model_not_found"},
		{"remote image", `{"state":"x","images":["http://127.0.0.1:1/x.png"],"questions":{"q":{"type":"noul"}}}`, 422, "image_remote"},
		{"path as image", `{"state":"x","images":["/etc/hosts"],"questions":{"q":{"type":"noul"}}}`, 422, "image_invalid"},
		{"too long", `{"state":"` + strings.Repeat("word ", 3000) + `","questions":{"q":{"type":"noul"}}}`, 413, "max_tokens_exceeded"},
		{"panic", `{"state":"panic","questions":{"q":{"type":"noul"}}}`, 500, "unknown"},
		{"odd error", `{"state":"odd","questions":{"q":{"type":"noul"}}}`, 500, "unknown"},
		{"device", `{"state":"device","questions":{"q":{"type":"noul"}}}`, 500, "device_failed"},
		{"one option", ask(`{"type":"choice","criteria":{"a":null}}`), 200, ""},
		{"one level", ask(`{"type":"score","criteria":["a"]}`), 200, ""},
		{"empty state", `{"state":"","questions":{"q":{"type":"noul"}}}`, 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := r.ask(t, c.body)
			if got.status != c.status {
				t.Fatalf("status: got %d, want %d: %s", got.status, c.status, got.body)
			}
			if c.status != 200 {
				if kind := got.kind(t); kind != c.kind {
					t.Errorf("kind: got %s, want %s: %s", kind, c.kind, got.body)
				}
			}
			if id := got.header.Get("x-typesafe-request-id"); !mustMatch(`^req_[0-9a-f]{24}$`, id) {
				t.Errorf("request id: got %q", id)
			}
			if bytes.Contains(got.body, []byte("secret")) || bytes.Contains(got.body, []byte("kernel 7")) {
				t.Errorf("the answer tells what went wrong inside: %s", got.body)
			}
		})
	}
}

func TestPathsAndMethods(t *testing.T) {
	r := start(t, Options{})
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/", 200, ""},
		{"GET", "/health", 200, ""},
		{"HEAD", "/health", 200, ""},
		{"GET", "/health/", 200, ""},
		{"GET", "/v1/models", 200, ""},
		{"HEAD", "/v1/models", 200, ""},
		{"GET", "/v1/systemone", 405, "POST"},
		{"HEAD", "/v1/systemone", 405, "POST"},
		{"OPTIONS", "/v1/systemone", 405, "POST"},
		{"DELETE", "/v1/models", 405, "GET, HEAD"},
		{"POST", "/health", 405, "GET, HEAD"},
		{"POST", "/nope", 404, ""},
		{"GET", "//v1/models", 404, ""},
		{"GET", "/v1/../v1/models", 404, ""},
		{"GET", "/v1/systemone/x", 404, ""},
		{"GET", "/client/v4/accounts/a/ai/run/@cf/cloudflare/clef", 405, "POST"},
		{"POST", "/client/v4/accounts/a/ai/run/@cf/cloudflare/other", 404, ""},
	} {
		got := r.do(t, c.method, c.path, "")
		if got.status != c.status || got.header.Get("Allow") != c.allow {
			t.Errorf("%s %s: got %d, Allow %q; want %d, %q", c.method, c.path, got.status, got.header.Get("Allow"), c.status, c.allow)
		}
		if ct := got.header.Get("Content-Type"); ct != "application/json" {
			t.Errorf("%s %s: Content-Type %q", c.method, c.path, ct)
		}
		if c.method == "HEAD" && len(got.body) > 0 {
			t.Errorf("HEAD %s has a body", c.path)
		}
	}
}

func TestHealthReadyModels(t *testing.T) {
	r := start(t, Options{})
	got := r.do(t, "GET", "/ready", "")
	if got.status != 503 || got.header.Get("Retry-After") == "" {
		t.Errorf("before loading: got %d, Retry-After %q; want 503 with one", got.status, got.header.Get("Retry-After"))
	}
	if got := r.ask(t, noul); got.status != 200 {
		t.Fatalf("ask: got %d", got.status)
	}
	if got := r.do(t, "GET", "/ready", ""); got.status != 200 {
		t.Errorf("after loading: got %d, want 200", got.status)
	}
	h := r.do(t, "GET", "/health", "").tree(t)
	if h["status"] != "ok" || h["model"] != "oracle" || h["loading"] != nil || h["queue"] != 0.0 || len(h["loaded"].([]any)) != 1 {
		t.Errorf("health: got %v", h)
	}
	m := r.do(t, "GET", "/v1/models", "").tree(t)
	first := m["models"].([]any)[0].(map[string]any)
	if first["name"] != "oracle" || first["release_date"] != "2026-10-01" || first["description"] == "" {
		t.Errorf("models: got %v", first)
	}
	if d := m["data"].([]any)[0].(map[string]any); m["object"] != "list" || d["id"] != "oracle" || d["object"] != "model" || d["created"] != 1790812800.0 {
		t.Errorf("data: got %v", d)
	}
}
