package shelf

import (
	"strings"

	"clefbar/models"
)

// Working is what a decision needs beside the weights: Fixed bytes, and PerToken for each token of the request. It counts
// the buffers of the forward pass and of the head (residual stream, one layer's keys and values, the head's memory).
type Working struct {
	Fixed    int64 `json:"fixed"`
	PerToken int64 `json:"per_token"`
}

// blockRows is how many rows of a layer are in flight at once.
const blockRows = 1024

func workingSet(c *models.Config, width int) Working {
	wide := max(2*c.MLP, c.QKV()+c.ValueHeads*c.ValueDim, 2*c.Heads*c.HeadDim+2*c.KVHeads*c.HeadDim)
	fixed := 4 * int64(blockRows) * int64(c.Hidden+wide+c.Heads*c.HeadDim)
	fixed += 4 * int64(c.ValueHeads) * int64(c.KeyDim) * int64(c.ValueDim)
	perToken := 4 * int64(2*c.Hidden+2*c.KVHeads*c.HeadDim+4*width+c.Rotary)
	return Working{fixed + 24<<20, perToken}
}

// Bytes is the working set for a request of so many tokens.
func (w Working) Bytes(tokens int) int64 { return w.Fixed + w.PerToken*int64(tokens) }

// Memory is what a model needs to answer a request of so many tokens: its weights in stored form and the working set.
func (i Item) Memory(tokens int) int64 { return i.WeightBytes + i.Need.Bytes(tokens) }

// weightBytes counts the tensors that a text decision reads whole. Embedding tables and lm_head are read by row and
// stay in the file.
func weightBytes(dir string) (n int64) {
	l, err := models.Inspect(dir)
	if err != nil {
		return 0
	}
	for _, t := range l.Tensors {
		switch {
		case strings.Contains(t.Name, "embed_tokens."), strings.Contains(t.Name, "lm_head."), strings.Contains(t.Name, "mtp."),
			strings.HasPrefix(t.Name, "vision_tower."), strings.Contains(t.Name, ".visual."):
		default:
			n += t.Bytes
		}
	}
	return n
}

// Fit compares what a model needs with what the machine can give.
type Fit struct {
	Need, Have int64
}

// Verdict is the word that stands beside the number.
type Verdict string

// The verdicts. TooMuch is advice: it can be overridden.
const (
	Fits    Verdict = "fits"
	Tight   Verdict = "tight"
	TooMuch Verdict = "too much"
)

// tightFrom is the share of memory, in tenths, from which a model is called tight: what else runs needs the rest.
const tightFrom = 8

// Verdict is Tight from eight tenths of what there is.
func (f Fit) Verdict() Verdict {
	switch {
	case f.Need > f.Have:
		return TooMuch
	case f.Need > f.Have/10*tightFrom:
		return Tight
	}
	return Fits
}

// Over is how many bytes are lacking, 0 when it fits.
func (f Fit) Over() int64 { return max(0, f.Need-f.Have) }

// Room is where models stand while they are open.
type Room struct {
	// GPU is how many bytes the GPU recommends to keep resident (Metal's recommendedMaxWorkingSetSize); 0 for models
	// that run on the processor.
	GPU int64
}

// Gives is how much memory there is for models, what the open ones take included: held is what those take that the
// system counts as used.
func (r Room) Gives(held int64) (int64, error) {
	if r.GPU > 0 {
		return r.GPU, nil
	}
	have, err := Available()
	return have + max(0, held), err
}
