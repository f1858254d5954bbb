package document

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"clefbar/engine"
)

// Target is the server that a copied program talks to.
type Target struct {
	BaseURL string // without /v1: "http://127.0.0.1:2533"
	Model   string // named in the request when the case names none; "" for none
	Key     bool   // the server wants a key; it is read from TYPESAFE_API_KEY, never copied
}

// keyVariable is where copied programs read the key (the SDKs' own name for it).
const keyVariable = "TYPESAFE_API_KEY"

func (t Target) url() string { return strings.TrimSuffix(t.BaseURL, "/") + "/v1/systemone" }

// withModel returns the request as the target should get it.
func (s Snapshot) withModel(t Target) *node {
	root := s.s.root
	if t.Model == "" || root.find("model") >= 0 {
		return root
	}
	return root.insert(0, entry{id: "model", value: stringNode(t.Model), at: -1}, styleOf(root))
}

// body is the request's text, without white space around it.
func (s Snapshot) body(t Target) string { return string(appendNode(nil, s.withModel(t))) }

// language is how literals of a programming language are spelled.
type language struct {
	null, yes, no string
	unit          string
	escape        func(r rune) string // spells a character that does not print
}

// lineWidth is how long a list or an object on one line may get.
const lineWidth = 88

// literal writes a value in the language, on one line where it is short; indent is
// the white space before the line it stands on.
func (l *language) literal(n *node, indent string) string {
	switch n.typ {
	case engine.Null:
		return l.null
	case engine.Bool:
		if n.raw == "true" {
			return l.yes
		}
		return l.no
	case engine.Number:
		return n.raw
	case engine.String:
		return l.quote(n.str())
	}
	n = n.written()
	open, end := "[", "]"
	if n.typ == engine.Object {
		open, end = "{", "}"
	}
	if len(n.slots) == 0 {
		return open + end
	}
	inner := indent + l.unit
	items := make([]string, len(n.slots))
	size := len(indent)
	for i := range n.slots {
		s := &n.slots[i]
		items[i] = l.literal(s.value, inner)
		if n.typ == engine.Object {
			items[i] = l.quote(s.id) + ": " + items[i]
		}
		size += len(items[i]) + 2
	}
	if size <= lineWidth && !slices.ContainsFunc(items, func(s string) bool { return strings.Contains(s, "\n") }) {
		return open + strings.Join(items, ", ") + end
	}
	sep := "\n" + inner
	return open + sep + strings.Join(items, ","+sep) + ",\n" + indent + end
}

// quote writes a string in double quotes.
func (l *language) quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch r {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		default:
			if unicode.IsPrint(r) || r == '\u200d' {
				b.WriteRune(r)
			} else {
				b.WriteString(l.escape(r))
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}

// AsCurl returns a shell command that sends the request.
func (s Snapshot) AsCurl(t Target) string {
	var b bytes.Buffer
	b.WriteString("curl -sS ")
	if strings.ContainsAny(t.url(), "[]{}") {
		b.WriteString("-g ")
	}
	b.WriteString(shellQuote(t.url()) + " \\\n  -H 'Content-Type: application/json' \\\n")
	if t.Key {
		b.WriteString(`  -H "Authorization: Bearer $` + keyVariable + "\" \\\n")
	}
	body := s.body(t)
	if len(body) <= maxArgument {
		b.WriteString("  --data-binary " + shellQuote(body) + "\n")
		return b.String()
	}
	end := "CLEFBAR"
	for strings.Contains("\n"+body+"\n", "\n"+end+"\n") {
		end += "_"
	}
	fmt.Fprintf(&b, "  --data-binary @- <<'%s'\n%s\n%s\n", end, body, end)
	return b.String()
}

// maxArgument is the longest body put on the command line; Linux takes 128 KiB in
// one argument.
const maxArgument = 64 << 10

// shellQuote quotes for POSIX shells: nothing is special between single quotes.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
