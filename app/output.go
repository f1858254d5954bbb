package main

import "os"

// results writes to standard output and remembers the first failure, so that a command
// whose answer went nowhere (a full disk, a closed stream) does not end as if it were done.
type results struct{ err error }

// stdout is where commands write what they were asked for. Progress goes to stderr.
var stdout results

func (r *results) Write(p []byte) (int, error) {
	n, err := os.Stdout.Write(p)
	if err != nil && r.err == nil {
		r.err = err
	}
	return n, err
}
