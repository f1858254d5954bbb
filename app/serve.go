package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"clefbar/app/endpoint"
	"clefbar/app/secret"
	"clefbar/app/worker"
	"clefbar/engine"
	"clefbar/engine/local"

	"github.com/spf13/cobra"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	addr, keyFile  string
	origins, hosts []string
	ids, mode      string
	maxTokens      int
	depth          int
	anyJev, keep   bool
	verbose        bool
}

func newServe(c *common) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer programs over HTTP, without the app",
		Long: "Serve answers POST /v1/systemone and its sisters on this machine. The key is the first line of --key-file,\n" +
			"or CLEFBAR_KEY; without one everybody on this machine is answered. CLEFBAR_ORIGINS adds to --origins.",
		Example: "  clefbar serve --addr 127.0.0.1:2533 --key-file ~/.config/clefbar/key",
		Args:    exactly(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.serve(cmd.Context(), f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.addr, "addr", endpoint.DefaultAddr, "address to listen on; one that others can reach needs a key")
	fl.StringVar(&f.keyFile, "key-file", "", "file whose first line is the bearer key")
	fl.StringSliceVar(&f.origins, "origins", nil, "browser origins to allow beside loopback; * stands for any host or port")
	fl.StringSliceVar(&f.hosts, "hosts", nil, "host names to answer for beside the loopback ones")
	fl.StringVar(&f.ids, "ids", "verbatim", "question ids in the prompt: verbatim, as the reference has them, or neutral")
	fl.IntVar(&f.maxTokens, "max-tokens", 0, "most tokens of a request (default 16384, or what the model takes if that is less)")
	fl.IntVar(&f.depth, "queue", worker.DefaultDepth, "most requests that wait while one runs")
	fl.BoolVar(&f.anyJev, "any-jev", false, "answer for every jev-* model name")
	fl.StringVar(&f.mode, "mode", "joint", "how a request is scored that does not say: joint, as the reference does, or independent, each question alone")
	fl.BoolVar(&f.keep, "keep", false, "keep requests and answers in the history of this machine (see clefbar history)")
	fl.BoolVar(&f.verbose, "verbose", false, "one line on stderr for each request, never its contents")
	return cmd
}

// drainTime is how long waiting requests have after SIGTERM; the running one may
// take longer. A second signal ends the process at once.
const drainTime = 10 * time.Second

func (c *common) serve(ctx context.Context, f serveFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	key, err := f.key()
	if err != nil {
		return err
	}
	l, err := c.library()
	if err != nil {
		return err
	}
	l.how.maxTokens = f.maxTokens
	l.set.Endpoint.AnyJev = l.set.Endpoint.AnyJev || f.anyJev
	chosen := l.chosen()
	if c.model != "" {
		if chosen, err = l.locate(c.model); err != nil {
			return err
		}
	}
	w := worker.New(l, chosen, worker.Options{Depth: f.depth})
	opt := f.options(l, w, key)
	if f.keep {
		store, err := openHistory()
		if err != nil {
			return err
		}
		k := newKeeper(store)
		defer k.Close()
		opt.Observer = keepAll{k}
	}
	server := endpoint.New(w, opt)
	svc, err := endpoint.Start(f.addr, server)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	opened := make(chan error, 1)
	go func() { opened <- w.Choose(ctx, chosen) }()
	err = c.serving(ctx, svc, w, opened)
	end(svc, w)
	return err
}

// options configures the endpoint as the flags and settings say.
func (f serveFlags) options(l *library, w *worker.Worker, key string) endpoint.Options {
	return endpoint.Options{
		Version: thisBuild().Version,
		List:    func() []endpoint.Listing { return l.listings(w) },
		Limits:  engine.Limits{NeutralIDs: f.ids == "neutral" || l.set.Endpoint.Neutral, Independent: f.mode == "independent"},
		Key:     key,
		Origins: slices.Concat(f.allOrigins(), l.set.Endpoint.Origins),
		Hosts:   f.hosts,
		Log:     f.log(),
	}
}

// serving waits for the model, says that all is ready, and then for the end.
func (c *common) serving(ctx context.Context, svc *endpoint.Service, w *worker.Worker, opened <-chan error) error {
	select {
	case err := <-opened:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		return nil
	}
	fmt.Fprintf(&stdout, "clefbar: ready on %s with %s\n", svc.URL(), clean(w.Status().Chosen.Name))
	<-ctx.Done()
	c.progress("clefbar: finishing what runs")
	return nil
}

// end finishes the work that is there, then closes the listener's connections.
func end(svc *endpoint.Service, w *worker.Worker) {
	stopped := make(chan struct{})
	ctx, cancel := context.WithTimeout(context.Background(), worker.DefaultRun)
	defer cancel()
	go func() {
		defer close(stopped)
		svc.Stop(ctx)
	}()
	w.Drain(ctx, drainTime)
	<-stopped
}

func (f serveFlags) check() error {
	switch {
	case f.ids != "verbatim" && f.ids != "neutral":
		return usage("--ids is verbatim or neutral, not %q", f.ids)
	case f.mode != "joint" && f.mode != "independent":
		return usage("--mode is joint or independent, not %q", f.mode)
	case f.maxTokens < 0 || f.maxTokens > local.MaxLimit:
		return usage("--max-tokens is between 1 and %d, not %d", local.MaxLimit, f.maxTokens)
	case f.wrongOrigin() != nil:
		return usage("--origins: %v", f.wrongOrigin())
	case f.depth < 1 || f.depth > 10000:
		return usage("--queue is between 1 and 10000, not %d", f.depth)
	}
	return nil
}

// wrongOrigin returns what is wrong with the first origin that is none. What cannot match would be a page that is
// refused later, for no reason that anybody sees.
func (f serveFlags) wrongOrigin() error {
	for _, o := range f.allOrigins() {
		if err := endpoint.CheckOrigin(o); err != nil {
			return err
		}
	}
	return nil
}

// allOrigins are those of the flag and of CLEFBAR_ORIGINS.
func (f serveFlags) allOrigins() []string {
	return append(slices.Clone(f.origins), strings.Split(os.Getenv("CLEFBAR_ORIGINS"), ",")...)
}

// key returns the bearer key from the file or the environment, "" for none.
func (f serveFlags) key() (string, error) {
	if f.keyFile != "" {
		key, err := secret.ReadFile(f.keyFile)
		if err != nil {
			return "", usage("--key-file: %v", err)
		}
		return key, nil
	}
	key := os.Getenv("CLEFBAR_KEY")
	if key == "" {
		return "", nil
	}
	if err := secret.Check(key); err != nil {
		return "", usage("CLEFBAR_KEY: %v", err)
	}
	return key, nil
}

func (f serveFlags) log() *slog.Logger {
	if !f.verbose {
		return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, nil))
}
