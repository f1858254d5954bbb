package remote

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clefbar/engine"
	"clefbar/engine/answer"
)

const body = `{"state":{"t":"I was charged twice."},"questions":{"urgent":{"type":"noul","instructions":"Is it?"},
	"team":{"type":"choice","criteria":{"tech":null,"billing":"money","x":["y"]}},"anger":{"type":"score","criteria":["calm",{"k":1.50},"angry"]}},"x_ids":"neutral"}`

func parse(t testing.TB, json string) *engine.Request {
	t.Helper()
	r, err := engine.ParseRequest([]byte(json), engine.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var _ engine.Decider = (*Decider)(nil)

// decide is a server's model: numbers that depend on the question's text only.
func decide(r *engine.Request) *engine.Response {
	out := &engine.Response{Model: "clef-flash", Usage: engine.Usage{InputTokens: 304}, Practice: true, Truncated: 3}
	for i := range r.Questions {
		q := &r.Questions[i]
		var p []float64
		for k := range max(2, len(q.Options)) {
			h := fnv.New32a()
			fmt.Fprint(h, q.ID, k)
			p = append(p, float64(h.Sum32()%1000+1))
		}
		out.Answers = append(out.Answers, answer.FromProbabilities(q, p))
	}
	return out
}

func serve(t testing.TB, h http.HandlerFunc) (*Decider, *httptest.Server) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	d, err := New(Options{URL: server.URL, Key: "secret", Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return d, server
}

func TestDecide(t *testing.T) {
	d, _ := serve(t, func(w http.ResponseWriter, req *http.Request) {
		data, _ := io.ReadAll(req.Body)
		r, err := engine.ParseRequest(data, engine.Limits{})
		if err != nil || req.Method != http.MethodPost || req.URL.Path != "/v1/systemone" || req.Header.Get("Authorization") != "Bearer secret" ||
			req.Header.Get("Content-Type") != "application/json" || r.Model != "jev-latest" || !r.NeutralIDs {
			http.Error(w, fmt.Sprint("bad request ", err, req.Header), http.StatusTeapot)
			return
		}
		w.Header().Set("Server-Timing", "load;dur=12.5, queue;dur=1, run;dur=250, x;desc=y")
		w.Write(decide(r).JSON())
	})
	r := parse(t, body)
	got, err := d.Decide(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	want := decide(r)
	if string(got.JSON()) != string(want.JSON()) {
		t.Errorf("got  %s\nwant %s", got.JSON(), want.JSON())
	}
	for i, a := range got.Answers {
		if !reflect.DeepEqual(a.Options, want.Answers[i].Options) || !reflect.DeepEqual(a.Legend, want.Answers[i].Legend) {
			t.Errorf("answer %d: got %+v, want %+v", i, a, want.Answers[i])
		}
	}
	timing := got.Timing
	if timing.Load != 12500*time.Microsecond || timing.Queue != time.Millisecond || timing.Prefill != 250*time.Millisecond || timing.Total <= 0 {
		t.Errorf("got timing %+v", timing)
	}
	if r.Model != "" {
		t.Errorf("the request was changed: %+v", r)
	}
}

func TestCoarseAnswersAreTaken(t *testing.T) {
	for name, c := range map[string]struct{ answers, choice string }{
		"two decimals": {`"urgent":{"type":"noul","noul":1},"team":{"type":"choice","choice":"x","probabilities":{"x":0.33,"billing":0.33,"tech":0.33}},"anger":{"type":"score","score":1,"probabilities":{"0":0.33,"1":0.33,"2":0.33}}`, "x"},
		"other order":  {`"anger":{"type":"score","score":1e0,"probabilities":{"2":0,"1":1,"0":0}},"team":{"type":"choice","choice":"billing","probabilities":{"billing":0.5,"tech":0.5,"x":0}},"urgent":{"type":"noul","noul":1e-07,"confidence":1}`, "billing"},
		"near tie":     {`"urgent":{"type":"noul","noul":0},"team":{"type":"choice","choice":"x","probabilities":{"tech":0.4001,"billing":0.2,"x":0.3999}},"anger":{"type":"score","score":0,"probabilities":{"0":1,"1":0,"2":0}}`, "tech"},
	} {
		for _, form := range []string{`{"answers":{%s},"model":"m"}`, `{"result":{"model":"m","answers":{%s},"usage":{"input_tokens":12.0}},"success":true,"errors":[]}`} {
			d, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, form, c.answers) })
			got, err := d.Decide(t.Context(), parse(t, body))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if a := got.Answers[1]; a.Options[a.Best] != c.choice || got.Model != "m" {
				t.Errorf("%s: got %q by %q, want %q", name, a.Options[a.Best], got.Model, c.choice)
			}
		}
	}
}

func TestNonsenseIsRefused(t *testing.T) {
	good := `"urgent":{"type":"noul","noul":0.5},"team":{"type":"choice","choice":"x","probabilities":{"x":0.5,"billing":0.25,"tech":0.25}},"anger":{"type":"score","score":1,"probabilities":{"0":0.25,"1":0.5,"2":0.25}}`
	for _, c := range []struct{ old, new, want string }{
		{``, ``, ""},
		{`"noul":0.5`, `"noul":1.5`, "answers.urgent: noul: 1.5 is not a probability"},
		{`"noul":0.5`, `"noul":-0.1`, "not a probability"},
		{`"noul":0.5`, `"noul":NaN`, "NaN"},
		{`"noul":0.5`, `"noul":1e999`, "too large"},
		{`"noul":0.5`, `"noul":"0.5"`, "a string, not a number"},
		{`"noul":0.5`, `"noul":null`, "null, not a number"},
		{`"noul":0.5`, `"p":0.5`, "missing"},
		{`"type":"noul"`, `"type":"choice"`, `the type is "choice"`},
		{`"urgent":{"type":"noul","noul":0.5},`, ``, "3 questions have 2 answers"},
		{`"urgent"`, `"other"`, "answers.urgent: it is missing"},
		{`"urgent"`, `"more":{"type":"noul","noul":0},"urgent"`, "4 answers"},
		{`"urgent"`, `"team"`, "appears twice"},
		{`"choice":"x"`, `"choice":"z"`, "choice: it is none of the options"},
		{`"choice":"x"`, `"choice":"billing"`, "not the most probable"},
		{`"choice":"x"`, `"choice":0`, "none of the options"},
		{`"tech":0.25`, `"z":0.25`, "probabilities.tech: it is missing"},
		{`"tech":0.25`, `"tech":0.25,"z":0`, "3 options were asked about, 4 are there"},
		{`"tech":0.25`, `"tech":0.35`, "they sum to 1.1"},
		{`"x":0.5,"billing":0.25,"tech":0.25`, `"x":0,"billing":0,"tech":0`, "they sum to 0"},
		{`"probabilities":{"x"`, `"p":{"x"`, "0 are there"},
		{`"score":1`, `"score":1.9`, "does not follow"},
		{`"score":1`, `"score":null`, "score: it is null"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		d, server := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"model":"m","answers":{%s}}`, text) })
		_, err := d.Decide(t.Context(), parse(t, body))
		if c.want == "" {
			if err != nil {
				t.Errorf("good: %v", err)
			}
			continue
		}
		if engine.ReasonOf(err) != engine.Unreachable || !strings.Contains(fmt.Sprint(err), c.want) || !strings.Contains(err.Error(), strings.TrimPrefix(server.URL, "http://")) {
			t.Errorf("%s: got %v, want %q", c.new, err, c.want)
		}
	}
	for _, text := range []string{``, `null`, `[]`, `{}`, `{"answers":[]}`, `<html>hello</html>`, strings.Repeat("[", 100)} {
		d, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) })
		if _, err := d.Decide(t.Context(), parse(t, body)); err == nil || engine.ReasonOf(err) != engine.Unreachable {
			t.Errorf("%q: got %v, want Unreachable", text, err)
		}
	}
}

func TestManyOptionsThatAllRoundToZero(t *testing.T) {
	var asked, said strings.Builder
	for i := range 255 {
		fmt.Fprintf(&asked, `,"o%d":null`, i)
		fmt.Fprintf(&said, `,"o%d":0.00`, i)
	}
	d, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"answers":{"q":{"type":"choice","choice":"o0","probabilities":{%s}}}}`, said.String()[1:])
	})
	_, err := d.Decide(t.Context(), parse(t, `{"state":"","questions":{"q":{"type":"choice","criteria":{`+asked.String()[1:]+`}}}}`))
	if engine.ReasonOf(err) != engine.Unreachable {
		t.Errorf("got %v, want Unreachable", err)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   engine.Reason
		says   string
	}{
		{422, `{"detail":[{"loc":["body","questions","q","score","criteria",1],"msg":"no null","type":"union_type"},{"loc":["body","state"],"msg":"m","type":"t"}]}`, engine.Invalid, "questions.q.score.criteria.1: no null"},
		{422, `{"error":{"message":"questions.q is wrong","type":"invalid_request_error","param":"questions.q"}}`, engine.Invalid, "questions.q is wrong"},
		{422, `not json`, engine.Invalid, "not json"},
		{422, `{"detail":[` + strings.Repeat(`{"loc":["body",5,"x"],"msg":"m"},`, 999) + `{}]}`, engine.Invalid, "5.x: m"},
		{400, `{"detail":"` + strings.Repeat("é", 99_999) + `"}`, engine.BadUsage, "é…"},
		{400, `{"detail":{"error_type":"api_usage_error","message":"Unknown model: x"}}`, engine.BadUsage, "Unknown model: x"},
		{400, `{"success":false,"errors":[{"code":5006,"message":"no questions"}]}`, engine.BadUsage, "no questions"},
		{401, `{"detail":{"error_type":"authentication_error","message":"Invalid API key"}}`, engine.BadUsage, "Invalid API key"},
		{403, ``, engine.BadUsage, "status 403"},
		{404, `{"detail":{"error_type":"model_not_found","message":"not downloaded"}}`, engine.NoModel, "not downloaded"},
		{404, `{"detail":"Not Found"}`, engine.Unreachable, "Not Found"},
		{405, ``, engine.Unreachable, "405"},
		{413, `{"detail":{"error_type":"max_tokens_exceeded","message":"The request needs 66254 tokens; the limit is 16384"}}`, engine.TooLong, "66254"},
		{413, `{"detail":{"error_type":"request_too_large","message":"The body is over 32 MiB"}}`, engine.BadUsage, "32 MiB"},
		{500, `{"detail":{"error_type":"unknown","message":"something broke"}}`, engine.Failed, "something broke"},
		{502, "<html><h1>Bad gateway</h1>", engine.Unreachable, "a web page"},
		{504, `{"error":"timeout"}`, engine.Unreachable, "timeout"},
		{301, ``, engine.Unreachable, "301"},
	} {
		calls := 0
		d, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			calls++
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		})
		_, err := d.Decide(t.Context(), parse(t, body))
		if engine.ReasonOf(err) != c.want || !strings.Contains(fmt.Sprint(err), c.says) || calls != 1 {
			t.Errorf("%d %s: got reason %v %q after %d calls, want %v with %q", c.status, c.body, engine.ReasonOf(err), err, calls, c.want, c.says)
			continue
		}
		e, ok := errors.AsType[*engine.Error](err)
		if !ok || (len(e.Details) > 0) != (c.want == engine.Invalid) || len(e.Details) > mostDetails || len(e.Message) > 2*mostBytes {
			t.Errorf("%d: got %q with details %v", c.status, e.Message, e.Details)
		}
		if c.want == engine.TooLong && (e.Needed != 66254 || e.Limit != 16384) {
			t.Errorf("got %d of %d tokens, want 66254 of 16384", e.Needed, e.Limit)
		}
	}
}

func TestBusyServersAreAskedAgain(t *testing.T) {
	for _, c := range []struct {
		status, times int
		header, value string
		body          string
		calls         int
		want          engine.Reason
	}{
		{529, 2, "Retry-After", "0", ``, 3, 0},
		{429, 1, "retry-after-ms", "20", ``, 2, 0},
		{503, 2, "Retry-After", time.Now().UTC().Format(http.TimeFormat), ``, 3, 0},
		{529, 9, "retry-after-ms", "1", ``, 3, engine.Loading},
		{503, 9, "retry-after-ms", "1", `{"detail":{"error_type":"model_loading","message":"loading"}}`, 3, engine.Loading},
		{503, 9, "retry-after-ms", "1", `{"detail":{"error_type":"unavailable","message":"bye"}}`, 3, engine.Busy},
		{429, 9, "retry-after-ms", "1", ``, 3, engine.Busy},
		{429, 9, "Retry-After", "3600", ``, 1, engine.Busy},
		{429, 9, "Retry-After", "1e300", ``, 1, engine.Busy},
	} {
		calls := 0
		d, _ := serve(t, func(w http.ResponseWriter, req *http.Request) {
			data, _ := io.ReadAll(req.Body)
			if calls++; calls <= c.times {
				w.Header().Set(c.header, c.value)
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
				return
			}
			r, _ := engine.ParseRequest(data, engine.Limits{})
			w.Write(decide(r).JSON())
		})
		_, err := d.Decide(t.Context(), parse(t, body))
		if calls != c.calls || (err == nil) != (c.want == 0) || err != nil && engine.ReasonOf(err) != c.want {
			t.Errorf("%d %s: %s: got %v after %d calls, want reason %v after %d", c.status, c.header, c.value, err, calls, c.want, c.calls)
		}
	}
}

func TestPauseWithoutAWord(t *testing.T) {
	var calls atomic.Int32
	d, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { calls.Add(1); w.WriteHeader(503) })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := d.Decide(ctx, parse(t, body))
	if !errors.Is(err, context.DeadlineExceeded) || calls.Load() != 1 || time.Since(start) > time.Second {
		t.Errorf("got %v after %d calls, want the end of the context in the first pause", err, calls.Load())
	}
}

func TestCancelAndTimeout(t *testing.T) {
	release := make(chan struct{})
	d, _ := serve(t, func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-req.Context().Done():
		case <-release:
		}
	})
	t.Cleanup(func() { close(release) })
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(30*time.Millisecond, cancel)
	if _, err := d.Decide(ctx, parse(t, body)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	d.opt.Timeout = 30 * time.Millisecond
	if _, err := d.Decide(t.Context(), parse(t, body)); engine.ReasonOf(err) != engine.Unreachable || !strings.Contains(err.Error(), "did not answer within 30ms") {
		t.Errorf("got %v, want Unreachable", err)
	}
}

func TestNobodyThere(t *testing.T) {
	_, server := serve(t, func(http.ResponseWriter, *http.Request) {})
	server.Close()
	d, err := New(Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Decide(t.Context(), parse(t, body)); engine.ReasonOf(err) != engine.Unreachable || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %v, want Unreachable", err)
	}
}

func TestEndlessAnswer(t *testing.T) {
	d, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for chunk := make([]byte, 1<<20); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	if _, err := d.Decide(t.Context(), parse(t, body)); engine.ReasonOf(err) != engine.Unreachable {
		t.Errorf("got %v, want Unreachable", err)
	}
}

func TestRoutes(t *testing.T) {
	for text, want := range map[string][2]string{
		"http://127.0.0.1:2533":                          {"http://127.0.0.1:2533/v1/systemone", "http://127.0.0.1:2533/v1/models"},
		"http://127.0.0.1:2533/":                         {"http://127.0.0.1:2533/v1/systemone", "http://127.0.0.1:2533/v1/models"},
		"https://x.example/v1/":                          {"https://x.example/v1/systemone", "https://x.example/v1/models"},
		"https://x.example/api/v1/systemone":             {"https://x.example/api/v1/systemone", "https://x.example/api/v1/models"},
		"https://x.example/api?key=1#f":                  {"https://x.example/api/v1/systemone", "https://x.example/api/v1/models"},
		"https://c.example/acc/1/ai/run/@cf/cloudf/clef": {"https://c.example/acc/1/ai/run/@cf/cloudf/clef", ""},
	} {
		d, err := New(Options{URL: text})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		models := ""
		if d.models != nil {
			models = d.models.String()
		}
		if got := [2]string{d.route.String(), models}; got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"", "127.0.0.1:2533", "ftp://x", "http://", "file:///etc", "http://user:pw@host", "clef-flash", "http://[::1"} {
		if _, err := New(Options{URL: text}); err == nil || engine.ReasonOf(err) != engine.BadUsage {
			t.Errorf("%q: got %v, want BadUsage", text, err)
		}
	}
}

func TestModels(t *testing.T) {
	for text, want := range map[string]string{
		`{"models":[{"name":"clef-flash","description":"d","release_date":"2026-10-01"},{"name":""},5],"data":[{"id":"x"}]}`: "clef-flash d 2026-10-01",
		`{"object":"list","data":[{"id":"clef"}]}`: "clef  ",
		`{"models":[]}`: "",
		`{"models":{}}`: "error",
		`[]`:            "error",
	} {
		d, server := serve(t, func(w http.ResponseWriter, req *http.Request) {
			if req.Method != http.MethodGet || req.URL.Path != "/v1/models" {
				w.WriteHeader(404)
			}
			io.WriteString(w, text)
		})
		models, err := d.Models(t.Context())
		got := ""
		for _, m := range models {
			got += m.Name + " " + m.Description + " " + m.Released
			if !m.ServerSide || m.Path != server.URL {
				t.Errorf("got %+v, want a model of %s", m, server.URL)
			}
		}
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: got %q and %v, want %q", text, got, err, want)
		}
	}
	d, err := New(Options{URL: "https://c.example/ai/run/@cf/cloudflare/clef", Model: "clef"})
	if err != nil {
		t.Fatal(err)
	}
	if models, err := d.Models(t.Context()); err != nil || len(models) != 1 || models[0].Name != "clef" {
		t.Errorf("got %v, %v, want the model that was given", models, err)
	}
}
