// Package instance keeps one copy of the app a user: the first one holds a lock that the
// system drops when the process ends, however it ends; a second one asks the first
// to come forward.
package instance

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ErrHung is returned when a first copy holds the lock and does not answer.
var ErrHung = errors.New("another copy of Clefbar is running and does not answer: end it and start again")

const patience = 2 * time.Second

// Instance is the first copy's hold on the lock. Close gives it up.
type Instance struct {
	lock     *os.File
	listener net.Listener
	done     sync.WaitGroup
}

// First tries to become the first copy, with its lock and socket in dir (made if missing, for
// this user only). When another copy runs, it is asked to come forward and First returns nil and no
// error, or ErrHung when it does not answer within two seconds. Otherwise onShow is called, on a
// goroutine of the instance, each time another copy asks; onShow must not wait for Close.
func First(dir string, onShow func()) (*Instance, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make %s: %w", dir, err)
	}
	path := filepath.Join(dir, "app.sock")
	lock, err := os.OpenFile(filepath.Join(dir, "app.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the app: %w", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		lock.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, askToShow(path)
		}
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	// The lock is ours, so a socket that is still there belongs to a copy that died.
	os.Remove(path)
	listener, err := net.Listen("unix", path)
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("listen for other copies: %w", err)
	}
	i := &Instance{lock: lock, listener: listener}
	i.done.Go(func() { i.serve(onShow) })
	return i, nil
}

func askToShow(path string) error {
	deadline := time.Now().Add(patience)
	for {
		conn, err := net.DialTimeout("unix", path, patience)
		if err == nil {
			defer conn.Close()
			conn.SetDeadline(deadline)
			if _, err = fmt.Fprintln(conn, "show"); err == nil {
				var line string
				if line, err = bufio.NewReader(conn).ReadString('\n'); err == nil && line == "shown\n" {
					return nil
				}
			}
			return ErrHung
		}
		// The first copy may hold the lock and not listen yet.
		if time.Now().After(deadline) {
			return ErrHung
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (i *Instance) serve(onShow func()) {
	for {
		conn, err := i.listener.Accept()
		if err != nil {
			return
		}
		conn.SetDeadline(time.Now().Add(patience))
		if line, err := bufio.NewReader(conn).ReadString('\n'); err == nil && line == "show\n" {
			onShow()
			fmt.Fprintln(conn, "shown")
		}
		conn.Close()
	}
}

// Close stops listening and gives the lock up.
func (i *Instance) Close() error {
	err := i.listener.Close()
	i.done.Wait()
	return errors.Join(err, i.lock.Close())
}
