package endpoint

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// dialect gives a refusal the status and the body that a family of clients expects.
type dialect func(*refusal) (status int, body any)

// systemOne is TypeSafe's form: a list of details for a 422, an error type and a
// message for the rest (endpoint.md 6).
func systemOne(r *refusal) (int, any) {
	if r.status == http.StatusUnprocessableEntity {
		type detail struct {
			Loc  []any  `json:"loc"`
			Msg  string `json:"msg"`
			Type string `json:"type"`
		}
		list := make([]detail, 0, len(r.details))
		for _, d := range r.details {
			list = append(list, detail(d))
		}
		return r.status, map[string]any{"detail": list}
	}
	return r.status, map[string]any{"detail": struct {
		Kind    string `json:"error_type"`
		Message string `json:"message"`
	}{r.kind, r.message}}
}

// openAI is the form of OpenAI's API: bad input is a 400 that names the parameter
// (endpoint.md 10).
func openAI(r *refusal) (int, any) {
	type failure struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	f := failure{Message: r.message, Type: r.kind}
	if r.param != "" {
		f.Param = &r.param
	}
	status := r.status
	switch status {
	case http.StatusUnprocessableEntity:
		status, f.Type = http.StatusBadRequest, "invalid_request_error"
		if len(r.details) > 0 {
			f.Code = &r.details[0].Type
		}
	case http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge:
		f.Type, f.Code = "invalid_request_error", &r.kind
	}
	return status, map[string]any{"error": f}
}

// encode writes v as JSON without escaping what HTML would need.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("endpoint: a response of ours is not JSON: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
