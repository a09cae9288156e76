package main

import (
	"cmp"
	"context"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/keyio"
)

// source is a list of inputs with keys.
type source struct {
	*keyio.Input
	a *app
	p *cli.Progress // of the pass that is running
}

// source opens inputs.
func (a *app) source(f inputFlags, paths []string) (*source, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	if err := a.stdinFree(paths); err != nil {
		return nil, err
	}
	s := &source{a: a}
	o.Stdin, o.Progress = a.stdin, func(bytes int64) { s.p.Read.Store(bytes) }
	s.Input, err = keyio.Open(paths, o)
	return s, err
}

// pass reads all keys once and shows its progress, unless what is empty. work gets batches in several goroutines, emit
// then gets them in input order in one. Both may be nil.
func (s *source) pass(ctx context.Context, what string, work, emit func(*keyio.Batch) error) error {
	s.p = s.a.bar(what, s.Size())
	defer s.p.End()
	return s.Process(ctx, 0, func(_ int, b *keyio.Batch) (err error) {
		n := len(b.Keys)
		if work != nil {
			err = work(b)
		}
		if err == nil {
			s.p.Keys.Add(int64(n))
		}
		return err
	}, emit)
}

// pass is a pass over inputs that are read once.
func (a *app) pass(
	ctx context.Context, in inputFlags, paths []string, what string, work, emit func(*keyio.Batch) error,
) error {
	s, err := a.source(in, paths)
	if err != nil {
		return err
	}
	return s.pass(ctx, what, work, emit)
}

// feed passes all keys to keys or, where parse finds values, both to withValues. parse may be nil.
func (s *source) feed(ctx context.Context, what string, parse parseValues, keys func([][]byte) error,
	withValues func([][]byte, []uint64) error) error {
	return s.pass(ctx, what, func(b *keyio.Batch) error {
		if parse != nil {
			if err := parse(b); err != nil {
				return err
			}
		}
		if len(b.Values) > 0 {
			return withValues(b.Keys, b.Values)
		}
		return keys(b.Keys)
	}, nil)
}

// count returns the number of keys. parse, if not nil, may drop lines.
func (s *source) count(ctx context.Context, parse parseValues) (uint64, error) {
	s.p = s.a.bar("counting", s.Size())
	defer s.p.End()
	if parse == nil {
		return s.Count(ctx)
	}
	var total atomic.Uint64
	err := s.Process(ctx, 0, func(_ int, b *keyio.Batch) error {
		err := parse(b)
		total.Add(uint64(len(b.Keys)))
		return err
	}, nil)
	return total.Load(), err
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

// bar returns a progress that starts now. The size is unknown if it is not positive. The caller ends it.
func (a *app) bar(what string, size int64) *cli.Progress {
	p := cli.NewProgress()
	a.show(p, what, size)
	return p
}

// show draws the progress until it ends, unless with --quiet.
func (a *app) show(p *cli.Progress, what string, size int64) {
	if a.quiet {
		what = ""
	}
	p.Show(a.stderr, what, size)
}

// later shows progress that the work reports itself. The clock starts with the first report: the time before, in which
// keys were read, says nothing about the time left.
type later struct {
	*cli.Progress
	a    *app
	what func() string // the text of the bar
	once sync.Once
}

func (a *app) later(what func() string) *later {
	return &later{Progress: cli.NewProgress(), a: a, what: what}
}

// share shows the part of the work that is done, in [0, 1].
func (l *later) share(done float64) {
	l.once.Do(func() {
		l.Start = time.Now()
		l.a.show(l.Progress, l.what(), cli.All)
	})
	l.Read.Store(int64(done * cli.All))
}

// report is a Config.Progress.
func (l *later) report(now filter.Progress) {
	l.share(now.Done)
	l.Rate.Store(math.Float64bits(now.Rate))
}

// count shows that done of all parts of the work are done.
func (l *later) count(done, all int) { l.share(float64(done) / float64(cmp.Or(all, 1))) }

// End removes the bar, if there is one.
func (l *later) End() {
	l.once.Do(func() { l.Show(io.Discard, "", 0) })
	l.Progress.End()
}
