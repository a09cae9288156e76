package main

import (
	"context"

	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/keyio"
)

// keys opens inputs. read, if not nil, is called with the number of bytes read so far.
func (a *app) keys(f inputFlags, paths []string, read func(bytes int64)) (*keyio.Input, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	if err := a.stdinFree(paths); err != nil {
		return nil, err
	}
	o.Stdin, o.Progress = a.stdin, read
	return keyio.Open(paths, o)
}

// follow opens inputs and shows the progress of the pass over them, unless what is empty. The caller ends the progress.
func (a *app) follow(in inputFlags, paths []string, what string) (*keyio.Input, *cli.Progress, error) {
	p := cli.NewProgress()
	input, err := a.keys(in, paths, p.Read.Store)
	if err != nil {
		return nil, nil, err
	}
	a.show(p, what, input.Size())
	return input, p, nil
}

// pass reads all keys once. work gets batches in several goroutines, emit then gets them in input order in one; emit
// may be nil.
func (a *app) pass(
	ctx context.Context, in inputFlags, paths []string, what string, work, emit func(*keyio.Batch) error,
) error {
	input, p, err := a.follow(in, paths, what)
	if err != nil {
		return err
	}
	defer p.End()
	return process(ctx, input, p, work, emit)
}

// process is a pass over opened inputs, with its progress.
func process(ctx context.Context, input *keyio.Input, p *cli.Progress, work, emit func(*keyio.Batch) error) error {
	return input.Process(ctx, 0, func(_ int, b *keyio.Batch) error {
		n := len(b.Keys)
		if err := work(b); err != nil {
			return err
		}
		p.Keys.Add(int64(n))
		return nil
	}, emit)
}

// print writes the output of a batch immediately: the sender of the keys may wait for the answer to a key.
func (a *app) print(b *keyio.Batch) error {
	if len(b.Out) == 0 {
		return nil
	}
	_, err := a.stdout.Write(b.Out)
	return err
}

// answering returns the text of the progress bar of commands that print keys, or "" for no bar if the output is a
// terminal, where the keys themselves show the progress.
func (a *app) answering(what string) string {
	if cli.IsTerminal(a.stdout) {
		return ""
	}
	return what
}
