package models

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const indexFile = "model.safetensors.index.json"

// stored is a tensor of an opened weight file.
type stored struct {
	entry
	file string
	data []byte
}

// shardPlan says which weight files make up a backbone.
type shardPlan struct {
	files []string
	where map[string]string // stored tensor name → file; nil without an index
	total int64             // payload bytes of all files, 0 when unknown
}

var shardName = regexp.MustCompile(`^(.*)-(\d{5})-of-(\d{5})\.safetensors$`)

// planShards reads the index, or finds the weight files without one (clef.md 1.2).
func planShards(src source, names []string) (shardPlan, error) {
	if slices.Contains(names, indexFile) {
		data, err := src.read(indexFile, maxIndexBytes)
		if err != nil {
			return shardPlan{}, err
		}
		return parseIndex(data)
	}
	var files []string
	for _, n := range names {
		if ok, _ := path.Match("model*.safetensors", n); ok {
			files = append(files, n)
		}
	}
	if len(files) == 0 {
		return shardPlan{}, fileError(NotFound, "model.safetensors", "no such file: the folder has no weights")
	}
	if len(files) > 1 {
		return shardPlan{}, fileError(Incomplete, indexFile, "the index is missing although the weights are split into several files (%s): download it", strings.Join(files, ", "))
	}
	if m := shardName.FindStringSubmatch(files[0]); m != nil && m[3] != "00001" {
		return shardPlan{}, missingSiblings(m, files[0])
	}
	return shardPlan{files: files}, nil
}

// missingSiblings names the shards that a lone shard's own name promises.
func missingSiblings(m []string, have string) error {
	of, _ := strconv.Atoi(m[3])
	var missing []string
	for i := 1; i <= min(of, 999); i++ {
		if n := fmt.Sprintf("%s-%05d-of-%s.safetensors", m[1], i, m[3]); n != have {
			missing = append(missing, n)
		}
	}
	return &Error{
		Kind: Incomplete, File: indexFile, Missing: append([]string{indexFile}, missing...),
		Message: fmt.Sprintf("the index and %d of %d weight files are missing (%s): download them", len(missing), of, strings.Join(missing, ", ")),
	}
}

// parseIndex reads {"metadata": {"total_size": n}, "weight_map": {tensor: file}}.
func parseIndex(data []byte) (shardPlan, error) {
	bad := func(err error) (shardPlan, error) {
		return shardPlan{}, &Error{Kind: Malformed, File: indexFile, Message: err.Error(), Err: err}
	}
	if what := impostor(data); what != "" {
		return shardPlan{}, fileError(Malformed, indexFile, "%s", what)
	}
	o, err := newObject("", data)
	if err != nil {
		return bad(err)
	}
	plan := shardPlan{where: map[string]string{}}
	if meta := o.child("metadata"); meta != nil {
		if t := meta.number("total_size", 1); t < math.MaxInt64/2 {
			plan.total = int64(t)
		}
	}
	entries, err := members(o.m["weight_map"])
	if err != nil {
		return bad(fmt.Errorf("weight_map: %w", err))
	}
	for _, e := range entries {
		var file string
		if json.Unmarshal(e.value, &file) != nil || !strings.HasSuffix(file, ".safetensors") {
			return bad(fmt.Errorf("weight_map: %s has no weight file: %.100s is no .safetensors file", e.name, e.value))
		}
		if file != path.Base(file) || strings.ContainsAny(file, `\:`) {
			return bad(fmt.Errorf("weight_map: %q is not a file of this folder", file))
		}
		plan.where[e.name] = file
		if !slices.Contains(plan.files, file) {
			plan.files = append(plan.files, file)
		}
	}
	if len(plan.files) == 0 {
		return bad(fmt.Errorf("weight_map is empty"))
	}
	slices.Sort(plan.files)
	return plan, nil
}

// openShards opens the planned files and returns their tensors by stored name.
// blobs is complete even on error, so that the caller can close them.
func openShards(src source, names []string, plan shardPlan) (tensors map[string]*stored, blobs []*blob, err error) {
	var missing []string
	var payload int64
	tensors = map[string]*stored{}
	for _, file := range plan.files {
		if !slices.Contains(names, file) {
			missing = append(missing, file)
			continue
		}
		b, err := src.weights(file)
		if err != nil {
			return nil, blobs, err
		}
		blobs = append(blobs, b)
		if err := addTensors(tensors, b); err != nil {
			return nil, blobs, err
		}
		payload += int64(len(b.data))
	}
	if len(missing) > 0 {
		return nil, blobs, missingShards(plan, missing, payload)
	}
	for name, file := range plan.where {
		switch t := tensors[name]; {
		case t == nil:
			return nil, blobs, tensorError(Incomplete, file, name, "the index promises this tensor, but the file does not have it: download both again")
		case t.file != file:
			return nil, blobs, tensorError(Mismatch, indexFile, name, "the index maps it to %s, but it is in %s", file, t.file)
		}
	}
	return tensors, blobs, nil
}

func missingShards(plan shardPlan, missing []string, payload int64) error {
	e := &Error{Kind: Incomplete, File: missing[0], Missing: missing, Bytes: max(0, plan.total-payload)}
	size := ""
	if e.Bytes > 0 {
		size = fmt.Sprintf(", about %d bytes to fetch", e.Bytes)
	}
	e.Message = fmt.Sprintf("the weight file is missing (%d of %d%s): download it", len(missing), len(plan.files), size)
	if len(missing) > 1 {
		e.Message = fmt.Sprintf("%d of %d weight files are missing (%s%s): download them", len(missing), len(plan.files), strings.Join(missing, ", "), size)
	}
	return e
}

// addTensors parses one weight file into tensors.
func addTensors(tensors map[string]*stored, b *blob) error {
	entries, body, err := b.header()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if other := tensors[e.name]; other != nil {
			return tensorError(Mismatch, b.name, e.name, "it is also in %s", other.file)
		}
		tensors[e.name] = &stored{entry: e, file: b.name, data: body[e.from:e.to:e.to]}
	}
	return nil
}
