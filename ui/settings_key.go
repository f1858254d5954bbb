package ui

import "fyne.io/fyne/v2"

func keyNote(on bool) string {
	if on {
		return "Callers must send it as Authorization: Bearer"
	}
	return "None is asked for; only this machine can reach it"
}

// addKey lets callers be asked for a key, and the key be copied.
func (b *settingsBody) addKey(s EndpointState) {
	row := len(b.rows)
	k := &keyControl{page: b.page}
	k.copy = newButton(rankOutline, "", "Copy", k.take)
	k.ask = b.switchFor(s.Key, func(on bool) {
		b.page.deps.Endpoint.SetKey(on)
		b.rows[row].note.set(keyNote(on))
		show(k.copy, on)
		k.copy.set(rankOutline, "Copy", "")
		b.Refresh()
	})
	show(k.copy, s.Key)
	k.parts = []fyne.CanvasObject{k.copy, k.ask}
	k.ExtendBaseWidget(k)
	b.add("Key", keyNote(s.Key), k)
}

// keyControl is the switch of the endpoint's key with a button that copies it.
type keyControl struct {
	figure
	page *page
	copy *button
	ask  *toggle
}

var _ drawn = (*keyControl)(nil)

// CreateRenderer builds the drawing.
func (k *keyControl) CreateRenderer() fyne.WidgetRenderer { return newDrawing(k) }

// take copies the key. The system may ask the person first.
func (k *keyControl) take() {
	go func() {
		key, err := k.page.deps.Endpoint.Key()
		onUI(func() {
			text := "Copied"
			switch {
			case err != nil:
				text = "Cannot be read"
			case key == "":
				text = "Not made yet"
			default:
				k.page.copyText("key", key)
			}
			k.copy.set(rankOutline, text, "")
			k.Refresh()
		})
	}()
}

func (k *keyControl) paint() {}

func (k *keyControl) least() fyne.Size {
	a, b := k.copy.least(), k.ask.MinSize()
	return fyne.NewSize(a.Width+dp(48)+dp(12)+b.Width, max(a.Height, b.Height))
}

func (k *keyControl) arrange(size fyne.Size) {
	right := size.Width - placeMiddleRight(k.ask, size.Width, size.Height) - dp(12)
	placeMiddleRight(k.copy, right, size.Height)
}
