package shelf

import "clefbar/models"

// textWeights counts the weights of the backbone's matrices; embedding tables are read by row and do not count.
func textWeights(c *models.Config) (n int64) {
	for _, full := range c.Full {
		n += 3 * int64(c.MLP) * int64(c.Hidden)
		if full {
			n += int64(3*c.Heads*c.HeadDim+2*c.KVHeads*c.HeadDim) * int64(c.Hidden)
		} else {
			n += int64(c.QKV()+2*c.ValueHeads*c.ValueDim+2*c.ValueHeads) * int64(c.Hidden)
		}
	}
	return n
}

// operations counts the multiplications and additions of the backbone's matrix products for one token, with a tenth
// on top for attention, the delta rule and the head.
func operations(c *models.Config) float64 { return 2.2 * float64(textWeights(c)) }
