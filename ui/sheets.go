package ui

// openJSON shows the request as JSON, both ways.
func (p *page) openJSON() {}

// openReads shows what the model reads.
func (p *page) openReads() {}

func (p *page) toggleJSON()  { p.openJSON() }
func (p *page) toggleReads() { p.openReads() }
