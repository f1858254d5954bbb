package shelf

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"clefbar/models"
	"clefbar/models/hub"
)

// Found is a repository of the Hub that looks like Clef from the names of its files.
type Found struct {
	hub.Listed
	Problem error // why it cannot be used as it is; nil when it has all that a model needs
}

// Search lists an owner's repositories that hold Clef's decision head, usable ones first. word, which may be "", has to be in
// their names. looked is how many were looked at, more whether there are others.
func Search(ctx context.Context, c *hub.Client, owner, word string) (found []Found, looked int, more bool, err error) {
	list, more, err := c.Search(ctx, owner, word)
	if err != nil {
		return nil, 0, false, err
	}
	for _, l := range list {
		if shaped, problem := Shaped(l.Files); shaped {
			found = append(found, Found{l, problem})
		}
	}
	slices.SortStableFunc(found, func(a, b Found) int {
		switch {
		case (a.Problem == nil) == (b.Problem == nil):
			return strings.Compare(strings.ToLower(a.ID), strings.ToLower(b.ID))
		case a.Problem == nil:
			return -1
		}
		return 1
	})
	return found, len(list), more, nil
}

// Shaped tells from the names of a repository's files whether it may hold Clef, and what is missing or cannot be read.
// A backbone without the head is none: nothing tells it from other chat models.
func Shaped(files []string) (shaped bool, problem error) {
	has := func(name string) bool { return slices.Contains(files, name) }
	if !has("joint_head.safetensors") && !has("joint_head_config.json") {
		return false, nil
	}
	var missing []string
	for _, name := range []string{"config.json", "joint_head.safetensors", "joint_head_config.json", "tokenizer.json"} {
		if !has(name) {
			missing = append(missing, name)
		}
	}
	weights := func(pattern string) bool {
		return slices.ContainsFunc(files, func(f string) bool { ok, _ := path.Match(pattern, f); return ok })
	}
	switch {
	case !weights("model*.safetensors") && weights("*.gguf"):
		return true, errors.New("only GGUF files: Clefbar reads safetensors")
	case !weights("model*.safetensors"):
		return true, errors.New("only the head: no weights of the backbone")
	case missing != nil:
		return true, fmt.Errorf("without %s", strings.Join(missing, ", "))
	}
	return true, nil
}

// Describe asks the Hub what a repository holds and reads its two configuration files: what there is to know before
// its weights are fetched. A model that cannot be run is an error.
func Describe(ctx context.Context, c *hub.Client, id string) (Known, error) {
	repo, err := c.Lookup(ctx, id, "")
	if err != nil {
		return Known{}, err
	}
	var names []string
	for _, f := range repo.Files {
		names = append(names, f.Path)
	}
	if shaped, problem := Shaped(names); !shaped || problem != nil {
		if !shaped {
			problem = errors.New("it has no decision head of Clef")
		}
		return Known{}, fmt.Errorf("%s cannot be used: %w", id, problem)
	}
	config, err := c.Read(ctx, repo, "config.json")
	if err != nil {
		return Known{}, err
	}
	head, err := c.Read(ctx, repo, "joint_head_config.json")
	if err != nil {
		return Known{}, err
	}
	a, err := models.Announce(config, head)
	if err != nil {
		return Known{}, fmt.Errorf("%s cannot be used: %w", id, err)
	}
	return announced(repo, a), nil
}

// announced reckons what a model needs from what it announces.
func announced(repo *hub.Repo, a *models.Announced) Known {
	k := Known{
		Repo: repo.ID, Name: repo.ID[strings.IndexByte(repo.ID, '/')+1:], Layout: a.Layout, Computed: true,
		Need: workingSet(a.Config, a.Head.Width), PerToken: operations(a.Config),
	}
	for _, f := range repo.Files {
		if hub.Wanted(f) {
			k.Bytes += f.Size
		}
		if f.Path == "joint_head.safetensors" {
			k.WeightBytes += f.Size
		}
	}
	k.WeightBytes += int64(float64(textWeights(a.Config)) * a.Bits / 8)
	switch a.Layout {
	case "bf16":
		k.Note = noteFull
	case "8-bit":
		k.Note = note8
	case "4-bit":
		k.Note = note4
	default:
		k.Note = noteOther
	}
	return k
}
