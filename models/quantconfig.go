package models

import (
	"encoding/json"
	"fmt"
	"slices"
)

// quantSetting is how one module is quantised.
type quantSetting struct{ bits, group int }

// quantization is the rule of config.json (clef.md 1.3): a module named in
// overrides uses its override, any other is quantised like global iff it has scales.
type quantization struct {
	global    *quantSetting            // nil: the configuration says nothing about quantisation
	overrides map[string]*quantSetting // canonical module path; nil means "not quantised"
}

// The settings that mlx uses where an override leaves them out.
const (
	defaultBits  = 4
	defaultGroup = 64
)

func parseQuantization(root *object) (quantization, error) {
	q := quantization{overrides: map[string]*quantSetting{}}
	key := "quantization"
	if _, ok := root.m[key]; !ok {
		key = "quantization_config"
	}
	raw, ok := root.m[key]
	if !ok {
		return q, nil
	}
	o, err := newObject(key+".", raw)
	if err != nil {
		return q, &Error{Kind: Malformed, File: configFile, Message: err.Error(), Err: err}
	}
	if method := o.text("quant_method", ""); method != "" {
		return q, fileError(Unsupported, configFile, "%s.quant_method %q is not supported: use the bf16 original or an MLX affine conversion", key, method)
	}
	q.global, err = setting(o)
	if err != nil {
		return q, err
	}
	if _, ok := o.m["bits"]; !ok {
		return q, fileError(Mismatch, configFile, "%s.bits is missing", key)
	}
	for name, value := range o.m {
		if slices.Contains([]string{"bits", "group_size", "mode", "quant_method"}, name) {
			continue
		}
		if err := q.override(key, name, value); err != nil {
			return q, err
		}
	}
	return q, nil
}

// override reads one per-module entry: false, true or an object.
func (q *quantization) override(key, name string, value json.RawMessage) error {
	module, _ := canonical(name)
	if module == "" {
		module = name
	}
	if _, ok := q.overrides[module]; ok {
		return fileError(Mismatch, configFile, "%s names the module %s twice, under two spellings", key, name)
	}
	switch {
	case string(value) == "false":
		q.overrides[module] = nil
	case string(value) == "true":
		q.overrides[module] = q.global
	case len(value) > 0 && value[0] == '{':
		o, err := newObject(key+"."+name+".", value)
		if err != nil {
			return &Error{Kind: Malformed, File: configFile, Message: err.Error(), Err: err}
		}
		q.overrides[module], err = setting(o)
		return err
	default:
		// Converters keep other notes here, such as "decision_quantization"; only modules have settings.
		if module != name {
			return fileError(Malformed, configFile, "%s.%s is %s, expected false or an object", key, name, clip(value))
		}
	}
	return nil
}

// setting reads {"bits","group_size","mode"}.
func setting(o *object) (*quantSetting, error) {
	if mode := o.text("mode", "affine"); mode != "affine" {
		return nil, fileError(Unsupported, configFile, "%smode %q is not supported, expected affine", o.where, mode)
	}
	s := &quantSetting{bits: o.integer("bits", defaultBits, 64), group: o.integer("group_size", defaultGroup, maxWidth)}
	if o.err == nil && !slices.Contains([]int{2, 3, 4, 5, 6, 8}, s.bits) {
		o.fail("bits", "%d is not supported, expected 2, 3, 4, 5, 6 or 8", s.bits)
	}
	if o.err == nil && !slices.Contains([]int{32, 64, 128}, s.group) {
		o.fail("group_size", "%d is not supported, expected 32, 64 or 128", s.group)
	}
	if o.err != nil {
		return nil, &Error{Kind: Unsupported, File: configFile, Message: o.err.Error(), Err: o.err}
	}
	return s, nil
}

// of returns the setting of a module. declared says that the configuration names it itself.
func (q *quantization) of(module string, hasScales bool) (s *quantSetting, declared bool, err error) {
	if s, ok := q.overrides[module]; ok {
		return s, true, nil
	}
	if !hasScales {
		return nil, false, nil
	}
	if q.global == nil {
		return nil, false, fmt.Errorf("the tensor is quantised but %s has no quantization block", configFile)
	}
	return q.global, false, nil
}
