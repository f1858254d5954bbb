package tokenizer

import (
	"hash/maphash"
	"strings"
	"sync"
)

// maxCachedWord is the longest word, in bytes, that the cache keeps.
const maxCachedWord = 48

// The cache is cut into shards, each with its own lock, so that many requests
// encode at once; a full shard starts again, which bounds the memory to about 8 MB.
const (
	shards     = 32
	shardWords = 2048
)

// wordCache remembers the ids of words. Text repeats its words, so this is where
// the speed comes from.
type wordCache struct {
	seed   maphash.Seed
	shards [shards]shard
}

type shard struct {
	mu  sync.RWMutex
	ids map[string][]int32
}

func (c *wordCache) shard(word string) *shard {
	return &c.shards[maphash.String(c.seed, word)%shards]
}

// get returns ids that the caller must not change.
func (c *wordCache) get(word string) ([]int32, bool) {
	s := c.shard(word)
	s.mu.RLock()
	ids, ok := s.ids[word]
	s.mu.RUnlock()
	return ids, ok
}

func (c *wordCache) put(word string, ids []int32) {
	s := c.shard(word)
	kept := append([]int32(nil), ids...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil || len(s.ids) >= shardWords {
		s.ids = make(map[string][]int32, 64)
	}
	s.ids[strings.Clone(word)] = kept
}
