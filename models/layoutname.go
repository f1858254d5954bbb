package models

import (
	"fmt"
	"slices"
	"strings"
)

// layoutName says in a word how the text matrices are stored: the bits that most
// weights have, "mixed" in front when others differ.
func layoutName(tensors map[string]Tensor, plan []want) string {
	count := map[string]int{}
	for _, w := range plan {
		if !w.quant || strings.HasPrefix(w.name, "vision.") {
			continue
		}
		t := tensors[w.name]
		form := strings.ToLower(t.DType.String())
		if t.Quant != nil {
			form = fmt.Sprintf("%d-bit", t.Quant.Bits)
		}
		count[form] += w.shape[0] * w.shape[1]
	}
	var forms []string
	for f := range count {
		forms = append(forms, f)
	}
	slices.SortFunc(forms, func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
	if len(forms) > 1 {
		return "mixed " + forms[0]
	}
	return forms[0]
}
