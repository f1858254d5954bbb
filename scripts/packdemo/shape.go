package main

import (
	"clefbar/models/modeltest"
)

// vocab is the number of rows of the tables: as many as Etude's tokenizer, which the demo comes with, has tokens.
const vocab = 27992

// shapeOf has the proportions of the released models at another width and depth.
func shapeOf(hidden, layers int) modeltest.Shape {
	part := func(of4096, least int) int { return max(least, of4096*hidden/4096) }
	width := min(1024, hidden/2)
	return modeltest.Shape{
		Vocab: vocab, Hidden: hidden, MLP: 3 * hidden, Layers: layers, Interval: 4,
		Heads: part(16, 1), KVHeads: part(4, 1), HeadDim: 256,
		KeyHeads: part(16, 1), ValueHeads: part(32, 2), KeyDim: 128, ValueDim: 128, Sections: [3]int{11, 11, 10},
		Width: width, Routing: 2, HeadLayers: 4, HeadHeads: width / 64, FF: 4 * width,
		ImageToken: 27988, VideoToken: 27989, VisionStart: 27986, VisionEnd: 27987, Scalars: modeltest.TinyScalars,
	}
}

// nearest is the shape whose weights in a layout are nearest to size, the wider one of two that are.
func nearest(size int64, layout string) modeltest.Shape {
	var best modeltest.Shape
	least := int64(-1)
	for _, hidden := range []int{8192, 4096, 2048, 1024, 512, 256} {
		for layers := 4; layers <= 64; layers += 4 {
			s := shapeOf(hidden, layers)
			off := weightBytes(s, layout) - size
			off = max(off, -off)
			if least < 0 || off < least {
				best, least = s, off
			}
		}
	}
	return best
}

func weightBytes(s modeltest.Shape, layout string) (n int64) {
	backbone, head := s.Plan()
	for _, t := range backbone {
		for _, p := range pieces(t, layout, s.Scalars) {
			n += p.bytes()
		}
	}
	for _, t := range head {
		n += plain(t, t.Name, t.Shape, s.Scalars).bytes()
	}
	return n
}
