package endpoint

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestHostAndOrigin(t *testing.T) {
	r := start(t, Options{Origins: []string{"https://app.example", "http://*.lan:*"}, Hosts: []string{"mac.local"}})
	_, port, err := net.SplitHostPort(strings.TrimPrefix(r.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		header string
		status int
		kind   string
	}{
		{"Host: localhost:" + port, 200, ""},
		{"Host: LOCALHOST", 200, ""},
		{"Host: [::1]:" + port, 200, ""},
		{"Host: [::1]", 200, ""},
		{"Host: 127.0.0.1", 200, ""},
		{"Host: mac.local:" + port, 200, ""},
		{"Host: localhost:1", 403, "forbidden_host"},
		{"Host: evil.example:" + port, 403, "forbidden_host"},
		{"Host: evil.example", 403, "forbidden_host"},
		{"Host: localhost.evil.example", 403, "forbidden_host"},
		{"Host: 127.0.0.1.evil.example:" + port, 403, "forbidden_host"},
		{"Host: 127.0.0.2:" + port, 403, "forbidden_host"},
		{"Host: 0.0.0.0:" + port, 403, "forbidden_host"},
		{"Host: localhost.", 403, "forbidden_host"},
		{"Origin: http://localhost:3000", 200, ""},
		{"Origin: https://127.0.0.1", 200, ""},
		{"Origin: http://[::1]:8080", 200, ""},
		{"Origin: https://app.example", 200, ""},
		{"Origin: http://a.lan:99", 200, ""},
		{"Origin: https://evil.example", 403, "forbidden_origin"},
		{"Origin: null", 403, "forbidden_origin"},
		{"Origin: file://", 403, "forbidden_origin"},
		{"Origin: http://localhost.evil.example", 403, "forbidden_origin"},
		{"Origin: http://evil.example/.lan:1", 403, "forbidden_origin"},
		{"Origin: https://app.example.evil", 403, "forbidden_origin"},
		{"Sec-Fetch-Mode: cors", 200, ""},
	} {
		got := r.ask(t, noul, c.header)
		if got.status != c.status {
			t.Errorf("%s: got %d, want %d", c.header, got.status, c.status)
			continue
		}
		acao := got.header.Get("Access-Control-Allow-Origin")
		if c.status == 403 {
			if kind := got.kind(t); kind != c.kind || acao != "" {
				t.Errorf("%s: got %s, ACAO %q; want %s, none", c.header, kind, acao, c.kind)
			}
		}
		if origin, ok := strings.CutPrefix(c.header, "Origin: "); ok && c.status == 200 && acao != origin {
			t.Errorf("%s: ACAO %q", c.header, acao)
		}
	}
}

func TestPreflight(t *testing.T) {
	r := start(t, Options{Key: "secret-key"})
	got := r.do(t, "OPTIONS", "/v1/systemone", "", "Origin: http://localhost:3000", "Access-Control-Request-Method: POST",
		"Access-Control-Request-Headers: content-type,X-Stainless-OS,x-evil,x-stainless-ö")
	allowed := got.header.Get("Access-Control-Allow-Headers")
	if got.status != 204 || got.header.Get("Access-Control-Allow-Methods") != "POST" ||
		!strings.Contains(allowed, "authorization") || !strings.Contains(allowed, "x-stainless-os") || strings.Contains(allowed, "evil") {
		t.Errorf("got %d %v", got.status, got.header)
	}
	if got := r.do(t, "OPTIONS", "/v1/systemone", "", "Origin: https://evil.example", "Access-Control-Request-Method: POST"); got.status != 403 {
		t.Errorf("foreign preflight: got %d, want 403", got.status)
	}
}

func TestFormPostIsRefused(t *testing.T) {
	r := start(t, Options{})
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "nonsense", "text/html; charset=utf-8"} {
		got := r.ask(t, noul, "Content-Type: "+kind)
		if got.status != 415 || got.kind(t) != "unsupported_media_type" {
			t.Errorf("%s: got %d %s", kind, got.status, got.body)
		}
	}
	for _, kind := range []string{"", "application/json; charset=utf-8", "application/problem+json", "APPLICATION/JSON"} {
		if got := r.ask(t, noul, "Content-Type: "+kind); got.status != 200 {
			t.Errorf("%q: got %d %s", kind, got.status, got.body)
		}
	}
}

// TestBareRefusals sends what net/http refuses before a handler is asked.
func TestBareRefusals(t *testing.T) {
	svc, err := Start("127.0.0.1:0", start(t, Options{}).api)
	if err != nil {
		t.Fatal(err)
	}
	defer svc.Stop(t.Context())
	for _, c := range []struct {
		name, raw string
		status    int
	}{
		{"no Host", "GET /health HTTP/1.1\r\n\r\n", 400},
		{"no Host in 1.0", "GET /health HTTP/1.0\r\n\r\n", 400},
		{"not HTTP", "hello\r\n\r\n", 400},
		{"long header", "GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", 431},
		{"odd transfer encoding", "POST /health HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: cow\r\n\r\n", 501},
		{"two lengths", "POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", svc.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			go func() { _, _ = conn.Write([]byte(c.raw)) }() // the server may hang up half-way
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			var body struct {
				Detail struct {
					Kind    string `json:"error_type"`
					Message string `json:"message"`
				} `json:"detail"`
			}
			if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
				t.Fatalf("status %d: the body is not JSON: %v", resp.StatusCode, err)
			}
			if resp.StatusCode != c.status || body.Detail.Kind == "" || body.Detail.Message == "" ||
				resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("x-typesafe-request-id") == "" {
				t.Errorf("got %d %v %+v, want %d", resp.StatusCode, resp.Header, body, c.status)
			}
		})
	}
}

func TestCheckOrigin(t *testing.T) {
	for _, good := range []string{
		"", " ", "*", "null", "https://app.example", "https://app.example/", "http://*.example:8080", "http://localhost:*", "https://*", "http://[::1]:80",
		"chrome-extension://abcdef", "HTTPS://App.Example",
	} {
		if err := CheckOrigin(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"nonsense", "app.example", "https://", "https://a/b", "https://a?b", "https://a b", "https://u@a", "https://a:port", "https://a:123456", "://a", "1http://a",
		strings.Repeat("x", 10_000),
	} {
		if err := CheckOrigin(bad); err == nil || len(err.Error()) > 400 {
			t.Errorf("%.40q: got %.100v", bad, err)
		}
	}
}
