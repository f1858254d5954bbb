package answer

import (
	"cmp"
	"math"
	"slices"
)

// one is a probability of 1 in units of the last decimal that is shown.
const one = 1_000_000

// round gives p in units, by largest remainders, so that the units sum to exactly
// one. Of equal remainders the first gets more, so a larger probability never
// becomes the smaller one.
func round(p []float64) []int64 {
	sum := 0.0
	for _, x := range p {
		sum += x
	}
	units := make([]int64, len(p))
	rest := make([]float64, len(p))
	left := int64(one)
	for i, x := range p {
		exact := x / sum * one
		units[i] = int64(math.Floor(exact))
		rest[i] = exact - math.Floor(exact)
		left -= units[i]
	}
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
	for k := 0; left > 0; k = (k + 1) % len(order) {
		units[order[k]]++
		left--
	}
	return units
}

// decimals rounds a derived number to six decimals and clamps it to [0, most].
func decimals(x, most float64) float64 {
	return min(max(math.Round(x*one)/one, 0), most)
}

// expectation is Σ i·p[i], exact in units.
func expectation(units []int64) float64 {
	sum := int64(0)
	for i, u := range units {
		sum += int64(i) * u
	}
	return float64(sum) / one
}

// choiceConfidence is TypeSafe's measure of a choice: how far the best option is
// above chance, (n·m - 1)/(n - 1).
func choiceConfidence(units []int64, best int) float64 {
	n := float64(len(units))
	if n <= 1 {
		return 1
	}
	return decimals((n*float64(units[best])/one-1)/(n-1), 1)
}

// scoreConfidence is TypeSafe's measure of a score: how near the levels' weight is to
// the most probable level, against a uniform distribution seen from the middle.
func scoreConfidence(units []int64, best int) float64 {
	n := len(units)
	if n <= 1 {
		return 1
	}
	apart, uniform := 0.0, 0.0
	for i, u := range units {
		apart += float64(u) / one * math.Abs(float64(i-best))
		uniform += math.Abs(float64(i)-float64(n-1)/2) / float64(n)
	}
	return decimals(1-apart/uniform, 1)
}
