package backend

import "fmt"

// Loader hands tensors to a backend one after the other. After the first failure it
// does nothing more, so that a model can be loaded without a check at every weight.
type Loader struct {
	Backend Backend
	Bytes   int64 // stored size of what was taken in, tables left out
	Err     error // the first failure, naming the tensor
}

// Take loads a tensor. It returns nil once loading has failed.
func (l *Loader) Take(t Tensor, use Use) Weight {
	if l.Err != nil {
		return nil
	}
	w, err := l.Backend.Load(t, use)
	if err != nil {
		l.Err = fmt.Errorf("load %s: %w", t.Name, err)
		return nil
	}
	if use != Table {
		l.Bytes += t.Bytes()
	}
	return w
}
