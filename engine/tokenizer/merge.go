package tokenizer

import "slices"

// shortWord is the longest word, in bytes, for which looking at every pair is faster
// than keeping a queue.
const shortWord = 96

// merge encodes one word: it joins the neighbouring pair with the lowest rank, the
// leftmost of equals, until none can be joined.
func (t *Tokenizer) merge(dst []int32, word string) []int32 {
	if len(word) <= shortWord {
		return t.mergeShort(dst, word)
	}
	return t.mergeLong(dst, word)
}

func (t *Tokenizer) mergeShort(dst []int32, word string) []int32 {
	var ids [shortWord]int32
	var next [shortWord]merge // next[i] joins ids[i] and ids[i+1]
	n := len(word)
	for i := range n {
		ids[i] = t.bytes[word[i]]
	}
	for i := range n - 1 {
		next[i] = t.pairs.get(ids[i], ids[i+1])
	}
	for n > 1 {
		best := 0
		for i := 1; i < n-1; i++ {
			if next[i] < next[best] {
				best = i
			}
		}
		if next[best] == noMerge {
			break
		}
		ids[best] = next[best].id()
		copy(ids[best+1:n-1], ids[best+2:n])
		copy(next[best:n-2], next[best+1:n-1])
		n--
		if best+1 < n {
			next[best] = t.pairs.get(ids[best], ids[best+1])
		}
		if best > 0 {
			next[best-1] = t.pairs.get(ids[best-1], ids[best])
		}
	}
	return append(dst, ids[:n]...)
}

// longMerge is the state of merging a long word: a linked list of tokens and, for
// every rank that occurs, the places where it can be applied. Ranks are taken from
// a heap, places of one rank from left to right, so a word of a million equal bytes
// costs a few appends a byte and no sorting.
type longMerge struct {
	pairs *pairs
	ids   []int32 // by position; -1 where a token was joined to the left
	prev  []int32
	next  []int32
	ranks []uint32 // binary heap of ranks that have places
	queue map[uint32]*places
}

// places are positions that wait for one merge.
type places struct {
	left, right int32 // the pair; a position counts only while it still has it
	id          int32
	at          []int32
	sorted      bool
}

func (t *Tokenizer) mergeLong(dst []int32, word string) []int32 {
	n := len(word)
	links := make([]int32, 3*n)
	m := longMerge{pairs: &t.pairs, ids: links[:n], prev: links[n : 2*n], next: links[2*n:], queue: map[uint32]*places{}}
	for i := range n {
		m.ids[i], m.prev[i], m.next[i] = t.bytes[word[i]], int32(i-1), int32(i+1)
	}
	m.next[n-1] = -1
	for i := range n - 1 {
		m.offer(int32(i))
	}
	for len(m.ranks) > 0 {
		m.apply(m.ranks[0])
	}
	for i := int32(0); i >= 0; i = m.next[i] {
		dst = append(dst, m.ids[i])
	}
	return dst
}

// offer queues the pair that starts at position i, if it can be joined.
func (m *longMerge) offer(i int32) {
	j := m.next[i]
	if j < 0 {
		return
	}
	found := m.pairs.get(m.ids[i], m.ids[j])
	if found == noMerge {
		return
	}
	q := m.queue[found.rank()]
	if q == nil {
		q = &places{left: m.ids[i], right: m.ids[j], id: found.id(), sorted: true}
		m.queue[found.rank()] = q
		m.push(found.rank())
	}
	if n := len(q.at); n > 0 && q.at[n-1] > i {
		q.sorted = false
	}
	q.at = append(q.at, i)
}

// apply joins at the places of the lowest rank until none is left, or until a
// join has made room for a lower rank, which then goes first.
func (m *longMerge) apply(rank uint32) {
	q := m.queue[rank]
	if !q.sorted {
		slices.Sort(q.at)
		q.sorted = true
	}
	for k, i := range q.at {
		j := m.next[i]
		if m.ids[i] != q.left || j < 0 || m.ids[j] != q.right {
			continue
		}
		m.ids[i], m.ids[j] = q.id, -1
		m.next[i] = m.next[j]
		if after := m.next[i]; after >= 0 {
			m.prev[after] = i
		}
		if before := m.prev[i]; before >= 0 {
			m.offer(before)
		}
		m.offer(i)
		if m.ranks[0] != rank {
			q.at = q.at[k+1:]
			return
		}
	}
	delete(m.queue, rank)
	m.pop()
}

// push and pop keep the heap of ranks.
func (m *longMerge) push(rank uint32) {
	m.ranks = append(m.ranks, rank)
	for k := len(m.ranks) - 1; k > 0; {
		up := (k - 1) / 2
		if m.ranks[up] <= m.ranks[k] {
			break
		}
		m.ranks[up], m.ranks[k] = m.ranks[k], m.ranks[up]
		k = up
	}
}

func (m *longMerge) pop() {
	last := len(m.ranks) - 1
	m.ranks[0] = m.ranks[last]
	m.ranks = m.ranks[:last]
	for k := 0; ; {
		down := 2*k + 1
		if down >= last {
			return
		}
		if down+1 < last && m.ranks[down+1] < m.ranks[down] {
			down++
		}
		if m.ranks[k] <= m.ranks[down] {
			return
		}
		m.ranks[k], m.ranks[down] = m.ranks[down], m.ranks[k]
		k = down
	}
}
