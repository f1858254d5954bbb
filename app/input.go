package main

import (
	"context"
	"errors"
	"io"
	"os"
)

// errOverLong means that an input has more bytes than are read of it.
var errOverLong = errors.New("the input is too long")

// readInput reads a file, or stdin for "-". It reads no more than it is allowed to, since a device or a pipe may
// never end, and returns errOverLong then. It returns as soon as ctx is done, even from a terminal that says nothing.
func readInput(ctx context.Context, name string, most int) ([]byte, error) {
	type outcome struct {
		data []byte
		err  error
	}
	done := make(chan outcome, 1)
	go func() { // outlives an interrupt only until the process ends
		data, err := readUpTo(name, most)
		done <- outcome{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case o := <-done:
		return o.data, o.err
	}
}

func readUpTo(name string, most int) ([]byte, error) {
	in := os.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, int64(most)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > most {
		return nil, errOverLong
	}
	return data, nil
}
