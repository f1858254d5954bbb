package endpoint

import (
	"bytes"
	"net"
	"net/http"
	"strconv"
	"sync"
)

// listener bounds the number of connections and gives our shape to the refusals that
// net/http writes itself, before a handler is asked.
type listener struct {
	net.Listener
	places chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	l.places <- struct{}{}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &conn{Conn: c, leave: sync.OnceFunc(func() { <-l.places })}, nil
}

type conn struct {
	net.Conn
	leave func()
}

func (c *conn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// bareHead is how net/http begins the answer to a request that it cannot read: no
// Host, a header that is too long, a broken request line.
const bareHead = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// Write turns a bare refusal into one with our error shape and headers, because
// every answer is JSON (endpoint.md 1.2). Everything else passes untouched.
func (c *conn) Write(b []byte) (int, error) {
	line, reason, found := bytes.Cut(b[:min(len(b), 1024)], []byte(bareHead))
	if !found || bytes.ContainsRune(line, '\n') || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return c.Conn.Write(b)
	}
	if _, err := c.Conn.Write(bareRefusal(line, reason)); err != nil {
		return 0, err
	}
	return len(b), nil
}

func bareRefusal(line, reason []byte) []byte {
	kind := "bad_request"
	if bytes.HasPrefix(line, []byte("HTTP/1.1 "+strconv.Itoa(http.StatusRequestHeaderFieldsTooLarge))) {
		kind = "headers_too_large"
	}
	_, body := systemOne(&refusal{kind: kind, message: string(reason)})
	text := encode(body)
	var out bytes.Buffer
	out.Write(line)
	out.WriteString("\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nConnection: close\r\nx-typesafe-request-id: ")
	out.WriteString(newID())
	out.WriteString("\r\nContent-Length: " + strconv.Itoa(len(text)) + "\r\n\r\n")
	out.Write(text)
	return out.Bytes()
}
