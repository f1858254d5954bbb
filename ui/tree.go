package ui

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// WriteTree writes what the window shows as text, one visible object a line, children indented:
//
//	bar 958,202 248x20 value=0.8632
//	  Rectangle 958,208 248x8
//	label 1222,212 28x14 "0.86"
//
// Positions and sizes are in dp from the window's corner. It reads the objects on the screen, not the case
// behind them: a test that reads it sees what a person sees.
func (w *Window) WriteTree(out io.Writer) error {
	t := tree{out: out}
	c := w.win.Canvas()
	fmt.Fprintf(out, "window %.0fx%.0f %q\n", c.Size().Width, c.Size().Height, w.win.Title())
	t.write(c.Content(), fyne.NewPos(0, 0), 1)
	for _, o := range c.Overlays().List() {
		t.write(o, fyne.NewPos(0, 0), 1)
	}
	return t.err
}

type tree struct {
	out io.Writer
	err error
}

func (t *tree) write(o fyne.CanvasObject, from fyne.Position, depth int) {
	if o == nil || !o.Visible() || t.err != nil {
		return
	}
	at, size := from.Add(o.Position()), o.Size()
	kind := reflect.TypeOf(o).String()
	kind = kind[strings.LastIndexByte(kind, '.')+1:]
	_, t.err = fmt.Fprintf(t.out, "%s%s %.0f,%.0f %.0fx%.0f%s\n", strings.Repeat("  ", depth), kind, at.X, at.Y, size.Width, size.Height, said(o))
	for _, child := range children(o) {
		t.write(child, at, depth+1)
	}
}

// said is the text or the value that an object shows.
func said(o fyne.CanvasObject) string {
	switch o := o.(type) {
	case *bar:
		return valueSaid(o.value)
	case *lean:
		return valueSaid(o.value)
	}
	// Texts, labels and every kind of entry keep what they show in a field Text.
	if v := reflect.Indirect(reflect.ValueOf(o)); v.Kind() == reflect.Struct {
		if text := v.FieldByName("Text"); text.IsValid() && text.Kind() == reflect.String {
			return fmt.Sprintf(" %q", text.String())
		}
	}
	return ""
}

func valueSaid(g glide) string {
	if !g.has() {
		return ""
	}
	return fmt.Sprintf(" value=%.4f", g.at)
}

func children(o fyne.CanvasObject) []fyne.CanvasObject {
	switch o := o.(type) {
	case drawn:
		return o.objects()
	case *fyne.Container:
		return o.Objects
	case *container.Scroll:
		return []fyne.CanvasObject{o.Content}
	case *container.ThemeOverride:
		return []fyne.CanvasObject{o.Content}
	case *widget.PopUp:
		return []fyne.CanvasObject{o.Content}
	}
	return nil
}
