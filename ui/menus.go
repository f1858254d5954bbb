package ui

import (
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"clefbar/ui/document"
)

// recentShown is how many recent cases the menus list.
const recentShown = 5

// menus is the model of the menu-bar item's menu and of the window's menu bar. Both
// hold the same things; only labels change while the program runs.
type menus struct {
	page *page
	main *fyne.MainMenu
	tray *fyne.Menu

	status, unload           []*fyne.MenuItem // one each in tray and window
	models, endpoint, recent []*fyne.MenuItem
	shown                    string // what the menus said when they were last drawn
}

func newMenus(p *page) *menus {
	m := &menus{page: p}
	m.tray = fyne.NewMenu("Clefbar", m.trayItems()...)
	m.main = fyne.NewMainMenu(m.fileMenu(), m.editMenu(), m.caseMenu(), m.modelMenu())
	m.update()
	return m
}

// TrayMenu is the menu of the menu-bar item, in the order of the design. The window
// keeps it up to date; the app sets it once.
func (w *Window) TrayMenu() *fyne.Menu { return w.menus.tray }

func (m *menus) trayItems() []*fyne.MenuItem {
	p := m.page
	line := fyne.NewMenuItemSeparator
	return []*fyne.MenuItem{
		m.statusItem(), line(),
		fyne.NewMenuItem("Open Clefbar", p.window.Show), m.clipboardItem(), line(),
		m.modelItem(), m.unloadItem(), line(),
		m.endpointItem(), m.recentItem(), line(),
		p.actSettings().shown(p.window).item(), fyne.NewMenuItem("About Clefbar", func() { p.window.Show(); p.openAbout() }), line(),
		m.quitItem(),
	}
}

// shown makes an action bring the window forward first.
func (a shortcut) shown(w *Window) shortcut {
	run := a.run
	a.run = func() { w.Show(); run() }
	return a
}

func (m *menus) statusItem() *fyne.MenuItem {
	item := fyne.NewMenuItem("", nil)
	item.Disabled = true
	m.status = append(m.status, item)
	return item
}

func (m *menus) clipboardItem() *fyne.MenuItem {
	item := fyne.NewMenuItem("Decide Clipboard", m.page.decideClipboard)
	item.Shortcut = &desktop.CustomShortcut{KeyName: fyne.KeyD, Modifier: fyne.KeyModifierControl | fyne.KeyModifierAlt}
	return item
}

func (m *menus) modelItem() *fyne.MenuItem { return submenu("Model", &m.models) }

func (m *menus) endpointItem() *fyne.MenuItem { return submenu("Endpoint", &m.endpoint) }

func (m *menus) recentItem() *fyne.MenuItem { return submenu("Recent", &m.recent) }

// submenu adds an item whose rows update fills in.
func submenu(label string, list *[]*fyne.MenuItem) *fyne.MenuItem {
	item := fyne.NewMenuItem(label, nil)
	item.ChildMenu = fyne.NewMenu("")
	*list = append(*list, item)
	return item
}

func (m *menus) unloadItem() *fyne.MenuItem {
	item := fyne.NewMenuItem("Unload", m.page.deps.Models.Unload)
	m.unload = append(m.unload, item)
	return item
}

func (m *menus) quitItem() *fyne.MenuItem {
	item := m.page.actQuit().item()
	item.IsQuit = true
	return item
}

func (m *menus) fileMenu() *fyne.Menu {
	p := m.page
	line := fyne.NewMenuItemSeparator
	return fyne.NewMenu("File",
		p.actNew().item(), p.actOpen().item(), m.recentItem(), line(),
		p.actSave().item(), p.actSaveAs().item(), line(),
		p.actSettings().item(), fyne.NewMenuItem("About Clefbar", p.openAbout), line(),
		p.actHide().item(), m.quitItem())
}

func (m *menus) editMenu() *fyne.Menu {
	p := m.page
	undo, redo := fyne.NewMenuItem("Undo", p.menuUndo), fyne.NewMenuItem("Redo", p.menuRedo)
	undo.Shortcut, redo.Shortcut = &fyne.ShortcutUndo{}, &fyne.ShortcutRedo{}
	items := []*fyne.MenuItem{undo, redo, fyne.NewMenuItemSeparator()}
	for _, k := range kinds {
		items = append(items, fyne.NewMenuItem("Add "+kindName(k), func() { p.addQuestion(k) }))
	}
	return fyne.NewMenu("Edit", items...)
}

func (m *menus) caseMenu() *fyne.Menu {
	p := m.page
	line := fyne.NewMenuItemSeparator
	items := []*fyne.MenuItem{
		p.actDecide().item(), m.clipboardItem(), p.actLive().item(), line(),
		p.actJSON().item(), p.actReads().item(), line(),
	}
	for i, k := range questionKeys {
		item := fyne.NewMenuItem("Question "+itoa(i+1), func() { p.focusQuestion(i + 1) })
		item.Shortcut = &desktop.CustomShortcut{KeyName: k, Modifier: command()}
		items = append(items, item)
	}
	return fyne.NewMenu("Case", items...)
}

func (m *menus) modelMenu() *fyne.Menu {
	return fyne.NewMenu("Model", m.statusItem(), fyne.NewMenuItemSeparator(), m.modelItem(), m.unloadItem(),
		fyne.NewMenuItemSeparator(), m.endpointItem())
}

// update writes what has changed into both menus. They are drawn again only when that is more than the memory in
// use: a menu that is drawn while somebody is in it flickers, and a panel reads it anew each time.
func (m *menus) update() {
	if m == nil {
		return // the window is being built
	}
	p := m.page
	model := p.deps.Models.State()
	words := p.statusWords(model)
	for _, item := range m.status {
		item.Label = words + p.memoryWords()
	}
	for _, item := range m.unload {
		item.Disabled = model.Phase != PhaseReady
	}
	fill := func(list []*fyne.MenuItem, items func() []*fyne.MenuItem) {
		for _, item := range list {
			item.ChildMenu.Items = items()
		}
	}
	fill(m.models, m.modelItems)
	fill(m.endpoint, m.endpointItems)
	fill(m.recent, m.recentItems)
	said := words
	for _, list := range [][]*fyne.MenuItem{m.unload[:1], m.models[0].ChildMenu.Items, m.endpoint[0].ChildMenu.Items, m.recent[0].ChildMenu.Items} {
		for _, item := range list {
			said += fmt.Sprintf("|%s %v %v", item.Label, item.Checked, item.Disabled)
		}
	}
	if said == m.shown {
		return
	}
	m.shown = said
	m.main.Refresh()
	m.tray.Refresh()
}

// statusWords is the line that says what runs: Clef-flash 8-bit · ready · 11.4 GB.
func (p *page) statusWords(model ModelState) string {
	words := model.full()
	switch model.Phase {
	case PhaseOpening:
		words += " · opening"
	case PhaseReady:
		words += " · ready"
	case PhaseFailed:
		words += " · did not open"
	default:
		if model.ID != "" {
			words += " · not loaded"
		}
	}
	return words
}

func (p *page) memoryWords() string {
	if p.deps.Memory != nil {
		if n := p.deps.Memory(); n > 0 {
			return " · " + bytesText(n)
		}
	}
	return ""
}

func (m *menus) modelItems() []*fyne.MenuItem {
	p := m.page
	state := p.deps.Models.State()
	var items []*fyne.MenuItem
	for _, model := range p.deps.Models.List() {
		label := model.full()
		if model.Note != "" {
			label += "  —  " + model.Note
		}
		item := fyne.NewMenuItem(label, func() { p.deps.Models.Open(model.ID) })
		item.Checked, item.Disabled = model.ID == state.ID, !model.Usable
		items = append(items, item)
	}
	return append(items, fyne.NewMenuItemSeparator(), fyne.NewMenuItem("All models…", func() {
		p.window.Show()
		if p.deps.Shelf != nil {
			p.openShelf()
			return
		}
		openPopMenu(p.toolbar.model, p.modelRows())
	}))
}

func (m *menus) endpointItems() []*fyne.MenuItem {
	p := m.page
	s := p.deps.Endpoint.State()
	on := fyne.NewMenuItem("On at :"+itoa(s.Port), func() { p.deps.Endpoint.SetOn(!p.deps.Endpoint.State().On) })
	on.Checked = s.On
	return []*fyne.MenuItem{
		on, fyne.NewMenuItemSeparator(),
		fyne.NewMenuItem("Copy URL", func() { p.copyText("URL", s.URL()) }),
		fyne.NewMenuItem("Copy curl", func() { p.copyText("curl command", p.doc.Snapshot().AsCurl(p.target())) }),
		fyne.NewMenuItem("Requests…  "+itoa(s.Today)+" today", func() { p.window.Show(); p.openRequests() }),
	}
}

func (m *menus) recentItems() []*fyne.MenuItem {
	p := m.page
	var items []*fyne.MenuItem
	if p.deps.Cases != nil {
		for _, r := range p.deps.Cases.Recent(recentShown) {
			items = append(items, fyne.NewMenuItem(r.Title+"  —  "+recentTime(r.Time, time.Now()), func() {
				p.window.Show()
				p.openRecent(r)
			}))
		}
	}
	if len(items) == 0 {
		none := fyne.NewMenuItem("No other cases yet", nil)
		none.Disabled = true
		items = append(items, none)
	}
	return items
}

func (p *page) openRecent(r document.Recent) {
	c, err := p.deps.Cases.OpenRecent(r.ID)
	if err != nil {
		p.say(sentenceOf(err))
		return
	}
	p.open(c)
}
