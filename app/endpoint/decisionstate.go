package endpoint

import (
	"errors"
	"fmt"

	"clefbar/engine"
)

// input translates the input: a text stays a text, items become an array state. An
// image goes before the text, as the models read it.
func (d *decision) input(v engine.Value) (engine.Value, error) {
	switch v.Type {
	case engine.String:
		return v, nil
	case engine.Array:
	default:
		return v, badParam("input", "input should be a string or an array of items")
	}
	state := engine.Value{Type: engine.Array}
	calls := map[string]bool{}
	for i, item := range v.Items {
		at := fmt.Sprintf("input[%d]", i)
		translated, err := d.item(item, at, calls)
		if err != nil {
			return v, err
		}
		state.Items = append(state.Items, translated)
	}
	return state, nil
}

// item translates one item: a message, a tool call, or a tool's output, which has to
// name a call that came before.
func (d *decision) item(v engine.Value, at string, calls map[string]bool) (engine.Value, error) {
	if v.Type != engine.Object {
		return v, badParam(at, "An item should be an object, not %s", v.Type)
	}
	switch kind := v.Get("type"); {
	case v.Get("role").Type == engine.String && (kind.Type == engine.Missing || kind.Text == "message"):
		return d.message(v, at)
	case kind.Text == "function_call" || kind.Text == "custom_tool_call":
		calls[v.Get("call_id").Text] = true
		return pick(v, "type", "name", "arguments", "input"), nil
	case kind.Text == "function_call_output" || kind.Text == "custom_tool_call_output":
		if id := v.Get("call_id"); id.Type != engine.String || !calls[id.Text] {
			return v, badParam(at+".call_id", "No call before this item has the call_id %q", clip(id.Text))
		}
		output, err := d.content(v.Get("output"), at+".output")
		out := pick(v, "type")
		out.Fields = append(out.Fields, engine.Member{Name: "output", Value: output})
		return out, err
	default:
		return v, badParam(at+".type", "An item should be a message, a tool call or a tool's output, not %q", clip(kind.Text))
	}
}

func (d *decision) message(v engine.Value, at string) (engine.Value, error) {
	switch role := v.Get("role"); role.Text {
	case "user", "developer", "system", "assistant":
	default:
		return v, badParam(at+".role", "role should be user, developer, system or assistant, not %q", clip(role.Text))
	}
	content, err := d.content(v.Get("content"), at+".content")
	out := pick(v, "role")
	out.Fields = append(out.Fields, engine.Member{Name: "content", Value: content})
	return out, err
}

// pick copies the members of v that are there.
func pick(v engine.Value, names ...string) engine.Value {
	out := engine.Value{Type: engine.Object}
	for _, name := range names {
		if m := v.Get(name); m.Type != engine.Missing {
			out.Fields = append(out.Fields, engine.Member{Name: name, Value: m})
		}
	}
	return out
}

// content translates a string or an array of parts. A single text part becomes a
// string.
func (d *decision) content(v engine.Value, at string) (engine.Value, error) {
	switch v.Type {
	case engine.String:
		return v, nil
	case engine.Array:
	default:
		return v, badParam(at, "Expected a string or an array of parts, not %s", v.Type)
	}
	out := engine.Value{Type: engine.Array}
	for i, p := range v.Items {
		part, err := d.part(p, fmt.Sprintf("%s[%d]", at, i))
		if err != nil {
			return v, err
		}
		if part.Type != engine.Missing {
			out.Items = append(out.Items, part)
		}
	}
	if len(out.Items) == 1 && out.Items[0].Type == engine.String {
		return out.Items[0], nil
	}
	return out, nil
}

// part translates one part. An image is kept aside and leaves nothing behind.
func (d *decision) part(v engine.Value, at string) (engine.Value, error) {
	kind := v.Get("type").Text
	field := map[string]string{"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}[kind]
	switch {
	case v.Type != engine.Object:
		return v, badParam(at, "A part should be an object, not %s", v.Type)
	case field != "":
		text := v.Get(field)
		if text.Type != engine.String {
			return v, badParam(at+"."+field, "%s should be a string", field)
		}
		return text, nil
	case kind == "input_json":
		data := v.Get("data")
		if data.Type == engine.Missing {
			return v, badParam(at+".data", "data is missing")
		}
		return data, nil
	case kind == "input_image":
		return engine.Value{}, d.image(v.Get("image_url"), at+".image_url")
	}
	return v, badParam(at+".type", "Parts of type %q are not supported", clip(kind))
}

// image reads a data URL with the parser of System One requests.
func (d *decision) image(v engine.Value, at string) error {
	if v.Type != engine.String {
		return badParam(at, "image_url should be a data URL")
	}
	probe := engine.Value{Type: engine.Object, Fields: []engine.Member{
		{Name: "state", Value: engine.Text("")},
		{Name: "images", Value: engine.Value{Type: engine.Array, Items: []engine.Value{v}}},
		{Name: "questions", Value: engine.Value{Type: engine.Object, Fields: []engine.Member{
			{Name: "q", Value: engine.Value{Type: engine.Object, Fields: []engine.Member{{Name: "type", Value: engine.Text("noul")}}}},
		}}},
	}}
	r, err := engine.ParseRequest(probe.JSON(), engine.Limits{})
	if e, ok := errors.AsType[*engine.Error](err); ok && len(e.Details) > 0 {
		return badParam(at, "%s", e.Details[0].Msg)
	}
	if err != nil {
		return err
	}
	d.request.Images = append(d.request.Images, r.Images...)
	d.images = append(d.images, at)
	return nil
}
