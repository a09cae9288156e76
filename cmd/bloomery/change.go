package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/keyio"
)

// taken is a filter file that is held, to be changed. Who took it closes held.
type taken struct {
	path string
	held *os.File
	was  fs.FileInfo
	set  *bloomery.Set
}

// take holds a filter file and reads it.
func (a *app) take(ctx context.Context, path string) (*taken, error) {
	held, was, err := a.hold(ctx, path)
	if err != nil {
		return nil, err
	}
	set, err := a.load(path)
	if err != nil {
		_ = held.Close()
		return nil, err
	}
	return &taken{path, held, was, set}, nil
}

// replace writes the filter over its file, all or nothing.
func (f *taken) replace(ctx context.Context) error {
	return container.ReplaceFile(ctx, f.path, f.set.Filter(), f.set.Hasher(), f.was)
}

// full says what to do if the error is that of a full filter.
func (f *taken) full(err error) error {
	if errors.Is(err, filter.ErrFull) {
		return fullAdd(f.path, filter.SpecOf(f.set.Filter()), err)
	}
	return err
}

// feed has prepare look at batches of keys in several goroutines, and do take them in their order in one: a plain filter has
// one writer.
func (a *app) feed(ctx context.Context, in inputFlags, inputs []string, what string, prepare, do func(*keyio.Batch) error) error {
	input, p, err := a.follow(in, inputs, what)
	if err != nil {
		return err
	}
	defer p.end()
	return input.Process(ctx, 0, func(_ int, b *keyio.Batch) error { return prepare(b) }, func(b *keyio.Batch) error {
		p.keys.Add(int64(len(b.Keys)))
		return do(b)
	})
}

// hashing fills the Hashes of batches.
func hashing(set *bloomery.Set) func(*keyio.Batch) error {
	hasher := set.Hasher()
	return func(b *keyio.Batch) error {
		for _, k := range b.Keys {
			b.Hashes = append(b.Hashes, hasher.Sum(k))
		}
		return nil
	}
}

// load reads a filter file into memory of our own.
func (a *app) load(path string) (*bloomery.Set, error) {
	o, err := a.options()
	if err != nil {
		return nil, err
	}
	s, err := container.ReadFile(path, o)
	if err != nil {
		return nil, err
	}
	return bloomery.NewSet(s.Filter, s.Hasher), nil
}

// hold opens a filter file to change it, and describes it. Where the system has locks, another process that would hold it
// waits until it is closed.
func (a *app) hold(ctx context.Context, path string) (*os.File, fs.FileInfo, error) {
	switch st, err := os.Stat(path); {
	case err != nil:
		return nil, nil, err
	case !st.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%s is not a regular file", path)
	}
	if err := mayCreate(path); err != nil {
		return nil, nil, err
	}
	for waited := false; ; waited = true {
		f, was, err := tryHold(path)
		if f != nil || err != nil {
			return f, was, err
		}
		if !waited && !a.quiet {
			fmt.Fprintf(a.stderr, "bloomery: waiting for another process that changes %s\n", path)
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// tryHold returns no file if another process holds it, or has just replaced it.
func tryHold(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	was, err := f.Stat()
	if err == nil && !locked(f) {
		if now, err := os.Stat(path); err == nil && os.SameFile(was, now) {
			return f, was, nil
		}
	}
	_ = f.Close()
	return nil, nil, err
}
