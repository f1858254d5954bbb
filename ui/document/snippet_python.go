package document

import (
	"fmt"
	"strings"
)

var python = language{null: "None", yes: "True", no: "False", unit: "    ", escape: func(r rune) string {
	switch {
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}}

// AsPython returns a program for the official client, typesafe-sdk.
func (s Snapshot) AsPython(t Target) string {
	root := s.withModel(t)
	var b strings.Builder
	key := `"local"`
	b.WriteString("# pip install typesafe-sdk\n")
	if t.Key {
		b.WriteString("import os\n\n")
		key = `os.environ["` + keyVariable + `"]`
	}
	b.WriteString("from typesafe_sdk import TypeSafeClient\n\n")
	fmt.Fprintf(&b, "with TypeSafeClient(base_url=%s, api_key=%s, timeout=60) as client:\n", python.quote(t.BaseURL), key)
	b.WriteString("    result = client.system_one(\n")
	extra := emptyNode(root.typ)
	for _, slot := range root.slots {
		switch slot.id {
		case "state", "questions", "model":
			fmt.Fprintf(&b, "        %s=%s,\n", slot.id, python.literal(slot.value, "        "))
		default:
			extra.slots = append(extra.slots, slot)
		}
	}
	if len(extra.slots) > 0 {
		fmt.Fprintf(&b, "        extra_body=%s,\n", python.literal(extra, "        "))
	}
	b.WriteString("    )\n\nfor name, answer in result.answers.items():\n    print(name, answer)\n")
	return b.String()
}
