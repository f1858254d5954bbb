package models

import "fmt"

// Announced is what the two configuration files of a model say before its weights are there.
type Announced struct {
	Config *Config
	Head   *HeadConfig
	Layout string // as the configuration says it: "bf16", "4-bit", "mixed 4-bit"; the weights have the last word
	Bits   float64
}

// Announce reads config.json and joint_head_config.json of a model that is somewhere else. Errors are *Error: a model that
// cannot be run is refused before anything large is fetched.
func Announce(config, head []byte) (*Announced, error) {
	c, err := parseConfig(config)
	if err != nil {
		return nil, err
	}
	h, err := parseHeadConfig(head, c)
	if err != nil {
		return nil, err
	}
	a := &Announced{Config: c, Head: h, Layout: "bf16", Bits: 16}
	q := c.quantization
	if q.global == nil {
		return a, nil
	}
	a.Layout = fmt.Sprintf("%d-bit", q.global.bits)
	a.Bits = q.global.stored()
	for _, s := range q.overrides {
		if s == nil || s.bits != q.global.bits {
			a.Layout = fmt.Sprintf("mixed %d-bit", q.global.bits)
		}
	}
	return a, nil
}

// stored is how many bits a weight takes with its share of the scale and the bias of its group, both bf16.
func (s quantSetting) stored() float64 { return float64(s.bits) + 32/float64(s.group) }
