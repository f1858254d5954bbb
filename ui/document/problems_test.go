package document

import (
	"fmt"
	"strings"
	"testing"

	"clefbar/engine"
)

// one builds a request with one question.
func one(question string) string { return `{"state":"s","questions":{"q":` + question + `}}` }

func options(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"o%d":"d%d"`, i, i)
	}
	return "{" + strings.Join(list, ",") + "}"
}

// path writes a field; a Problem's field and its twins joined by +.
func paths(c *Case, p Problem) string {
	list := []string{}
	for _, f := range append(p.Also[:len(p.Also):len(p.Also)], p.Field) {
		list = append(list, fmt.Sprintf("%s#%d", c.Path(f), f.Part))
	}
	return strings.Join(list, "+")
}

func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name, text string
		rule       Rule
		path       string
		part       Part
		also       int
	}{
		{"J06 twice the same option", one(`{"type":"choice","criteria":{"yes":"A","no":"B","yes":"C"}}`), RuleDuplicateName, "questions.q.criteria.yes", PartName, 1},
		{"J07 twice the same question", `{"state":"s","questions":{"q":{"type":"noul"},"q":{"type":"noul"}}}`, RuleDuplicateID, "questions.q", PartID, 1},
		{"J08 half a character in the state", `{"state":"a\ud83d","questions":{"q":{"type":"noul"}}}`, RuleHalfCharacter, "state", PartState, 0},
		{"J08 in instructions", one(`{"type":"noul","instructions":"\ud83d"}`), RuleHalfCharacter, "questions.q.instructions", PartInstructions, 0},
		{"J08 in a name", one(`{"type":"choice","criteria":{"\ud83d":null}}`), RuleHalfCharacter, "questions.q.criteria.\ufffd", PartName, 0},
		{"J08 deep in a description", one(`{"type":"choice","criteria":{"a":{"b":["\udc00"]}}}`), RuleHalfCharacter, "questions.q.criteria.a", PartDescription, 0},
		{"J12 state null", `{"state":null,"questions":{"q":{"type":"noul"}}}`, RuleState, "state", PartState, 0},
		{"J12 state missing", `{"questions":{"q":{"type":"noul"}}}`, RuleState, "state", PartState, 0},
		{"J12 state false", `{"state":false,"questions":{"q":{"type":"noul"}}}`, RuleState, "state", PartState, 0},
		{"J12 state 0", `{"state":0,"questions":{"q":{"type":"noul"}}}`, RuleState, "state", PartState, 0},
		{"J13 no question", `{"state":"s","questions":{}}`, RuleNoQuestion, "questions", PartQuestions, 0},
		{"J13 questions missing", `{"state":"s"}`, RuleNoQuestion, "questions", PartQuestions, 0},
		{"J15 list of options", one(`{"type":"choice","criteria":["a","b"]}`), RuleOtherForm, "questions.q.criteria", PartOptions, 0},
		{"J15 map of levels", one(`{"type":"score","criteria":{"0":"a","1":"b"}}`), RuleOtherForm, "questions.q.criteria", PartOptions, 0},
		{"no options", one(`{"type":"choice","criteria":{}}`), RuleNoOptions, "questions.q.criteria", PartOptions, 0},
		{"no criteria", one(`{"type":"score"}`), RuleNoOptions, "questions.q.criteria", PartOptions, 0},
		{"J17 256 options", one(`{"type":"choice","criteria":` + options(256) + `}`), RuleTooMany, "questions.q.criteria", PartOptions, 0},
		{"J17 11 levels", one(`{"type":"score","criteria":["a","b","c","d","e","f","g","h","i","j","k"]}`), RuleTooMany, "questions.q.criteria", PartOptions, 0},
		{"J25 unknown side", one(`{"type":"noul","criteria":{"yes":"A"}}`), RuleUnknownSide, "questions.q.criteria.yes", PartName, 0},
		{"empty id", `{"state":"s","questions":{"":{"type":"noul","instructions":"?"}}}`, RuleEmptyID, "questions.", PartID, 0},
		{"empty question", `{"state":"s","questions":{"question_1":{"type":"noul"}}}`, RuleEmptyQuestion, "questions.question_1.instructions", PartInstructions, 0},
		{"number as description", one(`{"type":"choice","criteria":{"a":1}}`), RuleRequest, "questions.q.criteria.a", PartDescription, 0},
		{"null level", one(`{"type":"score","criteria":["a",null]}`), RuleRequest, "questions.q.criteria.1", PartDescription, 0},
		{"number that overflows", `{"state":{"n":1e999},"questions":{"q":{"type":"noul"}}}`, RuleRequest, "request", PartCase, 0},
		{"I12 address as image", `{"state":"s","images":["https://x/y.png"],"questions":{"q":{"type":"noul"}}}`, RuleImage, "images.0", PartImages, 0},
		{"long id", `{"state":"s","questions":{"` + strings.Repeat("x", 1025) + `":{"type":"noul"}}}`, RuleRequest, "", PartQuestion, 0},
	} {
		got := mustCase(t, c.text)
		r, problems := got.Request()
		if r != nil || len(problems) != 1 {
			t.Errorf("%s: got %d problems %+v, want 1", c.name, len(problems), problems)
			continue
		}
		p := problems[0]
		if c.path != "" && got.Path(p.Field) != c.path || p.Rule != c.rule || p.Field.Part != c.part || len(p.Also) != c.also || !p.Blocks {
			t.Errorf("%s: got rule %d at %s, want rule %d at %s#%d and %d more", c.name, p.Rule, paths(got, p), c.rule, c.path, c.part, c.also)
		}
		if !strings.HasSuffix(p.Sentence, ".") && !strings.HasSuffix(p.Sentence, "?") {
			t.Errorf("%s: %q is not a sentence", c.name, p.Sentence)
		}
		if _, err := engine.ParseRequest(got.JSON(), engine.Limits{}); err == nil && c.rule != RuleEmptyQuestion {
			t.Errorf("%s: the builder blocks what the endpoint answers", c.name)
		}
	}
}

func TestFixes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"duplicate option", one(`{"type":"choice","criteria":{"yes":"A","yes_2":null,"yes":"C"}}`), one(`{"type":"choice","criteria":{"yes":"A","yes_2":null,"yes_3":"C"}}`)},
		{"duplicate question", `{"state":"s","questions":{"q":{"type":"noul"},"q":{"type":"noul"}}}`, `{"state":"s","questions":{"q":{"type":"noul"},"q_2":{"type":"noul"}}}`},
		{"list", one(`{"type":"choice","criteria":["a",{"name":"b","description":"B"},{"id":"c","x":1},7]}`), one(`{"type":"choice","criteria":{"a":null,"b":"B","c":{"x":1},"7":null}}`)},
		{"numbered map", one(`{"type":"score","criteria":{"10":"c","2":"b","0":"a"}}`), one(`{"type":"score","criteria":["a","b","c"]}`)},
		{"named map", one(`{"type":"score","criteria":{"low":null,"high":"very"}}`), one(`{"type":"score","criteria":["low","high: very"]}`)},
		{"yes", one(`{"type":"noul","criteria":{"Yes":"A"}}`), one(`{"type":"noul","criteria":{"true":"A"}}`)},
		{"neither", one(`{"type":"noul","criteria":{"true":"A","maybe":"B"}}`), one(`{"type":"noul","criteria":{"true":"A"}}`)},
		{"half a character", one(`{"type":"choice","criteria":{"a":{"b\ud83d":["\udc00",1.0]}}}`), one(`{"type":"choice","criteria":{"a":{"b` + "\ufffd" + `":["` + "\ufffd" + `",1.0]}}}`)},
		{"number", one(`{"type":"choice","criteria":{"a":1.50}}`), one(`{"type":"choice","criteria":{"a":"1.50"}}`)},
	} {
		got := mustCase(t, c.text)
		problems := got.Problems()
		if len(problems) != 1 || problems[0].Fix == "" {
			t.Errorf("%s: got %+v, want one problem with a way out", c.name, problems)
			continue
		}
		got.Fix(problems[0])
		if string(got.JSON()) != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got.JSON(), c.want)
		}
		if _, left := got.Request(); len(left) > 0 {
			t.Errorf("%s: still %+v", c.name, left)
		}
		got.Undo()
		if string(got.JSON()) != c.text {
			t.Errorf("%s: undo gave %s", c.name, got.JSON())
		}
	}
}

func TestAdvice(t *testing.T) {
	team := `"instructions":"Which team?","criteria":`
	for _, c := range []struct {
		name, text string
		rules      []Rule
	}{
		{"J16 one option", one(`{"type":"choice","criteria":{"a":null}}`), []Rule{AdviceOneOption}},
		{"J16 one level", one(`{"type":"score","criteria":["a"]}`), []Rule{AdviceOneOption}},
		{"J20 same description", one(`{"type":"choice","criteria":{"a":"Pay  me","b":"pay me","other":null}}`), []Rule{AdviceSameDescription}},
		{"J20 same level", one(`{"type":"score","criteria":["a","a"]}`), []Rule{AdviceSameDescription}},
		{"J23 space", `{"state":"s","questions":{"a b":{"type":"noul"}}}`, []Rule{AdviceHostedID}},
		{"J23 emoji", `{"state":"s","questions":{"🎯":{"type":"noul"}}}`, []Rule{AdviceHostedID}},
		{"J23 101 characters", `{"state":"s","questions":{"` + strings.Repeat("x", 101) + `":{"type":"noul"}}}`, []Rule{AdviceHostedID}},
		{"J23 100 characters", `{"state":"s","questions":{"` + strings.Repeat("x", 100) + `":{"type":"noul"}}}`, nil},
		{"T12 routing", one(`{"type":"choice",` + team + `{"billing":null,"technical":"Bugs"}}`), []Rule{AdviceNoneOfThese}},
		{"T12 with a way out", one(`{"type":"choice",` + team + `{"billing":null,"none_of_these":null}}`), nil},
		{"T12 in the description", one(`{"type":"choice",` + team + `{"billing":null,"rest":"Anything else"}}`), nil},
		{"complete pair", one(`{"type":"choice",` + team + `{"approve":null,"deny":null}}`), nil},
		{"T13 counting", one(`{"type":"noul","instructions":"How many days has she waited?"}`), []Rule{AdviceCounting}},
		{"counting by levels", one(`{"type":"score","instructions":"How many items?","criteria":["1","2"]}`), nil},
		{"a fair yes or no", one(`{"type":"noul","instructions":"Is the number of days above 3?"}`), nil},
		{"how urgent is a rating", one(`{"type":"score","instructions":"How urgent is it?","criteria":["a","b"]}`), nil},
		{"open question", one(`{"type":"noul","instructions":"Which team should handle it?"}`), []Rule{AdviceOpenQuestion}},
		{"condition", one(`{"type":"noul","instructions":"When angry, does he write in capitals?"}`), nil},
		{"no name", one(`{"type":"choice","criteria":{"":"A","none":null}}`), []Rule{AdviceNoName}},
	} {
		got := mustCase(t, c.text)
		if _, problems := got.Request(); len(problems) > 0 {
			t.Errorf("%s: advice is in the way: %+v", c.name, problems)
		}
		var rules []Rule
		for _, p := range got.Advice() {
			rules = append(rules, p.Rule)
			if p.Blocks {
				t.Errorf("%s: advice blocks", c.name)
			}
		}
		if fmt.Sprint(rules) != fmt.Sprint(c.rules) {
			t.Errorf("%s: got rules %v, want %v", c.name, rules, c.rules)
		}
	}
}

func TestAdviceIsTakenOrWavedAway(t *testing.T) {
	c := mustCase(t, one(`{"type":"choice","instructions":"Which?","criteria":{"a":null,"b":null}}`))
	p := c.Advice()[0]
	before := c.Revision()
	c.Dismiss(p)
	if len(c.Advice()) != 0 || c.Revision() != before {
		t.Errorf("dismissed advice: %v at revision %d, want none at %d", c.Advice(), c.Revision(), before)
	}
	c.Undo()
	c.Fix(c.Advice()[0])
	if got, want := string(c.JSON()), one(`{"type":"choice","instructions":"Which?","criteria":{"a":null,"b":null,"none":"None of these"}}`); got != want || len(c.Advice()) != 0 {
		t.Errorf("got %s and %v, want %s", got, c.Advice(), want)
	}
	c = mustCase(t, `{"state":"s","questions":{"Is it, really? 🎯":{"type":"noul"}}}`)
	c.Fix(c.Advice()[0])
	if got := c.Questions()[0].ID; got != "Is_it_really" {
		t.Errorf("got id %q", got)
	}
}

func TestRequestIsWhatTheJSONSays(t *testing.T) {
	for _, text := range []string{kitchen, one(`{"type":"noul"}`), `{"state":[1.0,{"a":"b"}],"questions":{"q":{"type":"noul"}},"x_truncate":true,"model":"jev-latest"}`} {
		c := mustCase(t, text)
		got, problems := c.Request()
		if len(problems) > 0 {
			t.Fatalf("%s: %+v", text, problems)
		}
		want, err := engine.ParseRequest(c.JSON(), engine.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if string(got.JSON()) != string(want.JSON()) {
			t.Errorf("got %s, want %s", got.JSON(), want.JSON())
		}
	}
}

func TestShapesWithoutAPlaceInTheForm(t *testing.T) {
	for _, c := range []struct{ text, path string }{
		{`[]`, ""},
		{`"x"`, ""},
		{`{"questions":[{"id":"q","type":"noul"}]}`, "questions"},
		{`{"questions":"x"}`, "questions"},
		{`{"questions":{"q":"Is it urgent?"}}`, "questions.q"},
		{`{"questions":{"q":{}}}`, "questions.q"},
		{`{"questions":{"q":{"type":"Choice"}}}`, "questions.q.type"},
		{`{"questions":{"q":{"type":7}}}`, "questions.q.type"},
		{`{"questions":{"q":{"type":"noul","type":"noul"}}}`, "questions.q.type"},
		{`{"state":"a","state":"b"}`, "state"},
		{`{"questions":{"q":{"type":"noul","criteria":["a"]}}}`, "questions.q.criteria"},
		{`{"questions":{"q":{"type":"choice","criteria":"a"}}}`, "questions.q.criteria"},
		{`{"questions":{"q":{"type":"noul","criteria":{"true":"a","true":"b"}}}}`, "questions.q.criteria.true"},
	} {
		_, err := FromJSON([]byte(c.text))
		e, ok := err.(*SyntaxError)
		if !ok || e.Path != c.path || e.Line != 1 || engine.ReasonOf(err) != engine.Invalid {
			t.Errorf("%s: got %v, want an error at %q", c.text, err, c.path)
		}
	}
}

func TestApplyKeepsKeysAndFailsWhole(t *testing.T) {
	c := mustCase(t, kitchen)
	team, sales := key(t, c, "team"), key(t, c, "team", "sales")
	c.SetKind(team, engine.Score)
	c.SetKind(team, engine.Choice)
	before := c.Snapshot()
	if err := c.Apply([]byte(`{"questions":[]}`), Folded{}); err == nil || c.Snapshot() != before {
		t.Errorf("a bad text changed the case (%v)", err)
	}
	if err := c.Apply(c.JSON(), Folded{}); err != nil || c.Snapshot() != before {
		t.Errorf("the same text made a step (%v)", err)
	}
	text := strings.Replace(strings.Replace(kitchen, `"team"`, `"first": {"type":"noul"}, "team"`, 1), `"sales": {"since" : 2019}`, `"hr": null, "sales": "x"`, 1)
	if err := c.Apply([]byte(text), Folded{}); err != nil {
		t.Fatal(err)
	}
	if key(t, c, "team") != team || key(t, c, "team", "sales") != sales {
		t.Error("rows that are still there got new keys")
	}
	c.SetKind(team, engine.Score)
	if q, _ := c.Question(team); q.Options[0].Description.Text != "billing: Payments" {
		t.Errorf("levels typed before are gone: %+v", q.Options)
	}
}

func TestApplySharesWhatIsTheSame(t *testing.T) {
	c := mustCase(t, kitchen)
	if _, err := c.AddImage("p.png", picture(t, 9)); err != nil {
		t.Fatal(err)
	}
	blank := c.AddOption(key(t, c, "urgency"), 9)
	before := c.now.root
	f := c.Snapshot().Fold()
	if err := c.Apply([]byte(strings.Replace(f.Text, "Which team?", "Who?", 1)), f); err != nil {
		t.Fatal(err)
	}
	after := c.now.root
	old, fresh := before.get("questions"), after.get("questions")
	if before.get("images") != after.get("images") || before.get("state") != after.get("state") || old.get("urgency") != fresh.get("urgency") || old.get("team").get("criteria") != fresh.get("team").get("criteria") {
		t.Error("parts that did not change were made again")
	}
	if q, _ := c.Question(key(t, c, "urgency")); q.Options[len(q.Options)-1].Key != blank {
		t.Error("a blank row is gone")
	}
	if got := c.Questions()[0].Instructions.Text; got != "Who?" || c.Images()[0].Name != "p.png" {
		t.Errorf("got %q and %q", got, c.Images()[0].Name)
	}
}
