package endpoint

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// keyCheck compares bearer keys in constant time and slows down guessing: after ten
// wrong keys in a row from one address, that address waits one second, and twice as
// long after each further one, up to a minute.
type keyCheck struct {
	digest [sha256.Size]byte
	off    bool
	now    func() time.Time

	mu    sync.Mutex
	wrong map[string]*guesses
}

type guesses struct {
	count int
	until time.Time // no key is looked at before
	last  time.Time
}

const (
	freeGuesses  = 10
	longestBlock = time.Minute
	mostGuessers = 1024 // addresses remembered
)

func newKeyCheck(key string) *keyCheck {
	return &keyCheck{digest: sha256.Sum256([]byte(key)), off: key == "", now: time.Now, wrong: map[string]*guesses{}}
}

// check returns a refusal unless the request carries the key. Without a key every
// Authorization header is welcome: the official clients always send one.
func (k *keyCheck) check(r *http.Request) error {
	if k.off {
		return nil
	}
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		from = r.RemoteAddr
	}
	if wait := k.blocked(from); wait > 0 {
		return &refusal{
			status: http.StatusTooManyRequests, kind: "rate_limited", after: wait,
			message: fmt.Sprintf("Too many wrong keys; try again in %d s", int(wait.Seconds()+0.999)),
		}
	}
	header := r.Header.Get("Authorization")
	if header == "" {
		return unauthorized("The API key is missing; send Authorization: Bearer <key>")
	}
	scheme, key, _ := strings.Cut(header, " ")
	digest := sha256.Sum256([]byte(strings.TrimSpace(key)))
	if subtle.ConstantTimeCompare(digest[:], k.digest[:]) == 1 && strings.EqualFold(scheme, "Bearer") {
		k.right(from)
		return nil
	}
	k.guessed(from)
	return unauthorized("The API key is not right")
}

func unauthorized(message string) *refusal {
	return &refusal{
		status: http.StatusUnauthorized, kind: "authentication_error", message: message,
		header: http.Header{"Www-Authenticate": {"Bearer"}},
	}
}

func (k *keyCheck) blocked(from string) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if g := k.wrong[from]; g != nil {
		return g.until.Sub(k.now())
	}
	return 0
}

func (k *keyCheck) right(from string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.wrong, from)
}

func (k *keyCheck) guessed(from string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	g := k.wrong[from]
	if g == nil {
		k.forgetLocked()
		g = &guesses{}
		k.wrong[from] = g
	}
	g.count++
	g.last = k.now()
	if over := g.count - freeGuesses; over >= 0 {
		g.until = g.last.Add(min(time.Second<<min(over, 6), longestBlock))
	}
}

// forgetLocked makes room for another address by dropping the one that was quiet longest.
func (k *keyCheck) forgetLocked() {
	if len(k.wrong) < mostGuessers {
		return
	}
	var oldest string
	for from, g := range k.wrong {
		if oldest == "" || g.last.Before(k.wrong[oldest].last) {
			oldest = from
		}
	}
	delete(k.wrong, oldest)
}
