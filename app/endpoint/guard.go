package endpoint

import (
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"clefbar/engine"
)

// guard decides which hosts and origins are answered. Host stops DNS rebinding,
// Origin stops web pages: a browser sends it with every request that could do harm,
// and needs no preflight for a form (endpoint.md 8).
type guard struct {
	hosts   []string
	origins []*regexp.Regexp
}

// loopbackOrigin matches pages that this machine itself serves.
var loopbackOrigin = regexp.MustCompile(`^(?i:https?://(localhost|127\.0\.0\.1|\[::1\]))(:[0-9]{1,5})?$`)

// originPattern is a browser's origin in which * may stand for a part of the host, or for the port.
var originPattern = regexp.MustCompile(`^(?i:[a-z][a-z0-9+.-]*)://([A-Za-z0-9.*_-]+|\[[0-9A-Fa-f:.]+\])(:([0-9]{1,5}|\*))?/?$`)

// CheckOrigin returns an error unless o can be allowed: an origin such as https://app.example, with * for any host or
// port, or * alone for every page.
func CheckOrigin(o string) error {
	if o = strings.TrimSpace(o); o == "" || o == "*" || o == "null" || originPattern.MatchString(o) {
		return nil
	}
	return fmt.Errorf("%q is no origin: write it like https://app.example or http://*.example:8080", clip(o))
}

func newGuard(origins, hosts []string) guard {
	g := guard{hosts: []string{"localhost", "127.0.0.1", "::1"}, origins: []*regexp.Regexp{loopbackOrigin}}
	for _, h := range hosts {
		g.hosts = append(g.hosts, strings.ToLower(strings.Trim(strings.TrimSpace(h), "[]")))
	}
	for _, o := range origins {
		if o = strings.TrimRight(strings.TrimSpace(o), "/"); o != "" {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(o), `\*`, `[^/]*`)
			if o == "*" {
				pattern = ".*"
			}
			g.origins = append(g.origins, regexp.MustCompile("^(?i:"+pattern+")$"))
		}
	}
	return g
}

// check returns a refusal if the request names another host or comes from a page
// that is not allowed.
func (g guard) check(r *http.Request) error {
	if r.Host == "" {
		return &refusal{status: http.StatusBadRequest, kind: "bad_request", message: "The Host header is missing"}
	}
	if !g.hostAllowed(r) {
		return &refusal{
			status: http.StatusForbidden, kind: "forbidden_host",
			message: "This server does not answer for the host " + clip(r.Host),
		}
	}
	for _, o := range r.Header.Values("Origin") {
		if !g.originAllowed(o) {
			return &refusal{
				status: http.StatusForbidden, kind: "forbidden_origin",
				message: "Pages of " + clip(o) + " may not use this server; allow the origin in the settings",
			}
		}
	}
	return nil
}

// hostAllowed requires a known name and, if there is a port, the port we listen on.
func (g guard) hostAllowed(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	localIP, localPort := splitAddr(local)
	name, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		name, port = r.Host, ""
		if strings.HasSuffix(name, ":") {
			return false
		}
		if strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") {
			name = name[1 : len(name)-1]
		}
	} else if port != localPort {
		return false
	}
	name = strings.ToLower(name)
	if slices.Contains(g.hosts, name) {
		return true
	}
	// On a network the address itself is a name too; a rebinding page has a name, never an address.
	return localIP != nil && !localIP.IsLoopback() && localIP.Equal(net.ParseIP(name))
}

func splitAddr(a net.Addr) (net.IP, string) {
	if a == nil {
		return nil, ""
	}
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return nil, ""
	}
	return net.ParseIP(host), port
}

func (g guard) originAllowed(origin string) bool {
	return slices.ContainsFunc(g.origins, func(p *regexp.Regexp) bool { return p.MatchString(origin) })
}

// Request headers that a page may send and response headers that it may read.
var (
	corsRequest = []string{
		"authorization", "content-type", "content-encoding", "accept", "x-requested-with", "openai-beta",
		"x-typesafe-sdk", "x-typesafe-runtime", "x-typesafe-retry-count", "typesafe-danger-zone-images",
	}
	corsExpose = "x-typesafe-request-id, Server-Timing, Retry-After, retry-after-ms, " + engine.PracticeHeader
)

// allow tells the browser of an allowed page that it may read the answer.
func (g guard) allow(h http.Header, r *http.Request) {
	h.Add("Vary", "Origin")
	if origin := r.Header.Get("Origin"); origin != "" {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", corsExpose)
	}
}

func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// preflight answers what a browser asks before it sends a request of a page.
func (x *exchange) preflight(rt *route) {
	h := x.w.Header()
	h.Add("Vary", "Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", rt.methods)
	h.Set("Access-Control-Allow-Headers", strings.Join(allowedHeaders(x.r.Header.Values("Access-Control-Request-Headers")), ", "))
	h.Set("Access-Control-Max-Age", "600")
	if x.r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	x.write(http.StatusNoContent, nil)
}

// allowedHeaders returns our list and the x-stainless-* headers that were asked for.
func allowedHeaders(asked []string) []string {
	list := slices.Clone(corsRequest)
	for _, line := range asked {
		for name := range strings.SplitSeq(line, ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			if strings.HasPrefix(name, "x-stainless-") && len(list) < 64 && isToken(name) {
				list = append(list, name)
			}
		}
	}
	return list
}

func isToken(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}
