package document

import (
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"strconv"

	"clefbar/engine"
)

// decoded is an image item after its base64 has been read, kept per node because
// pictures are large and most edits leave them alone.
type decoded struct {
	data []byte
	err  error
}

// AddImage adds a picture file at the end and returns its key. PNG, JPEG and WebP
// are taken; the format is read from the bytes, and the limits of a request hold.
func (c *Case) AddImage(name string, data []byte) (Key, error) {
	k := c.nextKey()
	format := engine.Image{Data: data}.Format()
	v := stringNode("data:image/" + format + ";base64," + base64.StdEncoding.EncodeToString(data))
	if _, err := decodeImage(v); err != nil {
		return 0, &engine.Error{Reason: engine.Invalid, Message: name + ": " + err.Error(), Err: err}
	}
	c.change(tag{what: "add image"}, func(s *snapshot) {
		list := s.root.get("images")
		if list == nil || list.typ != engine.Array {
			list = emptyNode(engine.Array)
		}
		list = list.insert(len(list.slots), entry{key: k, value: v, at: -1}, styleOf(s.root).deeper())
		c.setTop(s, "images", list)
		s.imageName = maps.Clone(s.imageName)
		if s.imageName == nil {
			s.imageName = map[Key]string{}
		}
		s.imageName[k] = name
	})
	return k, nil
}

// RemoveImage takes a picture out.
func (c *Case) RemoveImage(k Key) {
	c.changeImages("remove image", func(list *node) *node {
		i := list.byKey(k)
		if i < 0 {
			return list
		}
		return list.remove(i)
	})
}

// MoveImage moves a picture to index to.
func (c *Case) MoveImage(k Key, to int) {
	c.changeImages("move image", func(list *node) *node { return moved(list, k, to) })
}

func (c *Case) changeImages(what string, f func(list *node) *node) {
	list := c.now.root.get("images")
	if list == nil || list.typ != engine.Array {
		return
	}
	fresh := f(list)
	if fresh == list {
		return
	}
	if len(fresh.slots) == 0 {
		fresh = nil
	}
	c.change(tag{what: what}, func(s *snapshot) { c.setTop(s, "images", fresh) })
}

func (c *Case) readImages() []Image {
	list := c.now.root.get("images")
	if list == nil || list.typ != engine.Array {
		return nil
	}
	images := make([]Image, len(list.slots))
	for i := range list.slots {
		e := &list.slots[i].entry
		d := c.pixelsOf(e.value)
		images[i] = Image{Key: e.key, Name: c.now.imageName[e.key], Data: d.data, Err: d.err}
		if images[i].Name == "" {
			images[i].Name = "Image " + strconv.Itoa(i+1)
		}
	}
	return images
}

func (c *Case) pixelsOf(n *node) decoded {
	d, ok := c.pixels[n]
	if !ok {
		d.data, d.err = decodeImage(n)
		if c.pixels == nil {
			c.pixels = map[*node]decoded{}
		}
		c.pixels[n] = d
	}
	return d
}

// forgetPixels drops decoded pictures that the current snapshot does not show.
func (c *Case) forgetPixels() {
	if len(c.pixels) == 0 {
		return
	}
	list := c.now.root.get("images")
	maps.DeleteFunc(c.pixels, func(n *node, _ decoded) bool {
		return list == nil || !slices.ContainsFunc(list.slots, func(s slot) bool { return s.value == n })
	})
}

// decodeImage lets the parser of the contract read one item, so that the form and
// the endpoint refuse the same pictures in the same words.
func decodeImage(n *node) ([]byte, error) {
	body := append([]byte(`{"state":"","questions":{"q":{"type":"noul"}},"images":[`), appendNode(nil, n)...)
	r, err := engine.ParseRequest(append(body, "]}"...), engine.Limits{})
	if err == nil {
		return r.Images[0].Data, nil
	}
	if e, ok := errors.AsType[*engine.Error](err); ok && len(e.Details) > 0 {
		return nil, errors.New(e.Details[0].Msg)
	}
	return nil, err
}
