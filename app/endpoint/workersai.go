package endpoint

import (
	"encoding/json"
	"net/http"

	"clefbar/engine"
)

// workersRun answers in the envelope of Workers AI (endpoint.md 11.2). The path names
// the model; a model in the body has to be the same.
func (s *Server) workersRun(x *exchange, name string) error {
	r, err := s.readSystemOne(x, false)
	if err != nil {
		return err
	}
	if r.Model != "" {
		sent, err := s.work.Key(r.Model)
		if err != nil {
			return err
		}
		if want, err := s.work.Key(name); err != nil || sent != want {
			return engine.InvalidAt("value_error", []any{"model"}, "The model in the body is not the one in the path, %s", name)
		}
	}
	r.Model = name
	for _, q := range r.Questions {
		if q.Instructions.Empty() {
			return engine.InvalidAt("missing", []any{"questions", q.ID, q.Kind.String(), "instructions"}, "Instructions are required here")
		}
	}
	resp, err := x.decide(x.r.Context(), r)
	if err != nil {
		return err
	}
	x.write(http.StatusOK, encode(envelope{Result: resp.JSON(), Success: true, Errors: []failure{}, Messages: []string{}}))
	return nil
}

type envelope struct {
	Result   json.RawMessage `json:"result"`
	Success  bool            `json:"success"`
	Errors   []failure       `json:"errors"`
	Messages []string        `json:"messages"`
}

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// workersCodes are the codes that Workers AI gives with a status.
var workersCodes = map[int]int{
	http.StatusUnauthorized:          10000,
	http.StatusBadRequest:            7000,
	http.StatusNotFound:              7000,
	http.StatusMethodNotAllowed:      7000,
	http.StatusUnprocessableEntity:   5012,
	http.StatusRequestEntityTooLarge: 5021,
	http.StatusTooManyRequests:       3040,
	http.StatusServiceUnavailable:    3040,
	statusLoading:                    3040,
	http.StatusInternalServerError:   5012,
}

// workersAI is the dialect of Workers AI: numeric codes in an envelope.
func workersAI(r *refusal) (int, any) {
	status, code := r.status, workersCodes[r.status]
	message := r.message
	if status == http.StatusUnprocessableEntity && len(r.details) > 0 {
		d := r.details[0]
		message = d.Path() + ": " + d.Msg
		switch {
		case d.Type == "json_invalid":
			status, code = http.StatusBadRequest, 6003
		case d.Type == "union_tag_invalid" || d.Type == "union_tag_not_found", len(d.Loc) == 2 && d.Loc[1] == "questions":
			status, code = http.StatusBadRequest, 5006
		}
	}
	if code == 0 {
		code = 5012
	}
	return status, envelope{Result: json.RawMessage("null"), Errors: []failure{{code, message}}, Messages: []string{}}
}
