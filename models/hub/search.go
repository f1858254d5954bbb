package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// Listed is a repository as a search lists it. Names come from a stranger; Files is not complete enough to fetch from.
type Listed struct {
	ID      string // "owner/name"
	Commit  string // of its main branch, "" when the Hub does not tell
	Changed string // day, YYYY-MM-DD
	Gated   bool
	Files   []string // paths
}

const (
	searchPage  = 100 // repositories asked for at once
	searchPages = 10  // and how often
)

var ownerName = regexp.MustCompile(`^[A-Za-z0-9][\w.-]{0,95}$`)

// Search lists an owner's repositories with their file names, those changed last first; word, which may be "", has to be in
// their names. more is true when there are further ones than the first thousand.
func (c *Client) Search(ctx context.Context, owner, word string) (list []Listed, more bool, err error) {
	if !ownerName.MatchString(owner) {
		return nil, false, fmt.Errorf("%w: %.100q is no owner: write the part before the slash", ErrName, owner)
	}
	ask := url.Values{"author": {owner}, "full": {"true"}, "sort": {"lastModified"}, "direction": {"-1"}, "limit": {fmt.Sprint(searchPage)}}
	if word != "" {
		ask.Set("search", word)
	}
	at := c.Endpoint + "/api/models?" + ask.Encode()
	for range searchPages {
		page, next, err := c.searchPage(ctx, owner, at)
		if err != nil {
			return nil, false, err
		}
		list = append(list, page...)
		if next == "" {
			return list, false, nil
		}
		at = next
	}
	return list, true, nil
}

// searchPage asks for one page of a search and finds out where the next one is.
func (c *Client) searchPage(ctx context.Context, owner, at string) (list []Listed, next string, err error) {
	body, head, err := c.small(ctx, at, owner, maxListing)
	if err != nil {
		return nil, "", err
	}
	var raw []struct {
		ID       string `json:"id"`
		ModelID  string `json:"modelId"`
		SHA      string `json:"sha"`
		Changed  string `json:"lastModified"`
		Gated    any    `json:"gated"`
		Siblings []struct {
			Name string `json:"rfilename"`
		} `json:"siblings"`
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		return nil, "", fmt.Errorf("the list of %s's repositories is not readable: %s", owner, unreadable(body, err))
	}
	for _, r := range raw {
		if r.ID == "" {
			r.ID = r.ModelID
		}
		if !repoID.MatchString(r.ID) {
			continue // nothing that could be fetched
		}
		l := Listed{ID: r.ID, Gated: r.Gated != nil && r.Gated != false}
		if hex40.MatchString(r.SHA) {
			l.Commit = r.SHA
		}
		if len(r.Changed) >= 10 {
			l.Changed = r.Changed[:10]
		}
		for _, f := range r.Siblings[:min(len(r.Siblings), maxFiles)] {
			l.Files = append(l.Files, f.Name)
		}
		list = append(list, l)
	}
	return list, c.nextPage(head), nil
}

var nextLink = regexp.MustCompile(`<([^>]*)>\s*;[^,]*\brel="?next"?`)

// nextPage reads the Link header. A page elsewhere than on the endpoint is not followed: the token would go there.
func (c *Client) nextPage(head http.Header) string {
	m := nextLink.FindStringSubmatch(strings.Join(head.Values("Link"), ", "))
	if m == nil {
		return ""
	}
	base, err := url.Parse(c.Endpoint)
	if err != nil {
		return ""
	}
	next, err := base.Parse(m[1])
	if err != nil || next.Scheme != base.Scheme || next.Host != base.Host {
		return ""
	}
	return next.String()
}

// small fetches something short that a person waits for.
func (c *Client) small(ctx context.Context, at, what string, limit int64) (body []byte, head http.Header, err error) {
	err = c.patiently(ctx, listingTries, func() (bool, error) {
		resp, err := c.get(ctx, at, "")
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		if err := refusal(resp, what); err != nil {
			return false, err
		}
		head = resp.Header
		body, err = io.ReadAll(io.LimitReader(resp.Body, limit+1))
		if err == nil && int64(len(body)) > limit {
			return false, final{fmt.Errorf("%s: the answer is longer than %d bytes", what, limit)}
		}
		return false, err
	})
	return body, head, reached(err)
}

// unreadable explains an answer that is not JSON: mostly a page of a proxy or of a sign-in portal.
func unreadable(body []byte, err error) string {
	if start := strings.ToLower(strings.TrimSpace(string(body[:min(len(body), 64)]))); strings.HasPrefix(start, "<") {
		return "a web page came instead (is a proxy or a sign-in page in between?)"
	}
	return err.Error()
}

// maxSmall is the largest file that Read takes.
const maxSmall = 4 << 20

// Read fetches a small file of r into memory and checks its hash.
func (c *Client) Read(ctx context.Context, r *Repo, name string) ([]byte, error) {
	for _, f := range r.Files {
		if f.Path != name {
			continue
		}
		if f.Size > maxSmall {
			return nil, fmt.Errorf("%s of %s has %d bytes, more than %d", name, r.ID, f.Size, maxSmall)
		}
		body, _, err := c.small(ctx, c.fileURL(r, f), r.ID+"/"+name, maxSmall)
		if err != nil {
			return nil, err
		}
		sum := newHash(f)
		sum.Write(body)
		if got := fmt.Sprintf("%x", sum.Sum(nil)); got != f.Hash {
			return nil, fmt.Errorf("%s of %s: %w", name, r.ID, errHash)
		}
		return body, nil
	}
	return nil, fmt.Errorf("%s has no %s", r.ID, name)
}
