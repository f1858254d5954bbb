package emu

import (
	"fmt"
	"slices"
	"strings"
)

var spaces = map[string]bool{"device": true, "threadgroup": true, "constant": true, "thread": true}

// scope is one open brace of the output. Scopes that hold declarations remember them.
type scope struct {
	declares bool
	seen     map[string]bool
}

// openScope handles "{". It drops a declaration that repeats an earlier one except for
// address spaces, because here all memory is flat, and reports whether it did.
func (r *rewriter) openScope() (dropped bool) {
	from := r.statement()
	key, spaced, first, angle := "", false, "", 0
	for _, t := range r.out[from:] {
		switch {
		case spaces[t.text]:
			spaced = true
			continue
		case t.text == "<":
			angle++
		case t.text == ">":
			angle--
		case angle == 0 && first == "" && isIdentifier(t.text) && t.text != "template" && t.text != "inline" && t.text != "static":
			first = t.text
		}
		if t.text != "" {
			key += " " + t.text
		}
	}
	if current := &r.scopes[len(r.scopes)-1]; current.declares && spaced {
		if current.seen[key] {
			r.out = r.out[:from]
			r.at = after(r.in, r.at)
			if r.in[r.at].text == ";" {
				r.at++
			}
			return true
		}
		current.seen[key] = true
	}
	declares := slices.Contains([]string{"namespace", "struct", "class", "union", "extern"}, first)
	r.scopes = append(r.scopes, scope{declares, map[string]bool{}})
	return false
}

// statement returns where the statement that the output ends with begins.
func (r *rewriter) statement() int {
	for j := len(r.out); j > 0; j-- {
		s := r.out[j-1].text
		access := s == ":" && j > 1 && (r.out[j-2].text == "public" || r.out[j-2].text == "private")
		if s == "{" || s == "}" || strings.HasSuffix(s, ";") || access {
			return j
		}
	}
	return 0
}

// constant handles function constants and namespace-scope values derived from them:
// both become globals that can be set. It reports whether there was one.
func (r *rewriter) constant(static bool) bool {
	storage := "static "
	if static {
		storage = ""
	}
	end := r.at
	for end < len(r.in) && r.in[end].text != ";" && r.in[end].text != "{" {
		end++
	}
	if end >= len(r.in) || r.in[end].text != ";" {
		return false
	}
	rest, list := attributes(r.in[r.at+1 : end])
	text := ""
	for _, a := range list {
		if index, ok := argument(a, "function_constant"); ok {
			name := rest[len(rest)-1].text
			rest = slices.DeleteFunc(rest, func(t token) bool { return t.text == "constexpr" || t.text == "const" })
			r.constants[name] = true
			text = fmt.Sprintf("%s%s; MSL_FC(%s, (%s));", storage, strings.TrimSpace(join(rest)), name, index)
		}
	}
	if text == "" {
		text = r.derived(rest, storage)
	}
	if text == "" {
		return false
	}
	r.blank(r.in[r.at])
	r.emit(text)
	r.at, r.previous = end+1, ";"
	return true
}

// derived rewrites a constant whose value depends on function constants; "" if it does not.
func (r *rewriter) derived(rest []token, storage string) string {
	equals := slices.IndexFunc(rest, func(t token) bool { return t.text == "=" })
	if equals < 1 || !slices.ContainsFunc(rest[equals:], func(t token) bool {
		return r.constants[t.text] || t.text == "is_function_constant_defined"
	}) {
		return ""
	}
	name := rest[equals-1].text
	r.constants[name] = true
	kind := strings.NewReplacer("constexpr ", "", "const ", "").Replace(strings.TrimSpace(join(rest[:equals-1])) + " ")
	return fmt.Sprintf("%s%s %s; MSL_INIT(%s, %s);", storage, kind, name, name, join(rest[equals+1:]))
}

// threadgroupVariable turns "threadgroup T a[n], b;" in a kernel into references to
// memory that the runtime hands out. It reports whether it did.
func (r *rewriter) threadgroupVariable() bool {
	end := r.at + 1
	for end < len(r.in) && r.in[end].text != ";" && r.in[end].text != "{" && r.in[end].text != "}" {
		switch r.in[end].text {
		case "(", "<", "[":
			end = after(r.in, end)
		case "=", "*", "&":
			return false // a pointer, or initialised: not a variable in threadgroup memory
		default:
			end++
		}
	}
	if end >= len(r.in) || r.in[end].text != ";" {
		return false
	}
	rest, _ := attributes(r.in[r.at+1 : end])
	name := firstDeclarator(rest)
	if name < 1 || !isIdentifier(rest[name].text) {
		return false
	}
	if r.kernel == nil {
		r.problem("threadgroup variable %q outside a kernel function", rest[name].text)
	}
	kind := strings.TrimSpace(join(rest[:name]))
	r.blank(r.in[r.at])
	for _, d := range split(rest[name:]) {
		v := d[0].text
		r.emit(fmt.Sprintf("typedef %s %s__tgt %s; threadgroup %s__tgt &%s = "+
			"*(threadgroup %s__tgt *)msl_tg_static(sizeof(%s__tgt), alignof(%s__tgt), %d, %q);",
			kind, v, join(d[1:]), v, v, v, v, v, r.shared, v))
		r.shared++
	}
	r.at, r.previous = end+1, ";"
	return true
}

// firstDeclarator returns the index of the first variable's name in "T a[n], b".
func firstDeclarator(ts []token) int {
	for i := 0; i < len(ts); i++ {
		switch ts[i].text {
		case "<":
			i = after(ts, i) - 1
		case "[", ",":
			return i - 1
		}
	}
	return len(ts) - 1
}
