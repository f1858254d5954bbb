package mtl

// Message is an Objective-C message with its encoding: one code for each argument
// and the result, as in the runtime's type encodings. Structs of 16 bytes or less
// travel as two words, larger ones by reference.
type Message struct {
	Owner    string // class or protocol
	Selector string
	Result   string
	Args     string // codes with spaces between
	Since    int    // first macOS that has it, 0 for every supported one; ask before sending

	sel uintptr // registered on first use
}

// declare makes a message. The tests read its calls as a table, so it takes literals only.
func declare(owner, selector, result, args string) *Message {
	return &Message{Owner: owner, Selector: selector, Result: result, Args: args}
}

// since marks a message that older systems lack.
func (m *Message) since(macOS int) *Message {
	m.Since = macOS
	return m
}
