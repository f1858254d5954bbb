package endpoint

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"slices"

	"clefbar/engine"
)

// maxParts bounds a multipart body: the request, the images it may have, and a few
// more to be refused by name.
const maxParts = 32

// splitParts takes a multipart body apart: the part named request is the JSON
// document, every other part belongs to an asset (endpoint.md 3.9).
func splitParts(data []byte, boundary string) (*body, error) {
	b := &body{}
	seen := false
	r := multipart.NewReader(bytes.NewReader(data), boundary)
	for i := 0; ; i++ {
		part, err := r.NextRawPart()
		if errors.Is(err, io.EOF) && i > 0 {
			break
		}
		if err != nil {
			return nil, invalidBody("multipart_invalid", "The multipart body is damaged or cut off")
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil, invalidBody("multipart_invalid", "The multipart body is damaged or cut off")
		}
		name := part.FormName()
		twice := slices.ContainsFunc(b.parts, func(p engine.BodyPart) bool { return p.Name == name })
		switch {
		case i >= maxParts:
			return nil, invalidBody("multipart_invalid", "The multipart body has too many parts")
		case name == "":
			return nil, invalidBody("multipart_invalid", "A part of the multipart body has no name")
		case twice || name == "request" && seen:
			return nil, invalidBody("multipart_invalid", "The multipart body has two parts named "+clip(name))
		case name == "request":
			b.json, seen = content, true
		default:
			b.parts = append(b.parts, engine.BodyPart{Name: name, Data: content})
		}
	}
	if !seen {
		return nil, &refusal{
			status: http.StatusUnprocessableEntity, kind: "missing", message: "Field required",
			details: []engine.Detail{{Loc: []any{"body", "request"}, Msg: "Field required", Type: "missing"}},
		}
	}
	return b, nil
}
