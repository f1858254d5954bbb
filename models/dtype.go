package models

// dtypeSizes holds every element type of the safetensors format. Types that DType
// does not name can be listed but not run.
var dtypeSizes = map[string]int64{
	"BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1, "F8_E8M0": 1,
	"U16": 2, "I16": 2, "F16": 2, "BF16": 2,
	"U32": 4, "I32": 4, "F32": 4,
	"U64": 8, "I64": 8, "F64": 8,
}

var dtypeNames = [...]string{F32: "F32", BF16: "BF16", F16: "F16", U32: "U32", I32: "I32", U8: "U8"}

// String returns the name used in safetensors headers.
func (d DType) String() string {
	if d == 0 || int(d) >= len(dtypeNames) {
		return "?"
	}
	return dtypeNames[d]
}

// Size returns the bytes of one element.
func (d DType) Size() int { return int(dtypeSizes[d.String()]) }

func (d DType) isFloat() bool { return d == F32 || d == BF16 || d == F16 }

// dtypeOf returns the DType of a header name, 0 for one that this program cannot compute with.
func dtypeOf(name string) DType {
	for d, n := range dtypeNames {
		if n == name && n != "" {
			return DType(d)
		}
	}
	return 0
}
