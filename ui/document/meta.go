package document

// metaField holds what a case file carries beside the request. Servers ignore it.
const metaField = "x_clefbar"

func (c *Case) readMeta(s *snapshot, meta *node) {}
