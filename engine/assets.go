package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// assetRef is the name by which texts refer to an image, and the image's number
// from 1 in prompt order.
type assetRef struct {
	ref    string
	number int
	found  bool
}

// assets reads images that texts of the request refer to by name, inline or as
// parts of a multipart body.
func (p *parser) assets(v Value, parts []BodyPart) {
	claimed := make(map[string]bool, len(parts))
	switch {
	case v.Type == Missing || v.Type == Null:
	case v.Type != Object:
		p.add("dict_type", []any{"assets"}, "Input should be an object that maps references to images, not %s", v.Type)
	case len(v.Fields) == 0:
		p.add("too_short", []any{"assets"}, "At least 1 asset is needed")
	default:
		for _, m := range v.Fields {
			p.asset(m.Name, m.Value, parts, claimed)
		}
	}
	for _, part := range parts {
		if !claimed[part.Name] {
			p.misused("No asset claims the part %q", clip(part.Name))
		}
	}
}

func (p *parser) misused(format string, args ...any) {
	if p.misuse == nil {
		p.misuse = &Error{Reason: BadUsage, Message: fmt.Sprintf(format, args...)}
	}
}

func (p *parser) asset(ref string, v Value, parts []BodyPart, claimed map[string]bool) {
	loc := []any{"assets", clip(ref)}
	if v.Type != Object {
		p.add("dict_type", loc, "Input should be an object, not %s", v.Type)
		return
	}
	if kind := v.Get("type"); kind.Type != Missing && kind.Type != Null && kind.Text != "image" {
		p.add("media_unsupported", at(loc, "type"), "The only type of asset is 'image'")
		return
	}
	p.refs = append(p.refs, assetRef{ref: ref, number: len(p.request.Images) + 1})
	if name := v.Get("part"); name.Type != Missing && name.Type != Null {
		p.claim(name, parts, claimed, at(loc, "part"))
		return
	}
	if data := v.Get("data_base64"); data.Type == String {
		p.encoded(data.Text, at(loc, "data_base64"))
		return
	}
	p.add("missing", at(loc, "data_base64"), "Field required: the image as base64")
}

// claim takes the part of the body that an asset names.
func (p *parser) claim(name Value, parts []BodyPart, claimed map[string]bool, loc []any) {
	i := slices.IndexFunc(parts, func(part BodyPart) bool { return name.Type == String && part.Name == name.Text })
	switch {
	case i < 0:
		p.add("missing", loc, "The body has no part of this name")
	case claimed[name.Text]:
		p.misused("Two assets claim the part %q", clip(name.Text))
	default:
		claimed[name.Text] = true
		p.picture(parts[i].Data, loc)
	}
}

// nameAssets replaces the references, wherever the model would read them, by the
// numbers of their images: the references of official clients are random, and the
// same request must give the same answer. A reference that stands nowhere is misuse.
func (p *parser) nameAssets() {
	if len(p.refs) == 0 || len(p.details) > 0 {
		return
	}
	longest := slices.Clone(p.refs) // so that "a1" does not take the front of "a10"
	slices.SortStableFunc(longest, func(a, b assetRef) int { return cmp.Compare(len(b.ref), len(a.ref)) })
	replace := func(s string) string { return replaceRefs(s, longest) }
	p.request.State = p.request.State.mapStrings(replace)
	for i := range p.request.Questions {
		q := &p.request.Questions[i]
		q.Instructions = q.Instructions.mapStrings(replace)
		for k := range q.Options {
			q.Options[k].Description = q.Options[k].Description.mapStrings(replace)
		}
	}
	for _, r := range longest {
		if !r.found {
			p.misused("Nothing in the request names the asset %q", clip(r.ref))
		}
	}
}

// replaceRefs replaces every reference in s and marks those that it finds. Of two
// that start at the same place the earlier of refs wins.
func replaceRefs(s string, refs []assetRef) string {
	var out strings.Builder
	for s != "" {
		first, which := len(s), -1
		for i := range refs {
			if at := strings.Index(s[:min(len(s), first+len(refs[i].ref))], refs[i].ref); refs[i].ref != "" && at >= 0 && at < first {
				first, which = at, i
			}
		}
		if which < 0 {
			break
		}
		refs[which].found = true
		out.WriteString(s[:first])
		fmt.Fprintf(&out, "[image %d]", refs[which].number)
		s = s[first+len(refs[which].ref):]
	}
	out.WriteString(s)
	return out.String()
}
