// Package shelf knows which Clef models there are: on this disk, whole or not, and on the Hub. It says what each needs
// and whether it fits. Models are recognised from their files, never from their names.
package shelf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"clefbar/models"
	"clefbar/models/hub"
)

// State says what can be done with a model.
type State uint8

// The states.
const (
	Ready       State = iota // can be opened
	Incomplete               // files are missing or cut: get the rest
	NoHead                   // a chat backbone without Clef's decision head
	Unsupported              // a model of a kind that this program cannot run
	Broken                   // its files contradict each other or cannot be read
	Away                     // the folder or its disk is not there now
)

// String returns the word for people.
func (s State) String() string {
	return [...]string{"ready", "incomplete", "no head", "unsupported", "broken", "away"}[s]
}

// Item is one model on this machine.
type Item struct {
	Name    string // short: the repository's or folder's
	Repo    string // "owner/name" for one in the Hub's cache, else ""
	Commit  string
	Refs    []string // branches and tags that point at Commit
	Dir     string
	Layout  string // "bf16", "8-bit", "4-bit", …; "" when the files do not say
	State   State
	Problem error // why it is not Ready; a sentence for people

	Vision      bool
	DiskBytes   int64 // what its files take now
	Missing     int64 // bytes to fetch, 0 when unknown
	WeightBytes int64 // weights that a decision reads, in stored form
	Need        Working
	Positions   int // most tokens that the model was made for, 0 when not known

	perToken float64 // operations, 0 when not known
}

// Operations is how many multiplications and additions a request of so many tokens takes, 0 when not known.
func (i Item) Operations(tokens int) float64 { return i.perToken * float64(tokens) }

const maxConfig = 4 << 20

// Scan finds every Clef-shaped model in the Hub's cache (all revisions) and in folders, each of which is a model or
// holds models. Ready ones come first, then by name. A folder of the person's own that cannot be read is an Item too; a cache
// that cannot be read is an error beside the rest, a *hub.FolderError.
func Scan(ctx context.Context, cache hub.Cache, folders []string) (items []Item, trouble error) {
	repos, err := readCache(cache)
	if err != nil {
		trouble = err
	}
	for _, r := range repos {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if name, ok := strings.CutPrefix(r.Name(), "models--"); ok {
			items = append(items, scanRepo(cache, r.Name(), strings.Replace(name, "--", "/", 1))...)
		}
	}
	for _, dir := range folders {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		items = append(items, scanFolder(dir)...)
	}
	slices.SortStableFunc(items, func(a, b Item) int {
		if a.State != b.State {
			return int(a.State) - int(b.State)
		}
		return strings.Compare(a.Name+a.Commit, b.Name+b.Commit)
	})
	return items, trouble
}

// readCache lists the repositories of the cache. One that is not there yet is empty.
func readCache(cache hub.Cache) ([]os.DirEntry, error) {
	if cache.Dir == "" { // only folders are wanted
		return nil, nil
	}
	repos, err := os.ReadDir(cache.Dir)
	if err == nil || errors.Is(err, os.ErrNotExist) {
		return repos, nil
	}
	if p, ok := errors.AsType[*os.PathError](err); ok {
		err = p.Err
	}
	return repos, &hub.FolderError{Path: cache.Dir, Err: err}
}

func scanRepo(cache hub.Cache, folder, repo string) (items []Item) {
	under := map[string]bool{}
	refs := readRefs(filepath.Join(cache.Dir, folder, "refs"))
	for _, r := range cache.Begun(repo) {
		i := begun(cache, r)
		i.Refs = refs[r.Commit]
		if len(i.Refs) == 0 && r.Revision != r.Commit {
			i.Refs = []string{r.Revision}
		}
		items, under[r.Commit] = append(items, i), true
	}
	snapshots := filepath.Join(cache.Dir, folder, "snapshots")
	commits, err := os.ReadDir(snapshots)
	if err != nil && len(items) == 0 {
		return partialOnly(cache, repo)
	}
	for _, c := range commits {
		dir := filepath.Join(snapshots, c.Name())
		if under[c.Name()] || !clefShaped(dir) {
			continue
		}
		i := look(dir)
		i.Name, i.Repo, i.Commit, i.Refs = repo[strings.IndexByte(repo, '/')+1:], repo, c.Name(), refs[c.Name()]
		i.waiting(cache)
		i.know()
		items = append(items, i)
	}
	return items
}

// scanFolder lists dir when it is a model, else the models in its subfolders. A person who adds a folder is told about
// everything in it that looks like a model, also about what cannot run.
func scanFolder(dir string) (items []Item) {
	if clefShaped(dir) {
		return []Item{look(dir)}
	}
	subs, err := os.ReadDir(dir)
	if err != nil {
		i := Item{Name: filepath.Base(dir), Dir: dir, State: Broken, Problem: err}
		if errors.Is(err, os.ErrNotExist) {
			i.State, i.Problem = Away, fmt.Errorf("%s is not there: connect its disk, or take it off the list", dir)
		}
		return []Item{i}
	}
	for _, s := range subs {
		sub := filepath.Join(dir, s.Name())
		if st, err := os.Stat(sub); err == nil && st.IsDir() && clefShaped(sub) {
			items = append(items, look(sub))
		}
	}
	if items == nil {
		i := look(dir)
		items = []Item{i}
	}
	return items
}

// clefShaped tells from the files whether dir may be a Clef model: a head, or a backbone of the right type, or a GGUF
// that says so.
func clefShaped(dir string) bool {
	for _, name := range []string{"joint_head.safetensors", "joint_head_config.json"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	if gguf, _ := filepath.Glob(filepath.Join(dir, "*.gguf")); len(gguf) > 0 {
		return slices.ContainsFunc(gguf, clefGGUF)
	}
	var c struct {
		Type string `json:"model_type"`
		Text struct {
			Type string `json:"model_type"`
		} `json:"text_config"`
	}
	f, err := openRegular(filepath.Join(dir, "config.json"))
	if err != nil {
		return false
	}
	defer f.Close()
	if b, err := io.ReadAll(io.LimitReader(f, maxConfig)); err != nil || json.Unmarshal(b, &c) != nil {
		return false
	}
	return slices.Contains([]string{"qwen3_5", "qwen3_5_text", "clef"}, c.Type) || c.Text.Type == "qwen3_5_text"
}

// openRegular opens a file and nothing else: opening a pipe would wait for its other end.
func openRegular(name string) (*os.File, error) {
	if st, err := os.Stat(name); err != nil || !st.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is not a file", name))
	}
	return os.Open(name)
}

// clefGGUF looks for the architecture near the start of a GGUF file.
func clefGGUF(name string) bool {
	f, err := openRegular(name)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, 4096)
	n, _ := io.ReadFull(f, b)
	head := string(b[:n])
	return strings.HasPrefix(head, "GGUF") && (strings.Contains(head, "clef") || strings.Contains(head, "qwen35"))
}

// look opens the model in dir and says what it found. Weights are mapped and not read.
func look(dir string) Item {
	i := Item{Name: filepath.Base(dir), Dir: dir, DiskBytes: diskBytes(dir)}
	f, err := models.Open(dir)
	if err != nil {
		i.State, i.Missing, i.Problem = judge(err)
		return i
	}
	defer f.Close()
	if f.Card.Name != "" {
		i.Name = f.Card.Name
	}
	i.Layout, i.Vision, i.DiskBytes = f.Layout, f.Vision(), f.DiskBytes
	i.perToken, i.Positions = operations(f.Config), f.Config.Positions
	i.WeightBytes, i.Need = weightBytes(dir), workingSet(f.Config, f.Head.Width)
	return i
}

func judge(err error) (State, int64, error) {
	e, ok := errors.AsType[*models.Error](err)
	if !ok {
		return Broken, 0, err
	}
	switch e.Kind {
	case models.Incomplete:
		return Incomplete, e.Bytes, err
	case models.NoHead:
		return NoHead, 0, err
	case models.Unsupported, models.NotFound:
		return Unsupported, 0, err
	default:
		return Broken, 0, err
	}
}

// diskBytes adds up the files of dir, following the cache's links.
func diskBytes(dir string) (n int64) {
	names, _ := os.ReadDir(dir)
	for _, e := range names {
		if st, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && st.Mode().IsRegular() {
			n += st.Size()
		}
	}
	return n
}

func readRefs(dir string) map[string][]string {
	refs := map[string][]string{}
	filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(p, ".new") { // what a crash left is none
			return nil
		}
		if b, err := os.ReadFile(p); err == nil && len(b) < 128 {
			name, _ := filepath.Rel(dir, p)
			refs[strings.TrimSpace(string(b))] = append(refs[strings.TrimSpace(string(b))], filepath.ToSlash(name))
		}
		return nil
	})
	return refs
}
