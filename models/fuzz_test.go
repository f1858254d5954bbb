package models

import (
	"testing"
	"testing/fstest"
)

// FuzzConfigs feeds arbitrary text to the three configuration files. Whatever is
// accepted must be safe to plan with.
func FuzzConfigs(f *testing.F) {
	f.Add(small[configFile].Data, small[headConfigFile].Data, []byte(`{"weight_map":{"a":"model.safetensors"}}`))
	f.Add([]byte(`{"model_type":"qwen3_5","text_config":{"vocab_size":1e308}}`), []byte(`{"heads":0}`), []byte(`{"metadata":{"total_size":-1}}`))
	f.Fuzz(func(t *testing.T, config, head, index []byte) {
		if c, err := parseConfig(config); err == nil {
			if c.Layers() <= 64 {
				backbonePlan(c)
			}
			if c.Vision != nil && c.Vision.Depth <= 64 {
				visionPlan(c.Vision)
			}
			if h, err := parseHeadConfig(head, c); err == nil && h.Layers <= 64 && h.Routing <= 64 {
				headPlan(h)
			}
		}
		if _, err := parseIndex(index); err != nil {
			return
		}
		fsys := fstest.MapFS{indexFile: {Data: index}, configFile: {Data: config}}
		if m, err := OpenFS(fsys, "m"); err == nil {
			m.Close()
			t.Error("a folder without weights was accepted")
		}
	})
}
