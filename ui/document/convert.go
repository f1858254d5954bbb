package document

import (
	"cmp"
	"slices"
	"strconv"

	"clefbar/engine"
)

// listToMap reads a list of options the way other tools write them: names as
// strings, or objects with a name and a description. What is neither becomes a
// name as it is spelled, so that nothing is lost. Keys stay with their rows.
func listToMap(list *node) *node {
	fresh := emptyNode(engine.Object)
	for i := range list.slots {
		e := list.slots[i].entry
		e.id, e.value = optionOf(e.value)
		e.name, e.colon, e.at = "", "", -1
		fresh.slots = append(fresh.slots, slot{entry: e})
	}
	return fresh
}

// optionOf splits one item of a list into a name and a description.
func optionOf(item *node) (name string, description *node) {
	if item.typ == engine.String {
		return item.str(), nullNode()
	}
	if item.typ == engine.Object {
		for _, field := range []string{"name", "id", "option_id", "label", "key", "value"} {
			v := item.get(field)
			if v == nil || v.typ != engine.String {
				continue
			}
			rest := item.remove(item.find(field))
			if len(rest.slots) == 0 {
				return v.str(), nullNode()
			}
			if len(rest.slots) == 1 && rest.slots[0].id == "description" {
				return v.str(), rest.slots[0].value
			}
			return v.str(), rest
		}
	}
	return string(appendNode(nil, item)), nullNode()
}

// mapToList reads a map of levels: "0", "1", … in their order, other names as the
// level's text with the description after it.
func mapToList(m *node) *node {
	slots := slices.Clone(m.slots)
	numbered := len(slots) > 0
	for i := range slots {
		if _, err := strconv.Atoi(slots[i].id); err != nil {
			numbered = false
		}
	}
	if numbered {
		slices.SortStableFunc(slots, func(a, b slot) int {
			i, _ := strconv.Atoi(a.id)
			j, _ := strconv.Atoi(b.id)
			return cmp.Compare(i, j)
		})
	}
	fresh := emptyNode(engine.Array)
	for i := range slots {
		e := slots[i].entry
		if !numbered || e.value.typ == engine.Null {
			e.value = levelOf(e.id, e.value)
		}
		e.id, e.name, e.colon, e.at = "", "", "", -1
		fresh.slots = append(fresh.slots, slot{entry: e})
	}
	return fresh
}

func levelOf(name string, description *node) *node {
	switch {
	case description.typ == engine.String && description.str() != "":
		if name == "" {
			return description
		}
		return stringNode(name + ": " + description.str())
	case description.typ == engine.Null || description.typ == engine.String:
		return stringNode(name)
	}
	return stringNode(name + ": " + string(appendNode(nil, description)))
}
