package metal

import (
	"context"
	"time"

	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
)

// dryDevice runs nothing. It serves to count what a decision costs and to measure
// what recording it costs.
type dryDevice struct{ info gpu.Info }

type dryMemory struct{}

func (dryMemory) Bytes() []byte { return nil }
func (dryMemory) Release()      {}

// plain is memory of the host.
type plain []byte

func (p plain) Bytes() []byte { return p }
func (p plain) Release()      {}

type dryPipeline struct{}

func (dryPipeline) MaxThreads() int { return 1024 }

type dryWork struct{}

func (dryWork) Wait() (time.Duration, error) { return 0, nil }

func (d dryDevice) Info() gpu.Info                                { return d.info }
func (d dryDevice) Alloc(int) (gpu.Memory, error)                 { return dryMemory{}, nil }
func (d dryDevice) Wrap([]byte) (gpu.Memory, int, error)          { return dryMemory{}, 0, nil }
func (d dryDevice) Pipeline(kernels.Kernel) (gpu.Pipeline, error) { return dryPipeline{}, nil }
func (d dryDevice) Submit([]gpu.Dispatch) (gpu.Pending, error)    { return dryWork{}, nil }
func (d dryDevice) Close() error                                  { return nil }

// dry returns a backend that records for a chip and runs nothing.
func dry(c Chip) *Backend {
	dev := dryDevice{gpu.Info{Name: c.Name, Family: c.Family, Cores: c.Cores, Tensor: c.Tensor > 0}}
	table := Shipped()
	if c.Tensor > 0 {
		table = ShippedTensor()
	}
	return &Backend{
		dev: dev, chip: c, table: table, budget: defaultBudget, status: plain(make([]byte, statusWords*4)), dry: true,
		pipelines: map[kernels.Kernel]gpu.Pipeline{}, ctx: context.Background(),
		pool: pool{dev: dev, free: map[int][]*block{}, live: map[*root]bool{}}, arena: arena{dev: dev},
	}
}
