package qwen

import (
	"context"
	"fmt"

	"clefbar/engine/backend"
)

// Prefix is the state behind the first tokens of a sequence. Running the rest on
// top of it gives the same rows as running everything, at the cost of the rest.
type Prefix struct {
	hidden backend.Buffer // final rows
	layers []layerState
}

// layerState is what one layer remembers: the delta rule its last convolution
// inputs and its state, attention its keys and values.
type layerState struct {
	history, state backend.Buffer
	keys, values   backend.Buffer
}

// Len returns the number of tokens; 0 for nil.
func (p *Prefix) Len() int {
	if p == nil {
		return 0
	}
	return p.hidden.Rows()
}

// Prefill runs in and keeps its state for later Forward calls. FreePrefix releases it.
func (m *Model) Prefill(ctx context.Context, in Input) (*Prefix, error) {
	m.b.Begin(ctx)
	p := &Prefix{layers: make([]layerState, len(m.layers))}
	hidden, err := m.run(in, p)
	if err != nil {
		return nil, err
	}
	p.hidden = hidden
	if err := m.b.Sync(); err != nil {
		m.FreePrefix(p)
		return nil, fmt.Errorf("run the backbone: %w", err)
	}
	return p, nil
}

// FreePrefix gives the memory of p back.
func (m *Model) FreePrefix(p *Prefix) {
	m.b.Free(p.hidden)
	for _, l := range p.layers {
		m.freeAll(l.history, l.state, l.keys, l.values)
	}
}
