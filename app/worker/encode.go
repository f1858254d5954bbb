package worker

import (
	"clefbar/engine"
)

// Encode renders a request with the tokenizer of the default model, without waiting: engine.Loading while it is not
// open, engine.BadUsage when the model does not show what it reads.
func (w *Worker) Encode(r *engine.Request) (*engine.Encoding, error) {
	s, err := w.borrow()
	if err != nil {
		return nil, err
	}
	defer w.release(s)
	e, ok := s.model.(Encoder)
	if !ok {
		return nil, &engine.Error{Reason: engine.BadUsage, Message: "this model does not show what it reads"}
	}
	return e.Encode(r)
}

// borrow takes a reference to the default model's slot.
func (w *Worker) borrow() (*slot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.slots[w.chosen]
	if !ok || !s.open() {
		return nil, &engine.Error{Reason: engine.Loading, Message: "the model is not open yet"}
	}
	s.refs++
	return s, nil
}
