package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"clefbar/engine"
	"clefbar/models"
	"clefbar/models/hub"
	"clefbar/models/shelf"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

func newModelsGet(c *common) *cobra.Command {
	var verify bool
	cmd := &cobra.Command{
		Use:   "get REPO[@REV]",
		Short: "Download a model into the Hugging Face cache",
		Long: "Get fetches what a model needs, checks every hash as it arrives and goes on where an earlier attempt stopped.\n" +
			"Interrupt it to pause. With --verify, files that are there already are read and, if damaged, fetched again.",
		Example: "  clefbar models get mlx-community/clef-flash-4bit",
		Args:    exactly(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.getModel(cmd.Context(), args[0], verify) },
	}
	cmd.Flags().BoolVar(&verify, "verify", false, "also check the files that are there already")
	return cmd
}

func (c *common) getModel(ctx context.Context, what string, verify bool) error {
	id, revision, _ := strings.Cut(what, "@")
	if k, ok := shelf.InCatalog(id); ok {
		id = k.Repo // as the Hub spells it
	}
	client, cache := hubClient(), modelCache()
	repo, err := client.Lookup(ctx, id, revision)
	if err != nil {
		return fetchError(ctx, id, err)
	}
	_, total, _ := cache.Wants(repo)
	c.progress("%s at %s, %s", repo.ID, repo.Commit, size(total))
	if verify {
		if err := c.dropDamaged(ctx, cache, repo, total); err != nil {
			return fetchError(ctx, id, err)
		}
	}
	dir, err := client.Fetch(ctx, cache, repo, c.fetchProgress())
	if err != nil {
		return fetchError(ctx, id, err)
	}
	if c.json {
		err = printJSON(map[string]string{"repo": repo.ID, "commit": repo.Commit, "path": dir})
	} else {
		_, err = fmt.Fprintln(&stdout, dir)
	}
	if err != nil {
		return err
	}
	f, err := models.Open(dir)
	if err != nil {
		return modelError(id, err) // all of it has arrived, and it cannot be used
	}
	return f.Close()
}

// dropDamaged deletes the files that are complete and not what the Hub announced.
func (c *common) dropDamaged(ctx context.Context, cache hub.Cache, repo *hub.Repo, total int64) error {
	tell := c.percent("checking")
	bad, err := cache.DropDamaged(ctx, repo, func(read int64) { tell(read, total) })
	tell(total, total)
	if err != nil {
		return err
	}
	for _, f := range bad {
		c.progress("clefbar: %s is damaged and will be fetched again", f.Path)
	}
	return nil
}

func fetchError(ctx context.Context, id string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("get %s: %w", id, context.Canceled)
	}
	if errors.Is(err, hub.ErrName) {
		return usage("%v", err)
	}
	return fmt.Errorf("get %s: %w", id, err)
}

// fetchProgress returns a reporter that draws one line on a terminal, and now and
// then writes one elsewhere.
func (c *common) fetchProgress() func(hub.Progress) {
	if c.quiet {
		return nil
	}
	live := isatty.IsTerminal(os.Stderr.Fd())
	tenth := int64(-1)
	return func(p hub.Progress) {
		if p.Total <= 0 {
			return
		}
		line := fmt.Sprintf("%3d %%  %s of %s", 100*p.Done/p.Total, size(p.Done), size(p.Total))
		if p.Rate > 0 && p.Done < p.Total {
			line += fmt.Sprintf("  %s/s  %s left", size(int64(p.Rate)), p.Left().Round(1e9))
		}
		switch now := 10 * p.Done / p.Total; {
		case live && p.Done >= p.Total:
			fmt.Fprintf(os.Stderr, "\r\x1b[K%s\n", line)
		case live:
			fmt.Fprintf(os.Stderr, "\r\x1b[K%s", line)
		case now > tenth:
			tenth = now
			fmt.Fprintln(os.Stderr, line)
		}
	}
}

func newModelsRemove(c *common) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:     "rm NAME",
		Short:   "Remove a downloaded model; files that other revisions share stay",
		Example: "  clefbar models rm clef-flash-4bit",
		Args:    exactly(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.removeModel(cmd.Context(), args[0], yes) },
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (c *common) removeModel(ctx context.Context, name string, yes bool) error {
	l, err := c.library()
	if err != nil {
		return err
	}
	var found *shelf.Item
	for _, e := range l.list(ctx) {
		if e.item != nil && (strings.EqualFold(e.info.Name, name) || strings.EqualFold(e.item.Repo, name) || e.item.Dir == name) {
			if found != nil {
				return usage("%s has several revisions; name one as clefbar models lists it", name)
			}
			found = e.item
		}
	}
	switch {
	case found == nil:
		return &engine.Error{Reason: engine.NoModel, Message: "there is no downloaded model " + name}
	case found.Repo == "":
		return usage("%s is in a folder of yours, %s: remove it there", name, found.Dir)
	case !yes && !confirm(fmt.Sprintf("Remove %s at %s (%s)?", found.Repo, found.Commit, size(found.DiskBytes))):
		return errors.New("nothing was removed; add --yes to remove without a question")
	}
	cache := modelCache()
	freed := found.DiskBytes
	if found.Commit == "" {
		err = cache.RemoveParts(found.Repo)
	} else {
		freed, err = cache.Remove(found.Repo, found.Commit)
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", found.Repo, err)
	}
	if c.json {
		return printJSON(map[string]any{"repo": found.Repo, "commit": found.Commit, "freed_bytes": freed})
	}
	fmt.Fprintf(&stdout, "removed %s at %s, %s freed\n", found.Repo, found.Commit, size(freed))
	return nil
}

// confirm asks on a terminal. Elsewhere the answer is no.
func confirm(question string) bool {
	if !isatty.IsTerminal(os.Stdin.Fd()) {
		return false
	}
	fmt.Fprintf(os.Stderr, "%s [y/N] ", question)
	var answer string
	_, _ = fmt.Fscanln(os.Stdin, &answer) // an empty line means no
	return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes")
}
