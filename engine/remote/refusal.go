package remote

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"clefbar/engine"
)

// refusal turns an answer that is no success into an error. Servers differ in the
// shape of their bodies, so every known one is read: {"detail": [...]},
// {"detail": {"error_type", "message"}}, {"detail": "..."}, {"error": {"message"}}
// and {"errors": [{"message"}]}.
func (d *Decider) refusal(got *reply) error {
	word, message, details := readRefusal(got.body)
	message = short(message)
	e := &engine.Error{Reason: reasonOf(got.status, word), Details: details}
	said := message
	if said == "" {
		said = fmt.Sprintf("status %d", got.status)
	}
	switch e.Reason {
	case engine.Invalid:
		if len(details) == 0 {
			e.Details = []engine.Detail{{Loc: []any{"body"}, Msg: said, Type: "invalid"}}
		}
		e.Message = e.Details[0].Path() + ": " + e.Details[0].Msg
	case engine.TooLong:
		e.Needed, e.Limit = counts(message)
		e.Message = said
	case engine.Unreachable:
		e.Message = fmt.Sprintf("The server at %s does not decide at this address: %s", d.Host(), said)
	default:
		e.Message = fmt.Sprintf("The server at %s refuses: %s", d.Host(), said)
	}
	return e
}

// reasonOf maps a status, and the server's own word for it, to a reason.
func reasonOf(status int, word string) engine.Reason {
	switch {
	case word == "model_loading":
		return engine.Loading
	case word == "model_not_found":
		return engine.NoModel
	case word == "request_too_large":
		return engine.BadUsage
	}
	switch status {
	case http.StatusUnprocessableEntity:
		return engine.Invalid
	case http.StatusRequestEntityTooLarge:
		return engine.TooLong
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return engine.Busy
	case statusOverloaded:
		return engine.Loading
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusRequestTimeout, http.StatusBadGateway, http.StatusGatewayTimeout:
		return engine.Unreachable
	}
	switch status / 100 {
	case 3:
		return engine.Unreachable
	case 4:
		return engine.BadUsage
	}
	return engine.Failed
}

// readRefusal finds a short word, a sentence and details in an error's body.
func readRefusal(body []byte) (word, message string, details []engine.Detail) {
	v, err := engine.ParseValue(body, engine.Limits{})
	if err != nil {
		return "", plainText(body), nil
	}
	switch detail := v.Get("detail"); detail.Type {
	case engine.Array:
		for _, item := range detail.Items[:min(len(detail.Items), mostDetails)] {
			details = append(details, readDetail(item))
		}
		if len(details) > 0 {
			return details[0].Type, details[0].Msg, details
		}
	case engine.Object:
		return detail.Get("error_type").Text, detail.Get("message").Text, nil
	case engine.String:
		return "", detail.Text, nil
	}
	e := v.Get("error")
	if list := v.Get("errors"); e.Type == engine.Missing && len(list.Items) > 0 {
		e = list.Items[0]
	}
	if e.Type == engine.String {
		return "", e.Text, nil
	}
	word = e.Get("code").Text
	if e.Get("code").Type != engine.String {
		word = e.Get("type").Text
	}
	return word, e.Get("message").Text, nil
}

func readDetail(v engine.Value) engine.Detail {
	d := engine.Detail{Msg: short(v.Get("msg").Text), Type: short(v.Get("type").Text)}
	for _, step := range v.Get("loc").Items {
		if n, err := strconv.Atoi(step.Text); err == nil && step.Type == engine.Number {
			d.Loc = append(d.Loc, n)
		} else {
			d.Loc = append(d.Loc, short(step.Text))
		}
	}
	if len(d.Loc) == 0 {
		d.Loc = []any{"body"}
	}
	return d
}

// plainText shortens a body that is no JSON: a proxy's page, most likely.
func plainText(body []byte) string {
	text := strings.Join(strings.Fields(string(body[:min(len(body), 2000)])), " ")
	if strings.HasPrefix(text, "<") {
		return "a web page"
	}
	return strings.ToValidUTF8(text, "")
}

// What is shown of a server's error: enough to understand it, whatever it sends.
const (
	mostDetails = 64
	mostBytes   = 400
)

// short cuts a server's text.
func short(text string) string {
	if len(text) <= mostBytes {
		return text
	}
	return strings.ToValidUTF8(text[:mostBytes], "") + "…"
}

var numbers = regexp.MustCompile(`\d+`)

// counts finds how many tokens were needed and allowed in a sentence that says so:
// the only numbers in it, in either order.
func counts(message string) (needed, limit int) {
	found := numbers.FindAllString(message, -1)
	if len(found) != 2 {
		return 0, 0
	}
	a, errA := strconv.Atoi(found[0])
	b, errB := strconv.Atoi(found[1])
	if errA != nil || errB != nil {
		return 0, 0
	}
	return max(a, b), min(a, b)
}
