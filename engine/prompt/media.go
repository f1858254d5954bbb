package prompt

import (
	"fmt"
	"slices"
	"strings"

	"clefbar/engine"
)

// The tokens that stand for pictures (clef.md 2.8).
const (
	visionStart = "<|vision_start|>"
	visionEnd   = "<|vision_end|>"
	imagePad    = "<|image_pad|>"
	videoPad    = "<|video_pad|>"
)

func (e *encoder) hasMedia() bool { return len(e.opt.MediaTokens)+len(e.opt.Videos) > 0 }

// media adds the piece of all images and videos, each expanded to the tokens it
// takes. They are never cut.
func (e *encoder) media(p *part) error {
	if n := len(e.request.Images); n != len(e.opt.MediaTokens) {
		return &engine.Error{Message: fmt.Sprintf("The request has %d images, but %d of them were measured", n, len(e.opt.MediaTokens))}
	}
	if !e.hasMedia() {
		return nil
	}
	for _, token := range []string{visionStart, visionEnd, imagePad, videoPad} {
		if _, ok := e.tok.ID(token); !ok {
			return &engine.Error{Reason: engine.BadModel, Message: "tokenizer.json: there is no token " + token + ", which images need"}
		}
	}
	total, limit := 0, e.limit()
	for _, n := range e.mediaSizes() {
		if n <= 0 {
			return &engine.Error{Message: fmt.Sprintf("An image was measured to take %d tokens", n)}
		}
		if total += min(n, limit+1); total > limit {
			return &engine.Error{
				Reason: engine.TooLong, Needed: max(n, total), Limit: limit,
				Message: fmt.Sprintf("The images need more tokens than the limit of %d", limit),
			}
		}
	}
	e.piece(p, engine.PartMedia, mediaText(e.opt.MediaTokens, e.opt.Videos))
	return nil
}

// mediaSizes lists the tokens of every image and every group of frames.
func (e *encoder) mediaSizes() []int {
	sizes := slices.Clone(e.opt.MediaTokens)
	for _, v := range e.opt.Videos {
		for range v.Seconds {
			sizes = append(sizes, v.Tokens)
		}
	}
	return sizes
}

// mediaText is the media piece: images, then videos, then a newline.
func mediaText(images []int, videos []Video) string {
	var s strings.Builder
	for _, n := range images {
		s.WriteString(visionStart + strings.Repeat(imagePad, n) + visionEnd)
	}
	for _, v := range videos {
		s.WriteString(visionStart)
		for _, at := range v.Seconds {
			fmt.Fprintf(&s, "<%.1f seconds>%s%s%s", at, visionStart, strings.Repeat(videoPad, v.Tokens), visionEnd)
		}
		s.WriteString(visionEnd)
	}
	s.WriteString(newlineText)
	return s.String()
}
