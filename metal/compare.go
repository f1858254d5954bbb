package metal

import "math"

// differ returns the largest difference, relative to the largest number where that is above 1.
func differ(got, want []float32) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	worst, size := 0.0, 1.0
	for i, w := range want {
		size = max(size, math.Abs(float64(w)))
		d := math.Abs(float64(got[i]) - float64(w))
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		worst = max(worst, d)
	}
	return worst / size
}

func sameBits(a, b []float32) bool {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}
