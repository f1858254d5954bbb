// Package hub fetches model folders through the Hugging Face Hub's HTTP interface into
// the cache layout that its own tools use (blobs, snapshots, refs, locks), so that a model
// fetched here is seen by them and the other way round.
//
// A fetch survives everything: blocks that arrived are written down in a journal beside
// the unfinished file, so that after a kill only what was in flight is asked for again.
// A file gets its final name only when its hash is the one that the Hub announced.
package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"time"
)

// DefaultEndpoint is the public Hub. HF_ENDPOINT overrides it.
const DefaultEndpoint = "https://huggingface.co"

const (
	maxListing = 8 << 20 // bytes of a repository listing
	maxFiles   = 4096    // files of a repository
)

// Client talks to a Hub. The zero value is not usable; see New. It is safe for concurrent use.
type Client struct {
	Endpoint string // without a trailing slash
	Token    string // "" for none; sent to Endpoint's host only
	Offline  bool   // refuse every request
	HTTP     *http.Client
	Workers  int // parallel ranges of one file

	firstPause time.Duration // before the first retry; doubles
	stall      time.Duration // a connection that brings nothing for so long is cut
	spare      int64         // bytes that are left free on the disk
}

// New returns a client that follows the usual variables: HF_ENDPOINT, HF_TOKEN, HF_TOKEN_PATH,
// HF_HOME, HF_HUB_OFFLINE and the proxy ones.
func New() *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = 30 * time.Second
	transport.DisableCompression = true
	transport.ReadBufferSize = 256 << 10
	endpoint := strings.TrimRight(os.Getenv("HF_ENDPOINT"), "/")
	if endpoint == "" {
		endpoint = DefaultEndpoint
	}
	return &Client{
		Endpoint: endpoint, Token: token(), Offline: Offline(),
		HTTP:    &http.Client{Transport: transport, CheckRedirect: redirect},
		Workers: 4, firstPause: time.Second, stall: 30 * time.Second, spare: keepFree,
	}
}

// redirect refuses endless chains and a step from https down to http. The token stays with the host that it is for: the
// standard client would take it along to subdomains, where the Hub's storage is.
func redirect(r *http.Request, via []*http.Request) error {
	if r.URL.Host != via[0].URL.Host {
		r.Header.Del("Authorization")
	}
	if len(via) >= 6 {
		return errors.New("the server redirects without end")
	}
	if via[0].URL.Scheme == "https" && r.URL.Scheme != "https" {
		return fmt.Errorf("the server redirects to an unencrypted address on %s", r.URL.Host)
	}
	return nil
}

// Offline tells whether the person wants no network (HF_HUB_OFFLINE).
func Offline() bool { return truthy(os.Getenv("HF_HUB_OFFLINE")) }

func truthy(s string) bool {
	switch strings.ToLower(s) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// Repo is one revision of a repository.
type Repo struct {
	ID       string // "owner/name"
	Revision string // as asked for: a branch, a tag or a commit
	Commit   string // 40 hex digits
	Gated    bool
	Files    []File
}

// File is one file of a repository. Hash is the name of its blob: the SHA-256 of a large file (LFS true), or the
// SHA-1 that git gives a small one.
type File struct {
	Path string
	Size int64
	Hash string
	LFS  bool
}

// Bytes returns the size of all files together.
func (r *Repo) Bytes() (n int64) {
	for _, f := range r.Files {
		n += f.Size
	}
	return n
}

var (
	repoID = regexp.MustCompile(`^[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}$`)
	hex40  = regexp.MustCompile(`^[0-9a-f]{40}$`)
	hex64  = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// ErrName is wrapped by the errors for what is no name of a repository, an owner or a revision.
var ErrName = errors.New("not a name on the Hub")

// Lookup asks for the files of id at revision ("" means main). Names, sizes and hashes come from a
// stranger and are checked: nothing outside the repository's own folder can be named.
func (c *Client) Lookup(ctx context.Context, id, revision string) (*Repo, error) {
	if !repoID.MatchString(id) {
		return nil, fmt.Errorf("%w: %.100q is no repository: write owner/name", ErrName, id)
	}
	if revision == "" {
		revision = "main"
	}
	body, err := c.listing(ctx, id, revision)
	if err != nil {
		return nil, err
	}
	var raw struct {
		SHA      string `json:"sha"`
		Gated    any    `json:"gated"`
		Siblings []struct {
			Name string `json:"rfilename"`
			Size int64  `json:"size"`
			Blob string `json:"blobId"`
			LFS  *struct {
				SHA256 string `json:"sha256"`
				Size   int64  `json:"size"`
			} `json:"lfs"`
		} `json:"siblings"`
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		return nil, fmt.Errorf("the listing of %s is not readable: %s", id, unreadable(body, err))
	}
	if !hex40.MatchString(raw.SHA) {
		return nil, fmt.Errorf("the listing of %s names no commit", id)
	}
	if len(raw.Siblings) > maxFiles {
		return nil, fmt.Errorf("%s has %d files, more than %d", id, len(raw.Siblings), maxFiles)
	}
	repo := &Repo{ID: id, Revision: revision, Commit: raw.SHA, Gated: raw.Gated != nil && raw.Gated != false}
	for _, s := range raw.Siblings {
		f := File{Path: s.Name, Size: s.Size, Hash: s.Blob}
		if s.LFS != nil {
			f.LFS, f.Size, f.Hash = true, s.LFS.Size, s.LFS.SHA256
		}
		if err := f.check(); err != nil {
			return nil, fmt.Errorf("the listing of %s: %w", id, err)
		}
		repo.Files = append(repo.Files, f)
	}
	return repo, nil
}

func (f File) check() error {
	switch clean := path.Clean(f.Path); {
	case f.Path == "" || clean != f.Path || path.IsAbs(f.Path) || strings.HasPrefix(f.Path, "..") || strings.ContainsAny(f.Path, "\\:\x00"):
		return fmt.Errorf("file name %q is not allowed", f.Path)
	case f.Size < 0 || f.Size > 1<<42:
		return fmt.Errorf("%s: size %d is not possible", f.Path, f.Size)
	case f.LFS && !hex64.MatchString(f.Hash) || !f.LFS && !hex40.MatchString(f.Hash):
		return fmt.Errorf("%s: hash %q is not readable", f.Path, f.Hash)
	}
	return nil
}

func (c *Client) listing(ctx context.Context, id, revision string) ([]byte, error) {
	at := fmt.Sprintf("%s/api/models/%s/revision/%s?blobs=true", c.Endpoint, id, url.PathEscape(revision))
	body, _, err := c.small(ctx, at, id, maxListing)
	return body, err
}

// get sends one request with the token and, when bytes is not "", a Range header.
func (c *Client) get(ctx context.Context, at, bytes string) (*http.Response, error) {
	if c.Offline {
		return nil, final{errors.New("offline mode is on (in the settings, or by HF_HUB_OFFLINE): nothing is fetched")}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, final{err}
	}
	req.Header.Set("User-Agent", "clefbar")
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	if bytes != "" {
		req.Header.Set("Range", bytes)
	}
	return c.HTTP.Do(req)
}

// fileURL is where the bytes of f are; a commit instead of a branch keeps a fetch on one revision.
func (c *Client) fileURL(r *Repo, f File) string {
	parts := strings.Split(f.Path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return fmt.Sprintf("%s/%s/resolve/%s/%s", c.Endpoint, r.ID, r.Commit, strings.Join(parts, "/"))
}
