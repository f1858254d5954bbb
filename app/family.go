package main

import (
	"slices"
	"strings"
)

// sizes are the published sizes of Clef and the suffix that Ollama gives them.
var sizes = map[string]string{"clef-flash": "9b", "clef": "27b"}

// familyOf returns the size that a model's name speaks of, or "".
func familyOf(name string) string {
	name = strings.ToLower(name)
	switch {
	case strings.Contains(name, "clef-flash"):
		return "clef-flash"
	case strings.Contains(name, "clef"):
		return "clef"
	}
	return ""
}

// familyNames returns the names under which programs ask for a size, whichever
// conversion of it is here (endpoint.md 5).
func familyNames(family string) []string {
	if family == "" {
		return nil
	}
	return []string{family, "cloudflare/" + family, "@cf/cloudflare/" + family, family + ":" + sizes[family]}
}

// layouts in the order in which they stand for their size: the reference first, then
// the conversion that changes no answers.
var layouts = []string{"bf16", "8-bit"}

// nameFamilies gives the names of each size to one model of it: the chosen one, else
// the most exact.
func nameFamilies(entries []entry, chosen string) {
	for family := range sizes {
		best := -1
		for i, e := range entries {
			if e.item == nil || e.item.State != 0 || familyOf(e.info.Name+" "+e.info.Description) != family {
				continue
			}
			if best < 0 || e.key == chosen || entries[best].key != chosen && rank(e) < rank(entries[best]) {
				best = i
			}
		}
		if best < 0 {
			continue
		}
		for _, name := range familyNames(family) {
			if !slices.Contains(entries[best].names, name) && !strings.EqualFold(entries[best].info.Name, name) {
				entries[best].names = append(entries[best].names, name)
			}
		}
	}
}

func rank(e entry) int {
	if i := slices.Index(layouts, e.info.Layout); i >= 0 {
		return i
	}
	return len(layouts)
}
