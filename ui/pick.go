package ui

import (
	"os"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/storage"

	"clefbar/ui/document"
)

// pickFile asks for a file to add: text, a picture, or a case.
func (p *page) pickFile() { p.pickOpen(nil, p.addFile) }

// pickImage asks for a picture.
func (p *page) pickImage() { p.pickOpen([]string{".png", ".jpg", ".jpeg", ".webp"}, p.addFile) }

// pickCase asks for a case or a request to open.
func (p *page) pickCase() { p.pickOpen([]string{".json"}, p.openFile) }

func (p *page) pickOpen(endings []string, then func(path string)) {
	d := dialog.NewFileOpen(func(r fyne.URIReadCloser, err error) {
		if err != nil {
			p.say(sentenceOf(err))
			return
		}
		if r != nil {
			path := r.URI().Path()
			_ = r.Close()
			then(path)
		}
	}, p.window.win)
	if endings != nil {
		d.SetFilter(storage.NewExtensionFileFilter(endings))
	}
	p.showDialog(d)
}

// pickFolder asks for a folder with a model in it, which is opened.
func (p *page) pickFolder() { p.chooseFolder(p.deps.Models.AddFolder) }

func (p *page) chooseFolder(take func(path string)) {
	p.showDialog(dialog.NewFolderOpen(func(u fyne.ListableURI, err error) {
		switch {
		case err != nil:
			p.say(sentenceOf(err))
		case u != nil:
			take(u.Path())
		}
	}, p.window.win))
}

// pickSave asks where to save the case.
func (p *page) pickSave() {
	p.pickTarget(fileName(p.doc.Title())+document.Extension, func(path string) {
		if !strings.HasSuffix(path, ".json") {
			path += document.Extension
		}
		p.saveTo(path)
	})
}

// savePicture asks where to save a picture of the result.
func (p *page) savePicture() {
	p.pickTarget(fileName(p.doc.Title())+".png", func(path string) {
		data, err := p.picture()
		if err == nil {
			err = os.WriteFile(path, data, 0o644)
		}
		if err != nil {
			p.say(sentenceOf(err))
			return
		}
		p.say("Saved " + filepath.Base(path))
	})
}

func (p *page) pickTarget(name string, then func(path string)) {
	d := dialog.NewFileSave(func(w fyne.URIWriteCloser, err error) {
		if err != nil {
			p.say(sentenceOf(err))
			return
		}
		if w != nil {
			path := w.URI().Path()
			_ = w.Close()
			then(path)
		}
	}, p.window.win)
	d.SetFileName(name)
	p.showDialog(d)
}

// sizedDialog is what we need of Fyne's file dialogs.
type sizedDialog interface {
	Resize(fyne.Size)
	SetOnClosed(func())
	Show()
}

// showDialog shows a dialog of Fyne over the dimmed page.
func (p *page) showDialog(d sizedDialog) {
	overlays, size := p.canvas().Overlays(), p.canvas().Size()
	dim := newDimmer()
	overlays.Add(dim)
	dim.Resize(size)
	d.SetOnClosed(func() { overlays.Remove(dim) })
	d.Resize(fyne.NewSize(min(dp(820), size.Width-dp(40)), min(dp(560), size.Height-dp(40))))
	d.Show()
}

// dimmer covers the page under a dialog, and keeps taps from it.
type dimmer struct {
	panelHold
	cover *canvas.Rectangle
}

func newDimmer() *dimmer {
	d := &dimmer{cover: newRect(0)}
	d.parts = []fyne.CanvasObject{d.cover}
	d.ExtendBaseWidget(d)
	return d
}

// CreateRenderer builds the drawing.
func (d *dimmer) CreateRenderer() fyne.WidgetRenderer { return newDrawing(d) }

func (d *dimmer) paint() { d.cover.FillColor = themeColor(colorDim) }

func (d *dimmer) arrange(size fyne.Size) { put(d.cover, 0, 0, size.Width, size.Height) }

// fileName makes a title fit for a file.
func fileName(title string) string {
	clean := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return ' '
		}
		return r
	}, title)
	clean = strings.Trim(strings.Join(strings.Fields(clean), " "), ". ")
	if clean == "" {
		return "Case"
	}
	return clean
}
