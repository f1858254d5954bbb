package shelf

import (
	"fmt"
	"path/filepath"
	"strings"

	"clefbar/models"
	"clefbar/models/hub"
)

// begun describes a revision that was begun to be fetched: by what was announced, not by what its files look like so far.
func begun(cache hub.Cache, r *hub.Repo) Item {
	files, total, arrived := cache.Wants(r)
	var missing []string
	for _, f := range files {
		if !cache.Has(r, f) {
			missing = append(missing, f.Path)
		}
	}
	i := Item{
		Name: r.ID[strings.IndexByte(r.ID, '/')+1:], Repo: r.ID, Commit: r.Commit, Dir: cache.Snapshot(r), State: Incomplete,
		DiskBytes: arrived, Missing: total - arrived,
	}
	i.Problem = &models.Error{
		Kind: models.Incomplete, Missing: missing, Bytes: i.Missing,
		Message: fmt.Sprintf("%d of %d files are missing or incomplete", len(missing), len(files)),
	}
	i.know()
	return i
}

// know fills in what the catalogue knows about a model whose files do not say it yet.
func (i *Item) know() {
	k, ok := InCatalog(i.Repo)
	if !ok || i.State == Ready {
		return
	}
	if i.Layout == "" {
		i.Layout = k.Layout
	}
	if i.Missing == 0 && i.State == Incomplete {
		i.Missing = max(0, k.Bytes-i.DiskBytes)
	}
	i.WeightBytes, i.Need, i.perToken = k.WeightBytes, k.Need, k.PerToken
}

// waiting turns what a model lacks into an unfinished download when another tool is, or was, fetching it: the head may
// still be to come.
func (i *Item) waiting(cache hub.Cache) {
	if i.State != NoHead && i.State != Incomplete && i.State != Unsupported {
		return
	}
	part := cache.Partial(i.Repo)
	if part == 0 {
		return
	}
	i.State = Incomplete
	i.DiskBytes += part
	i.Problem = &models.Error{Kind: models.Incomplete, Err: i.Problem, Message: "a download by another tool has not finished: let it end, or get the rest here"}
}

// partialOnly lists a known repository of which another tool has brought nothing but a part of its first files.
func partialOnly(cache hub.Cache, repo string) []Item {
	if _, ok := InCatalog(repo); !ok || cache.Partial(repo) == 0 {
		return nil
	}
	i := Item{
		Name: repo[strings.IndexByte(repo, '/')+1:], Repo: repo, State: NoHead,
		Dir: filepath.Join(cache.Dir, "models--"+strings.ReplaceAll(repo, "/", "--")),
	}
	i.waiting(cache)
	i.know()
	return []Item{i}
}
