package tokenizer

import "math/bits"

// pairs maps two neighbouring tokens to the merge that joins them: open addressing,
// 16 bytes a slot, read-only after loading.
type pairs struct {
	shift uint
	slots []pair
}

type pair struct {
	key   uint64 // left<<32 | right, plus one; 0 for a free slot
	merge merge
}

// merge is rank<<32 | the id of the joined token, so that the smaller one goes
// first.
type merge uint64

// noMerge is later than every merge.
const noMerge = ^merge(0)

func (m merge) rank() uint32 { return uint32(m >> 32) }
func (m merge) id() int32    { return int32(uint32(m)) }

func newPairs(n int) pairs {
	size := bits.Len(uint(n + n/2 + 1))
	return pairs{shift: uint(64 - size), slots: make([]pair, 1<<size)}
}

func pairKey(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) }

// slot returns where a key is, or the free slot where it belongs. The multiplier is
// 2^64 over the golden ratio (Knuth, TAOCP 6.4).
func (p *pairs) slot(key uint64) *pair {
	mask := uint64(len(p.slots) - 1)
	for i := key * 0x9E3779B97F4A7C15 >> p.shift; ; i = (i + 1) & mask {
		if s := &p.slots[i]; s.key == 0 || s.key == key+1 {
			return s
		}
	}
}

// put adds a merge; of two for the same pair the later one stays.
func (p *pairs) put(left, right int32, m merge) {
	key := pairKey(left, right)
	*p.slot(key) = pair{key: key + 1, merge: m}
}

func (p *pairs) get(left, right int32) merge {
	s := p.slot(pairKey(left, right))
	if s.key == 0 {
		return noMerge
	}
	return s.merge
}
