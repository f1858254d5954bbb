package ui

func (p *page) toggleJSON()  { p.openJSON() }
func (p *page) toggleReads() { p.openReads() }
