package endpoint

import (
	"net/http"

	"clefbar/engine"
)

// systemOne answers a System One request (endpoint.md 3 and 4).
func (s *Server) systemOne(x *exchange) error {
	r, err := s.readSystemOne(x, true)
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

// readSystemOne takes in a System One request.
func (s *Server) readSystemOne(x *exchange, multipart bool) (*engine.Request, error) {
	release, err := x.reserve()
	if err != nil {
		return nil, err
	}
	defer release()
	b, err := x.readBody(multipart)
	if err != nil {
		return nil, err
	}
	return engine.ParseParts(b.json, b.parts, s.opt.Limits)
}
