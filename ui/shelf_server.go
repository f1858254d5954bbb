package ui

import (
	"net/url"
	"strings"

	"fyne.io/fyne/v2"
)

// askServer asks for the address of another /v1/systemone server.
func (s *shelfPage) askServer() {
	m := newModal(s.page, "Add a server", "")
	m.width, m.height = 460, 268
	b := &serverBody{note: newParagraph("Any server that answers /v1/systemone: vLLM, SGLang, llama.cpp, Workers AI or another Clefbar. Its models are listed here, and your cases go there when you use one.", colorInk2, 13)}
	take := func(string) { b.submit(s, m) }
	b.address = newAskField("", take, m.close)
	b.address.SetPlaceHolder("http://studio.local:2533")
	b.key = newAskField("", take, m.close)
	b.key.SetPlaceHolder("Key, if it wants one")
	b.key.Password = true
	b.trouble = newParagraph("", colorRed, 12)
	b.parts = []fyne.CanvasObject{b.note, b.address, b.key, b.trouble}
	b.ExtendBaseWidget(b)
	m.body = b
	m.done.set(rankPrimary, "Add", "")
	m.done.onTap = func() { take("") }
	m.head = []fyne.CanvasObject{newButton(rankOutline, "", "Cancel", m.close)}
	m.open()
	s.page.canvas().Focus(b.address)
}

// serverBody is the form of a server.
type serverBody struct {
	figure
	note, trouble *paragraph
	address, key  *askField
	asking        bool
}

var _ drawn = (*serverBody)(nil)

// CreateRenderer builds the drawing.
func (b *serverBody) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

// submit tries the server and closes the sheet when it answers.
func (b *serverBody) submit(s *shelfPage, m *modal) {
	if b.asking {
		return
	}
	address, trouble := serverAddress(b.address.Text)
	if trouble != "" {
		b.say(trouble)
		return
	}
	b.asking = true
	m.done.set(rankPrimary, "Asking…", "")
	m.done.setDisabled(true)
	b.say("")
	s.shelf.AddServer(address, strings.TrimSpace(b.key.Text), func(err error) {
		onUI(func() {
			b.asking = false
			m.done.set(rankPrimary, "Add", "")
			m.done.setDisabled(false)
			if err != nil {
				b.say(sentenceOf(err))
				return
			}
			m.close()
			s.refresh()
		})
	})
}

func (b *serverBody) say(text string) {
	b.trouble.set(text)
	b.Refresh()
}

// serverAddress completes what a person types: studio.local:2533 is
// http://studio.local:2533. A path after the host stays, /v1 does not.
func serverAddress(typed string) (address, trouble string) {
	typed = strings.TrimSpace(typed)
	if typed == "" {
		return "", "Write the address of a server."
	}
	if !strings.Contains(typed, "://") {
		typed = "http://" + typed
	}
	u, err := url.Parse(typed)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", "This is not an address of a server: write it like http://studio.local:2533."
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", "Write only the host, the port and a path. The key has its own field."
	}
	path := strings.TrimSuffix(u.Path, "/")
	path = strings.TrimSuffix(path, "/systemone")
	u.Path = strings.TrimSuffix(path, "/v1")
	return u.String(), ""
}

func (b *serverBody) paint() {}

func (b *serverBody) least() fyne.Size { return fyne.NewSize(dp(300), dp(180)) }

func (b *serverBody) arrange(size fyne.Size) {
	x, w := dp(20), size.Width-dp(40)
	y := dp(14)
	h := b.note.heightAt(w)
	put(b.note, x, y, w, h)
	y += h + dp(10)
	for _, f := range []*askField{b.address, b.key} {
		put(f, x, y, w, f.MinSize().Height)
		y += f.MinSize().Height + dp(8)
	}
	put(b.trouble, x, y, w, b.trouble.heightAt(w))
}
