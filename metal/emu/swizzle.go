package emu

import (
	"fmt"
	"strings"
)

// swizzles writes the header that gives vectors their swizzle properties. Four
// components are limited to permutations and what kernels use, because every
// property costs compile time.
func swizzles() string {
	var b strings.Builder
	b.WriteString("// Swizzle properties of vec<T, 2>, vec<T, 3> and vec<T, 4>. Generated.\n#pragma once\n")
	for n := 2; n <= 4; n++ {
		fmt.Fprintf(&b, "#define MSL_SWIZZLES_%d", n)
		for width := 2; width <= 4; width++ {
			pattern(&b, n, make([]int, 0, width), width)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// pattern appends every choice of width components out of n.
func pattern(b *strings.Builder, n int, chosen []int, width int) {
	if len(chosen) < width {
		for c := range n {
			pattern(b, n, append(chosen, c), width)
		}
		return
	}
	if width == 4 && distinct(chosen) != 4 && distinct(chosen) > 2 {
		return
	}
	xyzw, rgba, list := "", "", ""
	for _, c := range chosen {
		xyzw += "xyzw"[c : c+1]
		rgba += "rgba"[c : c+1]
		list += fmt.Sprintf(",%d", c)
	}
	fmt.Fprintf(b, " MSL_SWZ(%d,%s%s) MSL_SWZ(%d,%s%s)", width, xyzw, list, width, rgba, list)
}

func distinct(list []int) int {
	seen := map[int]bool{}
	for _, c := range list {
		seen[c] = true
	}
	return len(seen)
}
