package engine

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

// Text returns a String value.
func Text(s string) Value { return Value{Type: String, Text: s} }
