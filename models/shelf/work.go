package shelf

import "clefbar/models"

// operations counts the multiplications and additions of the backbone's matrix products for so many tokens, with a tenth
// on top for attention, the delta rule and the head.
func operations(c *models.Config, tokens int) float64 {
	var weights int64
	for _, full := range c.Full {
		weights += 3 * int64(c.MLP) * int64(c.Hidden)
		if full {
			weights += int64(3*c.Heads*c.HeadDim+2*c.KVHeads*c.HeadDim) * int64(c.Hidden)
		} else {
			weights += int64(c.QKV()+2*c.ValueHeads*c.ValueDim+2*c.ValueHeads) * int64(c.Hidden)
		}
	}
	return 2.2 * float64(weights) * float64(tokens)
}
