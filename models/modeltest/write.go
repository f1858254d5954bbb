package modeltest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// Tensor is a tensor to be written. Float32 values are stored as F32 or BF16.
type Tensor struct {
	Name  string
	DType string // "F32", "BF16" or anything with Raw
	Shape []int
	Data  []float32
	Raw   []byte // instead of Data
}

// bytes returns the stored form.
func (t Tensor) bytes() []byte {
	if t.Raw != nil {
		return t.Raw
	}
	var out []byte
	for _, v := range t.Data {
		if t.DType == "BF16" {
			out = binary.LittleEndian.AppendUint16(out, uint16(math.Float32bits(v)>>16))
		} else {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		}
	}
	return out
}

// Safetensors returns a safetensors file. pad is the alignment of the data region; 1
// leaves it where the header ends, as MLX does.
func Safetensors(tensors []Tensor, pad int) []byte {
	var header strings.Builder
	var data []byte
	header.WriteString("{")
	for i, t := range tensors {
		raw := t.bytes()
		shape, err := json.Marshal(append([]int{}, t.Shape...))
		if err != nil {
			panic(err)
		}
		if i > 0 {
			header.WriteString(",")
		}
		fmt.Fprintf(&header, `%q:{"dtype":%q,"shape":%s,"data_offsets":[%d,%d]}`, t.Name, t.DType, shape, len(data), len(data)+len(raw))
		data = append(data, raw...)
	}
	header.WriteString("}")
	for (8+header.Len())%pad != 0 {
		header.WriteString(" ")
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(header.Len()))
	return append(append(out, header.String()...), data...)
}

// Index returns a model.safetensors.index.json for tensors that are spread over files.
func Index(where map[string]string, total int64) []byte {
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{"total_size": total}, "weight_map": where})
	if err != nil {
		panic(err)
	}
	return data
}
