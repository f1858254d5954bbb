package engine

import "slices"

// Value is a JSON value that keeps what the prompt needs and Go's decoder loses:
// the order of object members, the spelling of numbers, and the difference
// between missing and null. The zero Value is missing.
type Value struct {
	Type   ValueType
	Text   string   // String: decoded text; Number: the literal as sent
	Bool   bool     // Bool
	Items  []Value  // Array
	Fields []Member // Object, in order
}

// Member is one member of an object.
type Member struct {
	Name  string
	Value Value
}

// ValueType is the type of a Value.
type ValueType uint8

// The JSON types, and Missing for a value that is not there.
const (
	Missing ValueType = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// String returns the type's name as people write it: "object", "array", ….
func (t ValueType) String() string {
	return [...]string{"nothing", "null", "a boolean", "a number", "a string", "an array", "an object"}[t]
}

// Text returns a String value.
func Text(s string) Value { return Value{Type: String, Text: s} }

// Empty reports whether v is missing, null or "": an instruction that is Empty is
// replaced by the question's id (clef.md 2.4).
func (v Value) Empty() bool {
	return v.Type == Missing || v.Type == Null || v.Type == String && v.Text == ""
}

// Get returns the member of an object by name, Missing when there is none or v is
// no object.
func (v Value) Get(name string) Value {
	for i := range v.Fields {
		if v.Fields[i].Name == name {
			return v.Fields[i].Value
		}
	}
	return Value{}
}

// Equal reports whether two values are the same in every respect that Value keeps:
// order of members and spelling of numbers included.
func (v Value) Equal(w Value) bool {
	return v.Type == w.Type && v.Text == w.Text && v.Bool == w.Bool &&
		slices.EqualFunc(v.Items, w.Items, Value.Equal) &&
		slices.EqualFunc(v.Fields, w.Fields, func(a, b Member) bool {
			return a.Name == b.Name && a.Value.Equal(b.Value)
		})
}

// mapStrings returns v with f applied to every string in it, names of members left
// alone. Parts of v that f does not change are shared.
func (v Value) mapStrings(f func(string) string) Value {
	switch v.Type {
	case String:
		v.Text = f(v.Text)
	case Array:
		v.Items = slices.Clone(v.Items)
		for i := range v.Items {
			v.Items[i] = v.Items[i].mapStrings(f)
		}
	case Object:
		v.Fields = slices.Clone(v.Fields)
		for i := range v.Fields {
			v.Fields[i].Value = v.Fields[i].Value.mapStrings(f)
		}
	}
	return v
}
