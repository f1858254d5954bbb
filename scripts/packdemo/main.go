// Command packdemo writes a synthetic Clef checkpoint of about any size, to try the shelf, the downloads and the memory
// guard without fetching one. Its weights follow from the names of its tensors (clef.md 8.1); its answers mean nothing.
//
//	go run ./scripts/packdemo -size 2GB -layout 4-bit -out ./demo
//	go run ./scripts/packdemo -size 500MB -layout bf16 -cache -without head
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// options are the flags.
type options struct {
	size    int64
	layout  string
	out     string
	cache   bool
	without string
	shard   int64
}

func main() {
	o, err := parse(os.Args[1:])
	if err == nil {
		err = o.pack()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "packdemo:", err)
		os.Exit(1)
	}
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("packdemo", flag.ContinueOnError)
	size := f.String("size", "200MB", "size of the weights, about")
	shard := f.String("shard", "2GB", "size of one weight file, at most about")
	f.StringVar(&o.layout, "layout", "4-bit", "bf16 (Hugging Face), 8-bit or 4-bit (MLX)")
	f.StringVar(&o.out, "out", "demo", "folder to write")
	f.BoolVar(&o.cache, "cache", false, "put it into the Hugging Face cache, as demo/NAME with the last part of -out")
	f.StringVar(&o.without, "without", "", "leave something out: head, tokenizer or shard")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.size, err = bytesOf(*size); err != nil {
		return o, err
	}
	if o.shard, err = bytesOf(*shard); err != nil {
		return o, err
	}
	switch o.layout {
	case "bf16", "8-bit", "4-bit":
	default:
		return o, fmt.Errorf("-layout is bf16, 8-bit or 4-bit, not %q", o.layout)
	}
	switch o.without {
	case "", "head", "tokenizer", "shard":
	default:
		return o, fmt.Errorf("-without is head, tokenizer or shard, not %q", o.without)
	}
	return o, nil
}

// bytesOf reads "200MB" or "1.5GB".
func bytesOf(s string) (int64, error) {
	number, unit := strings.TrimSpace(s), 1.0
	for suffix, factor := range map[string]float64{"GB": 1e9, "MB": 1e6} {
		if rest, ok := strings.CutSuffix(strings.ToUpper(number), suffix); ok {
			number, unit = rest, factor
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n*unit >= 1e6 && n*unit <= 1e12) {
		return 0, fmt.Errorf("%q is not a size from 1MB to 1000GB", s)
	}
	return int64(n * unit), nil
}
