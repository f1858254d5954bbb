package endpoint

import (
	"net/http"

	"clefbar/engine"
)

// systemOne answers a System One request (endpoint.md 3 and 4).
func (s *Server) systemOne(x *exchange) error {
	b, err := x.readBody(true)
	if err != nil {
		return err
	}
	r, err := engine.ParseParts(b.json, b.parts, s.opt.Limits)
	if err != nil {
		return err
	}
	resp, err := x.decide(x.r.Context(), r)
	if err != nil {
		return err
	}
	x.write(http.StatusOK, resp.JSON())
	return nil
}
