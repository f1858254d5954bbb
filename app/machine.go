package main

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"

	"clefbar/engine/bench"
	"clefbar/models/shelf"
)

// machineFacts are what a person is asked for when something does not work. Bytes are 0 where the system does not tell.
type machineFacts struct {
	bench.Machine
	Memory    int64  `json:"memory_bytes"`
	Available int64  `json:"available_bytes"`
	Cache     string `json:"cache"`
	Free      int64  `json:"cache_free_bytes"`
}

func thisMachine() machineFacts {
	cache := modelCache()
	m := machineFacts{Machine: bench.ThisMachine(), Cache: cache.Dir}
	m.Memory, _ = shelf.Total()
	m.Available, _ = shelf.Available()
	m.Free, _ = cache.Free()
	return m
}

// makers are the parts of a processor's name that say nothing.
var makers = regexp.MustCompile(`\((R|TM|r|tm)\)|\b(Apple|CPU|Processor|processor)\b|@.*$`)

// processor is the short name of the machine's processor: "M2 Max".
func (m machineFacts) processor() string {
	name := strings.Join(strings.Fields(makers.ReplaceAllString(m.Processor, " ")), " ")
	if name == "" {
		name = m.System
	}
	return name
}

// short names the machine in one line: "M2 Max, 32 GB". A Mac is sold by binary gigabytes, and its owner knows it by
// that number; elsewhere the unit is the one of all other sizes, so that no part looks larger than the whole.
func (m machineFacts) short() string {
	if m.Memory <= 0 {
		return m.processor()
	}
	unit := int64(1e9)
	if runtime.GOOS == "darwin" {
		unit = 1 << 30
	}
	return fmt.Sprintf("%s, %d GB", m.processor(), (m.Memory+unit/2)/unit)
}

func (m machineFacts) String() string {
	return fmt.Sprintf("%s, %d processors, %s, %s of memory, %s available; %s free for models in %s",
		m.processor(), m.Processors, m.System, size(m.Memory), size(m.Available), size(m.Free), m.Cache)
}
