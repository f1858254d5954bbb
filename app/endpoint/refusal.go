package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"clefbar/app/worker"
	"clefbar/engine"
)

// refusal is an answer other than 200, before a dialect gives it a shape.
type refusal struct {
	status  int
	kind    string // error_type
	message string
	details []engine.Detail // 422
	param   string          // the field that is wrong, in the words of OpenAI's API
	after   time.Duration   // when to try again; 0 if never
	allow   string          // 405: the methods that are allowed
	header  http.Header     // more headers
	defect  error           // 500: what to log
}

func (r *refusal) Error() string { return r.message }

// statusGone is what a request ends with whose client has left. Only one that hung up
// half of the connection receives it. The number is nginx's.
const statusGone = 499

// statusLoading is what the official clients know as "overloaded"; they and the
// AI SDK try again after it (endpoint.md 6).
const statusLoading = 529

// reasons maps the engine's reasons to answers (endpoint.md 6). A reason that is not
// here is a defect: 500 without detail.
var reasons = map[engine.Reason]struct {
	status int
	kind   string
}{
	engine.Invalid:      {http.StatusUnprocessableEntity, "invalid"},
	engine.BadUsage:     {http.StatusBadRequest, "api_usage_error"},
	engine.TooLong:      {http.StatusRequestEntityTooLarge, "max_tokens_exceeded"},
	engine.NoModel:      {http.StatusNotFound, "model_not_found"},
	engine.BadModel:     {http.StatusBadRequest, "model_unavailable"},
	engine.NoMemory:     {http.StatusBadRequest, "model_unavailable"},
	engine.Loading:      {statusLoading, "model_loading"},
	engine.Busy:         {http.StatusTooManyRequests, "rate_limited"},
	engine.ShuttingDown: {http.StatusServiceUnavailable, "unavailable"},
	engine.Device:       {http.StatusInternalServerError, "device_failed"},
	engine.Unreachable:  {http.StatusBadGateway, "upstream_unreachable"},
}

// refuse turns any error into a refusal.
func (s *Server) refuse(err error) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	if errors.Is(err, worker.ErrDeadline) {
		return &refusal{status: http.StatusGatewayTimeout, kind: "timeout", message: worker.ErrDeadline.Error()}
	}
	if errors.Is(err, context.Canceled) {
		return &refusal{status: statusGone, kind: "cancelled", message: "the client has left"}
	}
	e, ok := errors.AsType[*engine.Error](err)
	if !ok {
		return defect(err)
	}
	row, known := reasons[e.Reason]
	if !known {
		return defect(err)
	}
	r := &refusal{status: row.status, kind: row.kind, message: e.Message, details: e.Details}
	switch e.Reason {
	case engine.Loading, engine.Busy, engine.ShuttingDown:
		r.after = s.work.RetryAfter(e.Reason)
	case engine.TooLong:
		if e.Needed > 0 {
			r.message = fmt.Sprintf("The request needs %d tokens; the limit is %d", e.Needed, e.Limit)
		}
	case engine.Invalid:
		if len(r.details) == 0 {
			r.details = []engine.Detail{{Loc: []any{"body"}, Msg: e.Message, Type: "value_error"}}
		}
	case engine.Device: // what failed is for the log
		r.message, r.defect = "The device failed while it decided; try again", err
	case engine.Unreachable:
		r.message, r.defect = "The server behind this model does not answer", err
	}
	return r
}

// defect hides what went wrong from the client and keeps it for the log.
func defect(err error) *refusal {
	return &refusal{
		status: http.StatusInternalServerError, kind: "unknown",
		message: "Something went wrong inside the server", defect: err,
	}
}

// invalidBody is a 422 about the body as a whole.
func invalidBody(kind, message string) *refusal {
	return &refusal{
		status: http.StatusUnprocessableEntity, kind: kind, message: message,
		details: []engine.Detail{{Loc: []any{"body"}, Msg: message, Type: kind}},
	}
}
