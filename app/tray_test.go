//go:build desktop

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// panel stands in for a desktop's panel: it owns the name that tray items register with, and reads and clicks their
// menus as a panel does.
type panel struct {
	t          *testing.T
	bus        *dbus.Conn
	registered chan dbus.Sender
	item, menu dbus.BusObject
}

// RegisterStatusNotifierItem is called by the program's tray.
func (p *panel) RegisterStatusNotifierItem(_ string, sender dbus.Sender) *dbus.Error {
	select {
	case p.registered <- sender:
	default:
	}
	return nil
}

func openPanel(t *testing.T) *panel {
	t.Helper()
	bus, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Skipf("no session bus: %v (scripts/desktop.sh starts one)", err)
	}
	t.Cleanup(func() { bus.Close() })
	p := &panel{t: t, bus: bus, registered: make(chan dbus.Sender, 1)}
	if err := bus.Export(p, "/StatusNotifierWatcher", "org.kde.StatusNotifierWatcher"); err != nil {
		t.Fatal(err)
	}
	if _, err := bus.RequestName("org.kde.StatusNotifierWatcher", dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	return p
}

// wait waits for the program's item.
func (p *panel) wait() {
	p.t.Helper()
	select {
	case sender := <-p.registered:
		p.item = p.bus.Object(string(sender), "/StatusNotifierItem")
	case <-time.After(10 * time.Second):
		p.t.Fatal("no tray item registered")
	}
	path, err := p.item.GetProperty("org.kde.StatusNotifierItem.Menu")
	if err != nil {
		p.t.Fatal(err)
	}
	p.menu = p.bus.Object(p.item.Destination(), path.Value().(dbus.ObjectPath))
}

// entry is one item of the menu.
type menuEntry struct {
	id       int32
	label    string
	enabled  bool
	children []menuEntry
}

type layout struct {
	ID       int32
	Props    map[string]dbus.Variant
	Children []dbus.Variant
}

func (p *panel) read() []menuEntry {
	p.t.Helper()
	var revision uint32
	var top layout
	if err := p.menu.Call("com.canonical.dbusmenu.GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &top); err != nil {
		p.t.Fatal(err)
	}
	return entries(p.t, top.Children)
}

func entries(t *testing.T, from []dbus.Variant) (list []menuEntry) {
	for _, v := range from {
		var l layout
		if err := dbus.Store([]any{v.Value()}, &l); err != nil {
			t.Fatal(err)
		}
		e := menuEntry{id: l.ID, enabled: true, children: entries(t, l.Children)}
		if s, ok := l.Props["label"].Value().(string); ok {
			e.label = strings.ReplaceAll(s, "_", "")
		}
		if on, ok := l.Props["enabled"].Value().(bool); ok {
			e.enabled = on
		}
		list = append(list, e)
	}
	return list
}

// find looks for an entry by the start of its label, in submenus too.
func findEntry(list []menuEntry, label string) (menuEntry, bool) {
	for _, e := range list {
		if strings.HasPrefix(e.label, label) {
			return e, true
		}
		if c, ok := findEntry(e.children, label); ok {
			return c, true
		}
	}
	return menuEntry{}, false
}

// entry waits for an entry: a panel may read while the menu is being drawn again.
func (p *panel) entry(label string) (list []menuEntry, e menuEntry) {
	p.t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		list = p.read()
		_, whole := findEntry(list, "Quit")
		if e, ok := findEntry(list, label); ok && whole {
			return list, e
		}
	}
	p.t.Fatalf("the menu has no %q: %+v", label, list)
	return nil, menuEntry{}
}

func (p *panel) click(label string) {
	p.t.Helper()
	_, e := p.entry(label)
	if err := p.menu.Call("com.canonical.dbusmenu.Event", 0, e.id, "clicked", dbus.MakeVariant(""), uint32(0)).Err; err != nil {
		p.t.Fatal(err)
	}
}
