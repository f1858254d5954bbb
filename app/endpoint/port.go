package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// program is our name in /health and in the Server header.
const program = "clefbar"

// Holder says who has a port that we want.
type Holder uint8

// The holders.
const (
	Other   Holder = iota // another program
	OurCopy               // a Clefbar that answers
	HungOne               // a Clefbar that does not answer
)

// PortError says why an address cannot be bound, in words for a person.
type PortError struct {
	Addr    string
	Holder  Holder
	Program string // name of the program, where the system tells
	PID     int    // 0 where the system does not tell
	Err     error
}

func (e *PortError) Error() string {
	switch e.Holder {
	case OurCopy:
		return fmt.Sprintf("Clefbar is already serving on %s%s: use it, or stop it first", e.Addr, e.process())
	case HungOne:
		return fmt.Sprintf("an old copy of Clefbar%s holds %s and does not answer: end that process, then try again", e.process(), e.Addr)
	}
	name := "another program"
	if e.Program != "" {
		name = e.Program
	}
	return fmt.Sprintf("%s%s is using %s: stop it, or choose another port", name, e.process(), e.Addr)
}

// Unwrap returns the error of the system.
func (e *PortError) Unwrap() error { return e.Err }

func (e *PortError) process() string {
	if e.PID == 0 {
		return ""
	}
	return fmt.Sprintf(" (process %d)", e.PID)
}

// patience is how long a copy of ours has to answer before it counts as hung. Its
// health page never waits for a model.
const patience = 2 * time.Second

// portTrouble finds out who holds addr. Errors of another kind pass through.
func portTrouble(addr string, err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("listen on %s: %w", addr, err)
	}
	e := &PortError{Addr: addr, Err: err}
	e.Program, e.PID = holder(addr)
	answered, ours := askHolder(addr)
	switch {
	case ours:
		e.Holder = OurCopy
	case !answered && isOurs(e.Program):
		e.Holder = HungOne
	}
	return e
}

// askHolder asks whoever listens on addr for its health page.
func askHolder(addr string) (answered, ours bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/health", nil)
	if err != nil {
		return false, false
	}
	client := &http.Client{
		Transport:     &http.Transport{Proxy: nil, DisableKeepAlives: true, DialContext: (&net.Dialer{}).DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return false, false
	}
	defer resp.Body.Close()
	return true, strings.HasPrefix(resp.Header.Get("Server"), program+"/")
}

// isOurs reports whether a process has the name of this program, however it was installed.
func isOurs(name string) bool {
	if name == "" {
		return false
	}
	if strings.HasPrefix(strings.ToLower(name), program) {
		return true
	}
	self, err := os.Executable()
	return err == nil && filepath.Base(self) == name
}
