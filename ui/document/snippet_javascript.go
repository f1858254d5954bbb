package document

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"clefbar/engine"
)

var javaScript = language{null: "null", yes: "true", no: "false", unit: "  ", escape: func(r rune) string {
	if r < 0x10000 {
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\u{%x}`, r)
}}

// AsJavaScript returns a program for the official client, @typesafe-ai/sdk, or,
// for a request that JavaScript's objects and numbers would change, one that sends
// the text itself.
func (s Snapshot) AsJavaScript(t Target) string {
	root := s.withModel(t)
	if !plainInJavaScript(root) {
		return s.asFetch(t)
	}
	var b strings.Builder
	key := `"local"`
	if t.Key {
		key = "process.env." + keyVariable
	}
	b.WriteString("// npm install @typesafe-ai/sdk\n")
	b.WriteString("import { TypeSafeClient } from \"@typesafe-ai/sdk\";\n\n")
	fmt.Fprintf(&b, "const client = new TypeSafeClient({ baseURL: %s, apiKey: %s, timeout: 60_000 });\n", javaScript.quote(t.BaseURL), key)
	fmt.Fprintf(&b, "const result = await client.systemOne(%s);\n\nconsole.log(result.answers);\n", javaScript.literal(root, ""))
	return b.String()
}

func (s Snapshot) asFetch(t Target) string {
	var b strings.Builder
	b.WriteString("// Sent as text: JavaScript objects would reorder names like \"10\" and round some numbers.\n")
	fmt.Fprintf(&b, "const body = %s;\n\n", javaScript.quote(s.body(t)))
	fmt.Fprintf(&b, "const response = await fetch(%s, {\n  method: \"POST\",\n  headers: { \"Content-Type\": \"application/json\"", javaScript.quote(t.url()))
	if t.Key {
		b.WriteString(", Authorization: \"Bearer \" + process.env." + keyVariable)
	}
	b.WriteString(" },\n  body,\n});\nif (!response.ok) throw new Error(response.status + \" \" + (await response.text()));\n\nconsole.log((await response.json()).answers);\n")
	return b.String()
}

// plainInJavaScript reports that an object literal would be written back by
// JSON.stringify as the same request: no name that is an array index (those come
// first), no __proto__, no number that JavaScript spells another way.
func plainInJavaScript(n *node) bool {
	switch n.typ {
	case engine.Number:
		v, err := strconv.ParseFloat(n.raw, 64)
		if err != nil || math.Abs(v) > 1<<53 {
			return false
		}
		spelled, err := json.Marshal(v)
		return err == nil && string(spelled) == n.raw
	case engine.Object:
		index := func(s slot) bool {
			v, err := strconv.ParseUint(s.id, 10, 32)
			return s.id == "__proto__" || err == nil && strconv.FormatUint(v, 10) == s.id
		}
		if slices.ContainsFunc(n.slots, index) {
			return false
		}
	}
	return !slices.ContainsFunc(n.slots, func(s slot) bool { return !plainInJavaScript(s.value) })
}
