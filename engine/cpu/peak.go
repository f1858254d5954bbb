package cpu

import (
	"context"
	"time"
)

// Operations counts the multiplications and additions that the matrix products of all runs
// have done so far.
func (c *CPU) Operations() float64 { return c.operations }

// String is the precision's name.
func (f form) String() string { return [...]string{F32, BF16, Int8}[f] }

// Peak measures the operations a second that all workers together reach at a precision with
// registers alone, over about the given time. It is the measure of what there is to reach: on a
// shared machine it changes from minute to minute, so compare only with runs beside it.
func (c *CPU) Peak(precision string, about time.Duration) float64 {
	f := formF32
	for _, g := range []form{formBF16, formInt8} {
		if g.String() == precision {
			f = g
		}
	}
	loops := 1 << 12
	for {
		total := 0.0
		done := make([]float64, c.pool.size)
		start := time.Now()
		c.pool.run(context.Background(), c.pool.size, func(_, task int) { done[task] = c.path.peak(f, loops) })
		took := time.Since(start)
		if took >= about {
			for _, n := range done {
				total += n
			}
			return total / took.Seconds()
		}
		loops *= 2
	}
}
