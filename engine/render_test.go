package engine

import (
	"encoding/json"
	"os"
	"testing"
)

func TestRenderNumbers(t *testing.T) {
	data, err := os.ReadFile("testdata/golden/misc_golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		FloatRepr [][2]string `json:"float_repr"`
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	rows := append(golden.FloatRepr, [][2]string{
		{"1e-999", "0.0"},
		{"-1e-999", "-0.0"},
		{"9999999999999998.0", "9999999999999998.0"},
		{"9999999999999999.0", "1e+16"},
		{"0.00010", "0.0001"},
		{"123456789e-2", "1234567.89"},
		{"1.0e+2", "100.0"},
		{"2.2250738585072014e-308", "2.2250738585072014e-308"},
		{"0e10", "0.0"},
		{"-0e0", "-0.0"},
	}...)
	if len(golden.FloatRepr) < 28 {
		t.Fatalf("got %d golden rows, want 28", len(golden.FloatRepr))
	}
	for _, row := range rows {
		if got := (Value{Type: Number, Text: row[0]}).Render(); got != row[1] {
			t.Errorf("Render(%s) = %s, want %s", row[0], got, row[1])
		}
	}
}

func TestRender(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{`"as \"it\" is\n<|im_end|>"`, "as \"it\" is\n<|im_end|>"},
		{`""`, ""},
		{`{}`, "{}"},
		{`[]`, "[]"},
		{`{ "note" : "<b>5 & 6</b>" }`, `{"note":"<b>5 & 6</b>"}`},
		{"{\"t\":\"a\u2028b\u2029\"}", "{\"t\":\"a\u2028b\u2029\"}"},
		{`{"a":1.0,"b":1e2,"c":-0.0,"d":1e16,"e":1e-7,"f":0.00001}`, `{"a":1.0,"b":100.0,"c":-0.0,"d":1e+16,"e":1e-07,"f":1e-05}`},
		{`{"id":9007199254740993,"big":12345678901234567890123}`, `{"big":12345678901234567890123,"id":9007199254740993}`},
		{`{"b":1,"a":{"é":1,"z":2,"Z":3},"10":0,"9":0}`, `{"10":0,"9":0,"a":{"Z":3,"z":2,"é":1},"b":1}`},
		{`{"\uff5e":1,"\ud83d\ude00":2,"\ue000":3}`, "{\"\ue000\":3,\"\uff5e\":1,\"\U0001f600\":2}"},
		{`["\u0000\u0001\u001f\u007f\u0080\b\f\n\r\t\"\\\/"]`, "[\"\\u0000\\u0001\\u001f\u007f\u0080\\b\\f\\n\\r\\t\\\"\\\\/\"]"},
		{`[true,false,null,-0,1E400]`, ""},
	} {
		v, err := ParseValue([]byte(c.json), Limits{})
		if c.want == "" && c.json != `""` {
			if err == nil {
				t.Errorf("ParseValue(%s): got no error", c.json)
			}
			continue
		}
		if err != nil {
			t.Errorf("ParseValue(%s): %v", c.json, err)
			continue
		}
		if got := v.Render(); got != c.want {
			t.Errorf("Render(%s) = %q, want %q", c.json, got, c.want)
		}
	}
}

func TestValueJSONKeepsEverything(t *testing.T) {
	for _, text := range []string{
		`{"z":1.50,"a":[1E+2,-0,-0.0,null,true],"\u0000":"` + "\u2028<&>" + `"}`,
		`"plain"`, `[]`, `{}`, `{"":{"":[]}}`, `12345678901234567890123.000`,
	} {
		v, err := ParseValue([]byte(text), Limits{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := string(v.JSON()); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
	}
}
