package tokenizer

import (
	"cmp"
	"slices"
)

// added finds added tokens in text: a trie over their bytes.
type added struct {
	tokens []AddedToken // by ascending id
	nodes  []node       // nodes[0] is the root
	first  [256]bool    // bytes that a token starts with
}

// node is one state of the trie.
type node struct {
	token int32 // index into tokens, -1 inside a token
	edges []edge
}

type edge struct {
	b  byte
	to int32
}

func newAdded(tokens []AddedToken) added {
	a := added{tokens: slices.Clone(tokens), nodes: []node{{token: -1}}}
	slices.SortFunc(a.tokens, func(x, y AddedToken) int { return cmp.Compare(x.ID, y.ID) })
	for i, token := range a.tokens {
		a.first[token.Content[0]] = true
		at := int32(0)
		for k := range len(token.Content) {
			at = a.grow(at, token.Content[k])
		}
		a.nodes[at].token = int32(i)
	}
	return a
}

// grow returns the child of a node, made if it is not there.
func (a *added) grow(at int32, b byte) int32 {
	if to := a.nodes[at].child(b); to > 0 {
		return to
	}
	to := int32(len(a.nodes))
	a.nodes = append(a.nodes, node{token: -1})
	a.nodes[at].edges = append(a.nodes[at].edges, edge{b, to})
	return to
}

// child returns 0, the root, when there is none.
func (n *node) child(b byte) int32 {
	for _, e := range n.edges {
		if e.b == b {
			return e.to
		}
	}
	return 0
}

// next returns the leftmost added token in text, the longest of those that start
// there.
func (a *added) next(text string) (Match, bool) {
	for from := range len(text) {
		if !a.first[text[from]] {
			continue
		}
		best, to := int32(-1), 0
		at := int32(0)
		for i := from; i < len(text); i++ {
			if at = a.nodes[at].child(text[i]); at == 0 {
				break
			}
			if token := a.nodes[at].token; token >= 0 {
				best, to = token, i+1
			}
		}
		if best >= 0 {
			return Match{ID: a.tokens[best].ID, From: from, To: to}, true
		}
	}
	return Match{}, false
}

func (a *added) list() []AddedToken { return slices.Clone(a.tokens) }

func (a *added) content(id int32) (string, bool) {
	i, ok := slices.BinarySearchFunc(a.tokens, id, func(t AddedToken, id int32) int { return cmp.Compare(t.ID, id) })
	if !ok {
		return "", false
	}
	return a.tokens[i].Content, true
}

func (a *added) id(content string) (int32, bool) {
	for _, t := range a.tokens {
		if t.Content == content {
			return t.ID, true
		}
	}
	return 0, false
}

func (a *added) size() int {
	if len(a.tokens) == 0 {
		return 0
	}
	return int(a.tokens[len(a.tokens)-1].ID) + 1
}
