package ui

// addFolder shows where downloads go and lets another folder be chosen, unless the environment says it.
func (b *settingsBody) addFolder() {
	path, fixed := b.page.deps.Shelf.Folder()
	change := newButton(rankOutline, "", "Change…", b.page.pickModelFolder)
	if fixed {
		change.setDisabled(true)
		change.tip = "HF_HUB_CACHE says where"
	}
	b.add("Models", path, change)
	m := b.page.deps.Shelf.Machine()
	network := b.switchFor(!m.Offline, func(on bool) { b.page.deps.Shelf.SetOffline(!on) })
	if m.NoSwitch {
		network.setDisabled(true)
		network.tip = "HF_HUB_OFFLINE forbids them"
	}
	b.add("Downloads", "The Hub is asked when you fetch or look for a model, never otherwise", network)
}

// pickModelFolder asks for the folder that downloads go to.
func (p *page) pickModelFolder() {
	p.chooseFolder(func(path string) {
		p.confirm("Keep models in this folder?", path+" takes what is fetched from now on. Models in the folder of before stay there and leave the list; Add a folder… brings them back.", "Keep them here", func() {
			p.deps.Shelf.SetFolder(path, func(err error) {
				onUI(func() {
					if err != nil {
						p.tell("The folder cannot be used", sentenceOf(err))
					}
				})
			})
		})
	})
}
