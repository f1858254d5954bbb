package metal

import (
	"fmt"

	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
	"clefbar/metal/mtl"
)

// pipeline is a compiled kernel.
type pipeline struct {
	mtl     mtl.Pipeline
	threads int
}

func (p *pipeline) MaxThreads() int { return p.threads }

// Pipeline compiles a kernel's library and the kernel on first use.
func (d *device) Pipeline(k kernels.Kernel) (p gpu.Pipeline, err error) {
	d.thread.do(func() { mtl.Pool(func() { p, err = d.compile(k) }) })
	return p, err
}

func (d *device) compile(k kernels.Kernel) (gpu.Pipeline, error) {
	if p := d.pipelines[k]; p != nil {
		return p, nil
	}
	library, ok := d.libraries[k.Library]
	if !ok {
		var err error
		language := mtl.LanguageVersion3_1
		if k.Tensor() {
			language = mtl.LanguageVersion4_0
		}
		if library, err = d.mtl.NewLibrary(k.Text(), language, k.Fast()); err != nil {
			return nil, err
		}
		d.libraries[k.Library] = library
	}
	constants := make([]mtl.Constant, k.Count)
	for i, bools := 0, k.Bools(); i < k.Count; i++ {
		constants[i] = mtl.Constant{Value: k.Constants[i], Bool: bools[i]}
	}
	compiled, added, err := d.mtl.NewPipeline(library, k.Function, constants, k.Threads(), d.archive)
	d.fresh = d.fresh || added
	if err != nil {
		return nil, err
	}
	p := &pipeline{compiled, compiled.MaxThreads()}
	if w := compiled.Width(); w != 32 {
		return nil, fmt.Errorf("simdgroups have %d threads, the kernels are written for 32", w)
	}
	if n := compiled.ThreadgroupMemory(); n > maxThreadgroupMemory {
		return nil, fmt.Errorf("%s declares %d bytes of threadgroup memory", k.Function, n)
	}
	d.pipelines[k] = p
	return p, nil
}

// openArchive opens the compiled kernels of earlier starts. Without them everything is
// compiled again.
func (d *device) openArchive() {
	var err error
	if d.store, err = newArchive(d.info); err != nil {
		return
	}
	if d.archive, err = d.mtl.NewArchive(d.store.usable()); err != nil {
		d.archive, _ = d.mtl.NewArchive("") // the file was of no use: an empty one, or none
	}
}

// keepKernels stores what was compiled since the start.
func (d *device) keepKernels() {
	if d.fresh {
		d.fresh = d.store.keep(d.archive.Serialize) != nil
	}
}
