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
	return unlessDone(ctx, func() ([]byte, error) { return readUpTo(name, most) })
}

// unlessDone returns what read returns, or the error of ctx if that is done first: reading cannot be called off.
func unlessDone[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() { // outlives ctx only until the process ends
		value, err := read()
		done <- outcome{value, err}
	}()
	select {
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	case o := <-done:
		return o.value, o.err
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
