package endpoint

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"clefbar/engine"
)

// maxBody is the most bytes of a body, counted after decoding (endpoint.md 3.6).
func (s *Server) maxBody() int {
	if s.opt.Limits.Body > 0 {
		return s.opt.Limits.Body
	}
	return engine.DefaultLimits().Body
}

func tooLarge(most int) *refusal {
	return &refusal{
		status: http.StatusRequestEntityTooLarge, kind: "request_too_large",
		message: fmt.Sprintf("The body is over %d MiB", most>>20),
	}
}

func unsupported(format string, args ...any) *refusal {
	return &refusal{
		status: http.StatusUnsupportedMediaType, kind: "unsupported_media_type", message: fmt.Sprintf(format, args...),
		header: http.Header{"Accept-Encoding": {"zstd, gzip, deflate, identity"}},
	}
}

// Large bodies are taken in a few at a time: what is held in memory has a bound,
// however many programs send at once.
const (
	largeBody  = 1 << 20 // bytes from which a body counts as large; compressed ones always do
	largeAtOne = 8       // large bodies being read, decoded or parsed
	largeWait  = 5 * time.Second
)

// reserve takes a place among the large bodies if the request has one. The place is
// given back with the function that it returns.
func (x *exchange) reserve() (release func(), err error) {
	if n := x.r.ContentLength; n >= 0 && n <= largeBody && x.r.Header.Get("Content-Encoding") == "" {
		return func() {}, nil
	}
	wait := time.NewTimer(largeWait)
	defer wait.Stop()
	select {
	case x.s.large <- struct{}{}:
		return func() { <-x.s.large }, nil
	case <-x.r.Context().Done():
		return nil, x.r.Context().Err()
	case <-wait.C:
		return nil, &engine.Error{Reason: engine.Busy, Message: "too many large requests are arriving; try again in a moment"}
	}
}

// body is a request's decoded body: the JSON document and, for multipart, the parts
// beside it.
type body struct {
	json  []byte
	parts []engine.BodyPart
}

// readBody checks the media type, reads and decodes the body, and takes a multipart
// body apart. Nothing is written to disk.
func (x *exchange) readBody(multipart bool) (*body, error) {
	boundary, err := mediaType(x.r.Header.Get("Content-Type"), multipart)
	if err != nil {
		return nil, err
	}
	decode, err := encoding(x.r.Header.Values("Content-Encoding"))
	if err != nil {
		return nil, err
	}
	raw, err := x.readRaw()
	if err != nil {
		return nil, err
	}
	most := x.s.maxBody()
	data, err := decode(raw, most)
	if err != nil {
		return nil, err
	}
	if len(data) > most {
		return nil, tooLarge(most)
	}
	if boundary == "" {
		return &body{json: data}, nil
	}
	return splitParts(data, boundary)
}

// readRaw reads the body as it arrives, up to the limit.
func (x *exchange) readRaw() ([]byte, error) {
	most := x.s.maxBody()
	if x.r.ContentLength > int64(most) {
		return nil, tooLarge(most)
	}
	var buf bytes.Buffer
	if n := x.r.ContentLength; n > 0 {
		buf.Grow(int(min(n, 1<<20)) + bytes.MinRead) // the header is a claim: trust it up to a megabyte
	}
	n, err := buf.ReadFrom(io.LimitReader(x.r.Body, int64(most)+1))
	x.event.Bytes = int(n)
	if err != nil {
		x.read = true // what is left cannot be read either
		if x.r.Context().Err() != nil {
			return nil, x.r.Context().Err()
		}
		return nil, invalidBody("body_incomplete", "The body ended before its announced length")
	}
	if n > int64(most) {
		return nil, tooLarge(most)
	}
	x.read = true
	return buf.Bytes(), nil
}

// mediaType accepts JSON, no type at all and, where allowed, multipart/form-data,
// whose boundary it returns.
func mediaType(header string, multipart bool) (boundary string, err error) {
	if header == "" {
		return "", nil
	}
	kind, params, err := mime.ParseMediaType(header)
	if err != nil && kind == "" {
		return "", unsupported("The Content-Type %q cannot be read; send application/json", clip(header))
	}
	switch {
	case kind == "application/json" || strings.HasSuffix(kind, "+json"):
		return "", nil
	case kind == "multipart/form-data" && multipart:
		if b := params["boundary"]; b != "" && len(b) <= 70 {
			return b, nil
		}
		return "", invalidBody("multipart_invalid", "The multipart body has no usable boundary")
	}
	return "", unsupported("The Content-Type %q is not supported; send application/json", clip(kind))
}

// decoder turns an encoded body into at most most+1 bytes.
type decoder func(raw []byte, most int) ([]byte, error)

// encoding picks the decoder that Content-Encoding names.
func encoding(headers []string) (decoder, error) {
	switch name := strings.ToLower(strings.TrimSpace(strings.Join(headers, ","))); name {
	case "", "identity":
		return func(raw []byte, _ int) ([]byte, error) { return raw, nil }, nil
	case "zstd":
		return decodeZstd, nil
	case "gzip", "x-gzip":
		return decodeGzip, nil
	case "deflate":
		return decodeDeflate, nil
	default:
		return nil, unsupported("The Content-Encoding %q is not supported; use zstd, gzip, deflate or none", clip(name))
	}
}

func decodeGzip(raw []byte, most int) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, badEncoding("gzip")
	}
	return drainDecoder(r, "gzip", most)
}

// decodeDeflate reads zlib data, as the standard says, or bare deflate data, as some
// programs send.
func decodeDeflate(raw []byte, most int) ([]byte, error) {
	br := bufio.NewReader(bytes.NewReader(raw))
	if head, err := br.Peek(2); err == nil && head[0]&0x0F == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		r, err := zlib.NewReader(br)
		if err != nil {
			return nil, badEncoding("deflate")
		}
		return drainDecoder(r, "deflate", most)
	}
	return drainDecoder(flate.NewReader(br), "deflate", most)
}

// drainDecoder reads up to most+1 bytes, so that the caller sees when it is too much.
func drainDecoder(r io.Reader, name string, most int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, badEncoding(name)
	}
	return data, nil
}

func badEncoding(name string) *refusal {
	return invalidBody("encoding_invalid", "The "+name+" data of the body is damaged or cut off")
}
