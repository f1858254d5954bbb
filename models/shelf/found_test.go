package shelf

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"clefbar/models/hub"
	"clefbar/models/modeltest"
)

// smallHub serves the files of models by their repository's name.
func smallHub(t *testing.T, repos map[string]map[string][]byte) *hub.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/models" {
			list := []map[string]any{}
			for _, id := range slices.Sorted(maps.Keys(repos)) {
				list = append(list, map[string]any{"id": id, "siblings": siblings(repos[id])})
			}
			_ = json.NewEncoder(w).Encode(list)
			return
		}
		for id, files := range repos {
			if strings.HasPrefix(r.URL.Path, "/api/models/"+id+"/") {
				_ = json.NewEncoder(w).Encode(map[string]any{"sha": strings.Repeat("a", 40), "siblings": siblings(files)})
				return
			}
			if name, ok := strings.CutPrefix(r.URL.Path, "/"+id+"/resolve/"+strings.Repeat("a", 40)+"/"); ok {
				_, _ = w.Write(files[name])
				return
			}
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	c := hub.New()
	c.Endpoint, c.Token, c.Offline = server.URL, "", false
	return c
}

func siblings(files map[string][]byte) (all []map[string]any) {
	for name, b := range files {
		s := map[string]any{"rfilename": name, "size": len(b), "blobId": fmt.Sprintf("%x", sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(b)), b...)))}
		if strings.HasSuffix(name, ".safetensors") {
			s["lfs"] = map[string]any{"sha256": fmt.Sprintf("%x", sha256.Sum256(b)), "size": len(b)}
		}
		all = append(all, s)
	}
	return all
}

func filesOf(t *testing.T, fsys fs.FS) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	names, err := fs.ReadDir(fsys, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if files[n.Name()], err = fs.ReadFile(fsys, n.Name()); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestSearchKnowsClefByItsFiles(t *testing.T) {
	whole := filesOf(t, modeltest.Small.Files(nil))
	without := func(names ...string) map[string][]byte {
		files := maps.Clone(whole)
		for _, n := range names {
			delete(files, n)
		}
		return files
	}
	headOnly := without("model.safetensors")
	gguf := maps.Clone(headOnly)
	gguf["Clef-Q4_0.gguf"] = []byte("GGUF")
	c := smallHub(t, map[string]map[string][]byte{
		"me/plain-name": whole, "me/Backbone": without("joint_head.safetensors", "joint_head_config.json"), "me/no-tokenizer": without("tokenizer.json"),
		"me/head": headOnly, "me/gguf": gguf, "me/nothing": {"README.md": nil},
	})
	found, looked, more, err := Search(t.Context(), c, "me", "")
	if err != nil || looked != 6 || more {
		t.Fatalf("got %d, %v, %v", looked, more, err)
	}
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%s %v", f.ID, f.Problem))
	}
	want := []string{
		"me/plain-name <nil>", "me/gguf only GGUF files: Clefbar reads safetensors", "me/head only the head: no weights of the backbone",
		"me/no-tokenizer without tokenizer.json",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDescribe(t *testing.T) {
	repo := func(quantization map[string]any) map[string][]byte {
		files := filesOf(t, modeltest.Tiny27B.Files(nil))
		files["config.json"], files["joint_head_config.json"] = modeltest.Tiny27B.Configs(quantization)
		return files
	}
	q := func(bits int, more ...any) map[string]any {
		m := map[string]any{"group_size": 64, "bits": bits, "mode": "affine"}
		for i := 0; i < len(more); i += 2 {
			m[more[i].(string)] = more[i+1]
		}
		return m
	}
	odd := repo(nil)
	odd["joint_head_config.json"] = []byte(`{"hidden_size":64,"width":64,"routing_layers":2,"layers":4,"heads":2,"feedforward":64}`)
	c := smallHub(t, map[string]map[string][]byte{
		"a/bf16": repo(nil), "a/six": repo(q(6)), "a/mixed": repo(q(4, "lm_head", false)), "a/fp4": repo(q(4, "mode", "mxfp4")), "a/odd": odd,
		"a/none": {"config.json": []byte("{}")}, "a/html": {"config.json": []byte("<html>"), "joint_head.safetensors": nil, "joint_head_config.json": nil, "tokenizer.json": nil, "model.safetensors": nil},
	})
	for id, want := range map[string]string{"a/bf16": "bf16", "a/six": "6-bit", "a/mixed": "mixed 4-bit"} {
		k, err := Describe(t.Context(), c, id)
		if err != nil || k.Layout != want || k.Repo != id || k.Bytes <= 0 || k.WeightBytes <= 0 || k.Memory(500) <= k.WeightBytes || k.Operations(500) <= 0 || k.Note == "" {
			t.Errorf("%s: got %+v, %v", id, k, err)
		}
	}
	for id, want := range map[string]string{"a/fp4": "mxfp4", "a/odd": "another model", "a/none": "no decision head", "a/html": "a/html", "a/gone": "not found"} {
		if _, err := Describe(t.Context(), c, id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", id, err, want)
		}
	}
}

// TestDescribeReckonsLikeTheCatalogue holds what is reckoned from an announcement against what is known of the released
// models.
func TestDescribeReckonsLikeTheCatalogue(t *testing.T) {
	for bits, want := range map[float64]int64{16: 14_080_000_000, 8.5: 7_600_000_000, 4.5: 4_140_000_000} {
		got := int64(float64(textWeights(shape9B))*bits/8) + 243_538_016
		if diff := float64(got-want) / float64(want); diff > 0.02 || diff < -0.02 {
			t.Errorf("%v bits: got %d bytes of weights, the catalogue says %d", bits, got, want)
		}
	}
}
