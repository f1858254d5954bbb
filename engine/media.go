package engine

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"

	"golang.org/x/image/webp"
)

// media reads pictures in their three wire forms (endpoint.md 3.7): the images
// field, assets that the text names, image_url parts of an array state. They reach
// the model in that order, before the state.
func (p *parser) media(parts []BodyPart) {
	for _, field := range []string{"videos", "audio"} {
		v := p.body.Get(field)
		if v.Type != Missing && v.Type != Null && (v.Type != Array || len(v.Items) > 0) {
			p.add("media_unsupported", []any{field}, "The models read no %s", field)
		}
	}
	switch v := p.body.Get("images"); v.Type {
	case Missing, Null:
	case Array:
		for i, item := range v.Items {
			p.image(item, []any{"images", i})
		}
	default:
		p.add("list_type", []any{"images"}, "Input should be an array of images, not %s", v.Type)
	}
	p.assets(p.body.Get("assets"), parts)
	p.stateImages()
	p.nameAssets()
}

// image reads one item of the images field: a data URL, base64 text, or an object
// with base64 in it.
func (p *parser) image(v Value, loc []any) {
	if v.Type == Object {
		v = v.Get("base64")
	}
	if v.Type != String {
		p.add("image_invalid", loc, "Input should be a data URL, base64 text, or an object with content_type and base64")
		return
	}
	p.encoded(v.Text, loc)
}

// encoded takes base64 text or a data URL in.
func (p *parser) encoded(text string, loc []any) {
	if scheme, _, found := strings.Cut(text, ":"); found {
		head, payload, comma := strings.Cut(text, ",")
		switch {
		case !strings.EqualFold(scheme, "data"):
			p.add("image_remote", loc, "Addresses and paths are never opened; send the image itself as a data URL or base64")
			return
		case !comma || !strings.HasSuffix(strings.ToLower(head), ";base64"):
			p.add("image_invalid", loc, "The data URL should carry base64")
			return
		}
		text = payload
	}
	if base64.StdEncoding.DecodedLen(len(text)) > p.limits.ImageBytes+3 {
		p.add("too_long", loc, "An image has at most %d bytes", p.limits.ImageBytes)
		return
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		p.add("image_invalid", loc, "Not base64, and addresses and paths are never opened")
		return
	}
	p.picture(data, loc)
}

// picture checks encoded bytes by their header and takes them in.
func (p *parser) picture(data []byte, loc []any) {
	if len(p.request.Images) >= p.limits.Images {
		if !p.crowded {
			p.add("too_long", loc, "At most %d images are allowed", p.limits.Images)
		}
		p.crowded = true
		return
	}
	total := len(data)
	for _, other := range p.request.Images {
		total += len(other.Data)
	}
	switch {
	case len(data) > p.limits.ImageBytes:
		p.add("too_long", loc, "An image has at most %d bytes, not %d", p.limits.ImageBytes, len(data))
	case total > p.limits.ImagesBytes:
		p.add("too_long", loc, "All images together have at most %d bytes", p.limits.ImagesBytes)
	default:
		if why := p.headerFault(data); why != "" {
			p.add("image_invalid", loc, "%s", why)
		}
	}
	// A refused image is counted too, so that numbers in later messages are right.
	p.request.Images = append(p.request.Images, Image{Data: data})
}

// headerFault reads an image's size from its header and says what is wrong with it.
func (p *parser) headerFault(data []byte) string {
	kind, decode := sniff(data)
	if decode == nil {
		return "Not a readable image: PNG, JPEG and WebP are read"
	}
	size, err := decode(bytes.NewReader(data))
	if err != nil || size.Width <= 0 || size.Height <= 0 {
		return "Not a readable image: the " + kind + " header is damaged"
	}
	if size.Width > p.limits.ImagePixels/size.Height {
		return fmt.Sprintf("The image has %d by %d pixels; the limit is %d pixels in all", size.Width, size.Height, p.limits.ImagePixels)
	}
	long, short := max(size.Width, size.Height), min(size.Width, size.Height)
	if float64(long) > p.limits.ImageRatio*float64(short) {
		return fmt.Sprintf("The image has %d by %d pixels; one side may be at most %g times the other", size.Width, size.Height, p.limits.ImageRatio)
	}
	return ""
}

// sniff names an image format by its first bytes; what the sender says it is does
// not count.
func sniff(data []byte) (string, func(r *bytes.Reader) (image.Config, error)) {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return "png", func(r *bytes.Reader) (image.Config, error) { return png.DecodeConfig(r) }
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return "jpeg", func(r *bytes.Reader) (image.Config, error) { return jpeg.DecodeConfig(r) }
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return "webp", func(r *bytes.Reader) (image.Config, error) { return webp.DecodeConfig(r) }
	}
	return "", nil
}

// Format returns "png", "jpeg" or "webp" by the image's first bytes, "" for anything
// else.
func (i Image) Format() string {
	kind, _ := sniff(i.Data)
	return kind
}

// stateImages takes image_url parts out of an array state.
func (p *parser) stateImages() {
	isImage := func(v Value) bool { kind := v.Get("type"); return kind.Type == String && kind.Text == "image_url" }
	if p.request.State.Type != Array || !slices.ContainsFunc(p.request.State.Items, isImage) {
		return
	}
	kept := make([]Value, 0, len(p.request.State.Items))
	for i, item := range p.request.State.Items {
		if !isImage(item) {
			kept = append(kept, item)
			continue
		}
		loc := []any{"state", i, "image_url"}
		if url := item.Get("image_url").Get("url"); url.Type == String {
			p.encoded(url.Text, loc)
		} else {
			p.add("image_invalid", loc, "Input should be an object whose url is a data URL")
		}
	}
	p.request.State.Items = kept
}
