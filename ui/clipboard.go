package ui

import (
	"fyne.io/fyne/v2"

	"clefbar/ui/document"
)

// decideClipboard opens what is on the clipboard with the questions of the open
// case, and decides.
func (p *page) decideClipboard() {
	p.window.Show()
	text := fyne.CurrentApp().Clipboard().Content()
	switch kind, _ := document.Classify("", text); {
	case text == "":
		p.say("The clipboard holds no text.")
		return
	case kind == document.PasteRequest:
		p.openJSONText(text)
	case kind == document.PasteLong:
		p.doc.SetText("")
		for _, a := range p.doc.State().Attachments {
			p.doc.RemoveAttachment(a.Key)
		}
		p.doc.Attach("Clipboard", text)
	default:
		for _, a := range p.doc.State().Attachments {
			p.doc.RemoveAttachment(a.Key)
		}
		p.doc.SetText(text)
	}
	p.decide()
}
