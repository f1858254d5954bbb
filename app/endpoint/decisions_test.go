package endpoint

import (
	"encoding/base64"
	"strings"
	"testing"
)

// failureOf returns what an OpenAI client puts on its exception.
func (r reply) failureOf(t *testing.T) (kind, param string) {
	t.Helper()
	e, ok := r.tree(t)["error"].(map[string]any)
	if !ok || e["message"] == "" {
		t.Fatalf("no error in %s", r.body)
	}
	param, _ = e["param"].(string)
	return e["type"].(string), param
}

func TestDecisions(t *testing.T) {
	r := start(t, Options{})
	got := r.do(t, "POST", "/v1/decisions", `{"model":"jev-latest","safety_identifier":"x","input":[
		{"role":"user","content":[{"type":"input_text","text":"Hi","detail":1},{"type":"input_json","data":{"plan":"pro"}}]},
		{"type":"function_call","call_id":"c1","name":"look","arguments":"{}"},
		{"type":"function_call_output","call_id":"c1","output":"42"}],
		"questions":[{"type":"predicate","name":"refund","instructions":[{"type":"input_text","text":"Refund?"}]},
		{"type":"choice","instructions":"Team?","choices":[{"value":"billing"},{"value":true,"description":"yes"},{"value":"true"}]},
		{"type":"score","name":"refund","instructions":"Anger?","levels":[{"label":"calm"},{"label":"angry","description":"shouts"}]}]}`)
	want := regexpLike(`{"model":"oracle","answers":[{"type":"predicate","name":"refund","probability":*},` +
		`{"type":"choice","name":null,"choice":*,"confidence":*,"probabilities":[{"value":"billing","probability":*},{"value":true,"probability":*},{"value":"true","probability":*}]},` +
		`{"type":"score","name":"refund","score":*,"confidence":*,"probabilities":[{"label":"calm","value":0,"probability":*},{"label":"angry","value":1,"probability":*}]}],` +
		`"usage":{"input_tokens":*,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"output_tokens":0,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":*}}`)
	if got.status != 200 || !want.Match(got.body) {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

func TestDecisionRefusals(t *testing.T) {
	r := start(t, Options{})
	one := func(q string) string { return `{"input":"x","questions":[` + q + `]}` }
	in := func(item string) string { return `{"input":[` + item + `],"questions":[{"type":"predicate"}]}` }
	picture := "data:image/png;base64," + base64.StdEncoding.EncodeToString(pngOf(8, 4))
	for _, c := range []struct {
		body   string
		status int
		param  string
	}{
		{`{`, 400, ""},
		{`[]`, 400, ""},
		{`{"questions":[{"type":"predicate"}]}`, 400, "input"},
		{`{"input":7,"questions":[{"type":"predicate"}]}`, 400, "input"},
		{`{"input":"x"}`, 400, "questions"},
		{`{"input":"x","questions":[]}`, 400, "questions"},
		{`{"input":"x","questions":[` + strings.TrimSuffix(strings.Repeat(`{"type":"predicate"},`, 401), ",") + `]}`, 400, "questions"},
		{`{"model":7,"input":"x","questions":[{"type":"predicate"}]}`, 400, "model"},
		{`{"model":"nope","input":"x","questions":[{"type":"predicate"}]}`, 400, ""},
		{one(`7`), 400, "questions[0]"},
		{one(`{"type":"rank"}`), 400, "questions[0].type"},
		{one(`{"type":"predicate","name":7}`), 400, "questions[0].name"},
		{one(`{"type":"predicate","instructions":7}`), 400, "questions[0].instructions"},
		{one(`{"type":"choice","choices":[]}`), 400, "questions[0].choices"},
		{one(`{"type":"choice","choices":[{"value":"a"}]}`), 400, "questions[0].choices"},
		{one(`{"type":"choice","choices":[{"value":"a"},{"value":"a"}]}`), 400, "questions[0].choices"},
		{one(`{"type":"choice","choices":[{"value":"a"},{"value":1}]}`), 400, "questions[0].choices[1].value"},
		{one(`{"type":"choice","choices":[{"value":"a"},{"value":"b","description":1}]}`), 400, "questions[0].choices[1].description"},
		{one(`{"type":"score","levels":[{"label":"a"}]}`), 400, "questions[0].levels"},
		{one(`{"type":"score","levels":[{"label":"a"},{}]}`), 400, "questions[0].levels[1].label"},
		{one(`{"type":"predicate","instructions":[{"type":"audio"}]}`), 400, "questions[0].instructions[0].type"},
		{in(`7`), 400, "input[0]"},
		{in(`{"type":"shrug"}`), 400, "input[0].type"},
		{in(`{"role":"ghost","content":"x"}`), 400, "input[0].role"},
		{in(`{"role":"user"}`), 400, "input[0].content"},
		{in(`{"role":"user","content":[{"type":"input_text"}]}`), 400, "input[0].content[0].text"},
		{in(`{"role":"user","content":[{"type":"input_image","image_url":"https://x.example/a.png"}]}`), 400, "input[0].content[0].image_url"},
		{in(`{"role":"user","content":[{"type":"input_image","image_url":"` + picture + `"}]}`), 400, "input[0].content[0].image_url"},
		{in(`{"type":"function_call_output","call_id":"none","output":"x"}`), 400, "input[0].call_id"},
		{`{"input":"` + strings.Repeat("word ", 3000) + `","questions":[{"type":"predicate"}]}`, 413, ""},
	} {
		got := r.do(t, "POST", "/v1/decisions", c.body)
		if got.status != c.status {
			t.Errorf("%.100s: got %d %s, want %d", c.body, got.status, got.body, c.status)
			continue
		}
		if kind, param := got.failureOf(t); kind != "invalid_request_error" || param != c.param {
			t.Errorf("%.100s: got %s at %q, want %q", c.body, kind, param, c.param)
		}
	}
}

func TestDecisionsWithKey(t *testing.T) {
	r := start(t, Options{Key: "right-key"})
	got := r.do(t, "POST", "/v1/decisions", "{}")
	if kind, _ := got.failureOf(t); got.status != 401 || kind != "authentication_error" {
		t.Errorf("got %d %s", got.status, got.body)
	}
	if got := r.do(t, "GET", "/v1/decisions", "", "Authorization: Bearer right-key"); got.status != 405 {
		t.Errorf("GET: got %d, want 405", got.status)
	}
}

// Four hundred questions are more than System One takes, and fine here.
func TestFourHundredDecisions(t *testing.T) {
	r := start(t, Options{})
	body := `{"input":"x","questions":[` + strings.TrimSuffix(strings.Repeat(`{"type":"predicate","name":"same"},`, 400), ",") + `]}`
	got := r.do(t, "POST", "/v1/decisions", body)
	if n := len(got.tree(t)["answers"].([]any)); got.status != 200 || n != 400 {
		t.Errorf("got %d with %d answers, want 200 with 400", got.status, n)
	}
}

func TestWorkersAI(t *testing.T) {
	r := start(t, Options{Key: "right-key"})
	flash := "/client/v4/accounts/abc/ai/run/@cf/cloudflare/clef-flash"
	key := "Authorization: Bearer right-key"
	ask := `{"state":"x","questions":{"q":{"type":"noul","instructions":"?"}}}`
	got := r.do(t, "POST", flash, ask, key)
	want := regexpLike(`{"result":{"model":"oracle","answers":{"q":{"type":"noul","noul":*}},"usage":{*}},"success":true,"errors":[],"messages":[]}`)
	if got.status != 200 || !want.Match(got.body) {
		t.Errorf("got %d %s", got.status, got.body)
	}
	for _, c := range []struct {
		path, body, header string
		status, code       int
	}{
		{flash, ask, "", 401, 10000},
		{flash, `{`, key, 400, 6003},
		{flash, `{"state":"x","questions":{}}`, key, 400, 5006},
		{flash, `{"state":"x","questions":{"q":{"type":"box"}}}`, key, 400, 5006},
		{flash, `{"state":"x","questions":{"q":{"type":"noul","instructions":""}}}`, key, 422, 5012},
		{flash, `{"model":"oracle","state":"x","questions":{"q":{"type":"noul","instructions":"?"}}}`, key, 200, 0},
		{flash, `{"model":"nope","state":"x","questions":{"q":{"type":"noul","instructions":"?"}}}`, key, 400, 7000},
		{flash, `{"state":null,"questions":{"q":{"type":"noul","instructions":"?"}}}`, key, 422, 5012},
		{flash, `{"state":"` + strings.Repeat("word ", 3000) + `","questions":{"q":{"type":"noul","instructions":"?"}}}`, key, 413, 5021},
		{strings.TrimSuffix(flash, "-flash"), ask, key, 404, 7000},
	} {
		got := r.do(t, "POST", c.path, c.body, c.header)
		tree := got.tree(t)
		if got.status != c.status || tree["success"] != (c.status == 200) {
			t.Errorf("%.60s: got %d %s, want %d", c.body, got.status, got.body, c.status)
			continue
		}
		if c.status != 200 {
			if e := tree["errors"].([]any)[0].(map[string]any); int(e["code"].(float64)) != c.code || e["message"] == "" {
				t.Errorf("%.60s: got %v, want code %d", c.body, e, c.code)
			}
		}
	}
}
