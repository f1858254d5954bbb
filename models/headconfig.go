package models

const (
	headFile       = "joint_head.safetensors"
	headConfigFile = "joint_head_config.json"
)

// HeadConfig is joint_head_config.json (clef.md 1.3).
type HeadConfig struct {
	Hidden, Width          int
	Routing, Layers, Heads int
	FeedForward            int
}

// parseHeadConfig reads the head's six numbers. Like the reference it refuses any other key but dropout.
func parseHeadConfig(data []byte, backbone *Config) (*HeadConfig, error) {
	if what := impostor(data); what != "" {
		return nil, fileError(Malformed, headConfigFile, "%s", what)
	}
	o, err := newObject("", data)
	if err != nil {
		return nil, &Error{Kind: Malformed, File: headConfigFile, Message: err.Error(), Err: err}
	}
	h := &HeadConfig{
		Hidden:      o.integer("hidden_size", 0, maxWidth),
		Width:       o.integer("width", 0, maxWidth),
		Routing:     o.integer("routing_layers", 0, maxLayers),
		Layers:      o.integer("layers", 0, maxLayers),
		Heads:       o.integer("heads", 0, maxWidth),
		FeedForward: o.integer("feedforward", 0, maxWidth),
	}
	for key := range o.m {
		switch key {
		case "hidden_size", "width", "routing_layers", "layers", "heads", "feedforward", "dropout":
		default:
			o.fail(key, "is not a setting of Clef's head")
		}
	}
	switch {
	case o.err != nil:
	case h.Hidden != backbone.Hidden:
		o.fail("hidden_size", "is %d, but the backbone is %d wide: this head belongs to another model", h.Hidden, backbone.Hidden)
	case h.Width%h.Heads != 0:
		o.fail("width", "%d does not divide into %d heads", h.Width, h.Heads)
	}
	if o.err != nil {
		return nil, &Error{Kind: Mismatch, File: headConfigFile, Message: o.err.Error(), Err: o.err}
	}
	return h, nil
}
