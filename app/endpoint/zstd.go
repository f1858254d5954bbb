package endpoint

import (
	"bytes"
	"errors"

	"github.com/klauspost/compress/zstd"
)

// Bounds on a zstd body. The window is the largest that decoders must support
// (RFC 8878 3.1.1.1.2) up to the most a body may have anyway.
const (
	maxFrames = 16
	maxWindow = 32 << 20
)

// decodeZstd decodes the body that the official Python client sends from 1,024 bytes
// on. Frames are counted first: an empty one costs four bytes and a set-up.
func decodeZstd(raw []byte, most int) ([]byte, error) {
	if n, err := countFrames(raw); err != nil || n == 0 || n > maxFrames {
		return nil, badEncoding("zstd")
	}
	r, err := zstd.NewReader(bytes.NewReader(raw), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(uint64(most)+1))
	if err != nil {
		return nil, badEncoding("zstd")
	}
	defer r.Close()
	var out bytes.Buffer
	_, err = out.ReadFrom(&capped{r: r, left: most + 1})
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return nil, tooLarge(most)
	case err != nil:
		return nil, badEncoding("zstd")
	}
	return out.Bytes(), nil
}

// capped is an io.LimitReader that leaves errors of the decoder visible.
type capped struct {
	r    *zstd.Decoder
	left int
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, zstd.ErrDecoderSizeExceeded
	}
	n, err := c.r.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

var errFrame = errors.New("not a zstd frame")

// countFrames walks over the frames without decoding them (RFC 8878 3.1.1). It
// stops counting soon after maxFrames.
func countFrames(raw []byte) (int, error) {
	n := 0
	for ; len(raw) > 0 && n <= maxFrames; n++ {
		var h zstd.Header
		rest, err := h.DecodeAndStrip(raw)
		if err != nil {
			return n, errFrame
		}
		if h.Skippable {
			if uint64(h.SkippableSize) > uint64(len(rest)) {
				return n, errFrame
			}
			raw = rest[h.SkippableSize:]
			continue
		}
		if raw, err = skipBlocks(rest, h.HasCheckSum); err != nil {
			return n, err
		}
	}
	return n, nil
}

// skipBlocks returns what follows the blocks of a frame.
func skipBlocks(b []byte, checksum bool) ([]byte, error) {
	for last := false; !last; {
		if len(b) < 3 {
			return nil, errFrame
		}
		head := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
		last = head&1 == 1
		size := head >> 3
		if kind := head >> 1 & 3; kind == 1 { // run-length: one byte stands for size of them
			size = 1
		}
		if b = b[3:]; size > len(b) {
			return nil, errFrame
		}
		b = b[size:]
	}
	if checksum {
		if len(b) < 4 {
			return nil, errFrame
		}
		b = b[4:]
	}
	return b, nil
}
