// Package remote is a decider that asks another server: anything that speaks System
// One over HTTP (endpoint.md), be it another Clefbar, Workers AI, llama.cpp or
// TypeSafe itself. What comes back is checked before it is believed.
package remote

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"clefbar/engine"
)

// Options says which server is asked, and how.
type Options struct {
	// URL is the server's root ("http://host:2533"), its API root (".../v1"), or the
	// whole address of the route (".../v1/systemone", ".../ai/run/@cf/cloudflare/clef").
	URL string
	// Key is sent as a bearer token; "" sends none.
	Key string
	// Model is the name to ask for; "" sends the request's own, or else the name that
	// every server takes for its default.
	Model string
	// Timeout bounds one attempt; 0 means two minutes.
	Timeout time.Duration
	// Client is used instead of a new one; its redirect policy is not: redirects are
	// never followed, as they would send the state and the key elsewhere.
	Client *http.Client
}

// anyModel is the name that servers of the wire take for their default model.
const anyModel = "jev-latest"

// Decider is an engine.Decider that asks a server. It is safe for concurrent use.
type Decider struct {
	opt    Options
	route  *url.URL // the decision route
	models *url.URL // the list of models; nil where there is none
	client *http.Client
}

// New checks the options. It does not connect.
func New(opt Options) (*Decider, error) {
	u, err := url.Parse(strings.TrimSpace(opt.URL))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, &engine.Error{Reason: engine.BadUsage, Message: fmt.Sprintf("%q is not the address of a server; it should look like http://127.0.0.1:2533", opt.URL)}
	}
	if u.User != nil {
		return nil, &engine.Error{Reason: engine.BadUsage, Message: "The address of a server should not hold a name or password; give the key apart"}
	}
	u.RawQuery, u.Fragment = "", ""
	d := &Decider{opt: opt}
	if d.opt.Timeout <= 0 {
		d.opt.Timeout = 2 * time.Minute
	}
	d.route, d.models = routes(u)
	client := http.Client{}
	if opt.Client != nil {
		client = *opt.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	d.client = &client
	return d, nil
}

// routes finds the two routes of a server by its address.
func routes(u *url.URL) (route, models *url.URL) {
	path := strings.TrimRight(u.Path, "/")
	if strings.Contains(path, "/ai/run/") { // Workers AI: one address for one model
		return u, nil
	}
	path = strings.TrimSuffix(path, "/systemone")
	if !strings.HasSuffix(path, "/v1") {
		path += "/v1"
	}
	root := *u
	root.Path, root.RawPath = path, ""
	return root.JoinPath("systemone"), root.JoinPath("models")
}

// Host names the server for people.
func (d *Decider) Host() string { return d.route.Host }

// Info describes the decider as a model. What the server runs is not known before
// it has answered.
func (d *Decider) Info() engine.ModelInfo {
	name := d.opt.Model
	if name == "" {
		name = d.Host()
	}
	return engine.ModelInfo{Name: name, Path: d.opt.URL, Description: "Answered by " + d.Host(), ServerSide: true}
}

// Decide asks the server. It tries three times when the server says that it is busy
// or loading, and waits as long as the server asks it to.
func (d *Decider) Decide(ctx context.Context, r *engine.Request) (*engine.Response, error) {
	start := time.Now()
	asked := *r
	if d.opt.Model != "" {
		asked.Model = d.opt.Model
	} else if asked.Model == "" {
		asked.Model = anyModel
	}
	reply, err := d.ask(ctx, http.MethodPost, d.route, asked.JSON())
	if err != nil {
		return nil, err
	}
	response, err := readResponse(r, reply)
	if err != nil {
		return nil, d.nonsense(err)
	}
	if response.Model == "" {
		response.Model = asked.Model
	}
	response.Timing.Total = time.Since(start)
	return response, nil
}

// Models lists what the server offers. A server without such a list has the one
// model that it was given with.
func (d *Decider) Models(ctx context.Context) ([]engine.ModelInfo, error) {
	if d.models == nil {
		return []engine.ModelInfo{d.Info()}, nil
	}
	reply, err := d.ask(ctx, http.MethodGet, d.models, nil)
	if err != nil {
		return nil, err
	}
	models, err := readModels(reply)
	if err != nil {
		return nil, d.nonsense(err)
	}
	for i := range models {
		models[i].Path, models[i].ServerSide = d.opt.URL, true
	}
	return models, nil
}

// nonsense is the error for an answer that cannot be used.
func (d *Decider) nonsense(err error) error {
	return &engine.Error{
		Reason: engine.Unreachable, Err: err,
		Message: fmt.Sprintf("The server at %s does not answer as System One servers do: %v", d.Host(), err),
	}
}
