package endpoint

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// route is one path.
type route struct {
	methods string // as in the Allow header
	open    bool   // answered without a key
	dialect dialect
	handle  func(*exchange) error
}

func (r *route) allows(method string) bool {
	return slices.Contains(strings.Split(r.methods, ", "), method)
}

const (
	readMethods = "GET, HEAD"
	postMethod  = http.MethodPost
)

// table returns the fixed paths (endpoint.md 1).
func (s *Server) table() map[string]*route {
	decide := &route{methods: postMethod, dialect: systemOne, handle: s.systemOne}
	return map[string]*route{
		"/":                    {methods: readMethods, open: true, dialect: systemOne, handle: s.health},
		"/health":              {methods: readMethods, open: true, dialect: systemOne, handle: s.health},
		"/ready":               {methods: readMethods, open: true, dialect: systemOne, handle: s.ready},
		"/v1/models":           {methods: readMethods, dialect: systemOne, handle: s.models},
		"/v1/systemone":        decide,
		"/api/v1/systemone":    decide, // OpenRouter's paths
		"/api/alpha/decisions": decide,
		"/v1/decisions":        {methods: postMethod, dialect: openAI, handle: s.decisions},
	}
}

// workersPath is the path of a model on Workers AI.
var workersPath = regexp.MustCompile(`^/client/v4/accounts/[^/]+/ai/run/@cf/cloudflare/(clef|clef-flash)$`)

// find returns the route of a path. A trailing slash means the same route: a
// redirect would break clients (endpoint.md 1).
func (s *Server) find(path string) (*route, bool) {
	if trimmed := strings.TrimRight(path, "/"); trimmed != "" {
		path = trimmed
	} else if path != "" {
		path = "/"
	}
	if rt, ok := s.routes[path]; ok {
		return rt, true
	}
	if m := workersPath.FindStringSubmatch(path); m != nil {
		return &route{methods: postMethod, dialect: workersAI, handle: func(x *exchange) error { return s.workersRun(x, m[1]) }}, true
	}
	return nil, false
}
