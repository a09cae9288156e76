package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/keyio"
)

// progress shows a bar on stderr while a pass runs: share of the input, keys a second, time left. It shows nothing if
// stderr is no terminal, with --quiet, or within the first half second.
type progress struct {
	read  atomic.Int64 // bytes taken in
	keys  atomic.Int64
	rate  atomic.Uint64 // of false positives so far, its bits; 0 if there is none
	start time.Time     // of what the bar shows, which may be before that of this pass
	stop  chan struct{}
	done  chan struct{}
}

// progressAll is the size of work that tells its progress as a share.
const progressAll = 1 << 20

func newProgress() *progress {
	return &progress{start: time.Now(), stop: make(chan struct{}), done: make(chan struct{})}
}

// isTerminal reports whether somebody looks at w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// follow opens inputs and shows how far the pass over them has come, unless what is empty. The caller ends the progress.
func (a *app) follow(in inputFlags, paths []string, what string) (*keyio.Input, *progress, error) {
	p := newProgress()
	input, err := a.keys(in, paths, &p.read)
	if err != nil {
		return nil, nil, err
	}
	a.show(p, what, input.Size())
	return input, p, nil
}

// show draws the progress until it ends. It is of unknown size if size is not positive.
func (a *app) show(p *progress, what string, size int64) {
	if what == "" || a.quiet || !isTerminal(a.stderr) {
		close(p.done)
		return
	}
	if size <= 0 {
		size = -1
	}
	go func() {
		defer close(p.done)
		p.draw(a.stderr, what, size)
	}()
}

// finish builds the filter from all keys that the builder has, with progress if that takes a while.
func (a *app) finish(ctx context.Context, b filter.Builder, what string) (filter.Filter, error) {
	s, ok := b.(filter.Searcher)
	if !ok {
		return b.Build(ctx)
	}
	p := newProgress()
	a.show(p, what, progressAll)
	defer p.end()
	s.OnProgress(func(now filter.Progress) {
		p.read.Store(int64(now.Done * progressAll))
		p.rate.Store(math.Float64bits(now.Rate))
	})
	return b.Build(ctx)
}

func (p *progress) draw(w io.Writer, what string, size int64) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	var bar *progressbar.ProgressBar
	for {
		select {
		case <-p.stop:
			if bar != nil {
				_ = bar.Clear()
			}
			return
		case <-tick.C:
		}
		if time.Since(p.start) < 500*time.Millisecond {
			continue
		}
		if bar == nil {
			bar = progressbar.NewOptions64(size, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(24),
				progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionClearOnFinish())
		}
		bar.Describe(p.state(what, size, time.Since(p.start)))
		_ = bar.Set64(p.read.Load())
	}
}

// state is the text before the bar, such as "building, 7.18M keys/s, 12s left".
func (p *progress) state(what string, size int64, since time.Duration) string {
	text := what
	if keys := p.keys.Load(); keys > 0 {
		text += fmt.Sprintf(", %s keys/s", short(float64(keys)/since.Seconds()))
	}
	if rate := math.Float64frombits(p.rate.Load()); rate > 0 {
		text += fmt.Sprintf(", rate %.3g", rate)
	}
	if read := p.read.Load(); size > 0 && read > 0 {
		left := time.Duration(float64(since) * float64(max(size-read, 0)) / float64(read))
		text += fmt.Sprintf(", %v left", left.Round(time.Second))
	}
	return text
}

// end takes the bar away.
func (p *progress) end() {
	close(p.stop)
	<-p.done
}

// short writes a number with three digits and a unit.
func short(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= u.size {
			return fmt.Sprintf("%.3g%s", v/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g", v)
}

// bytesText writes a number of bytes for people.
func bytesText(n uint64) string {
	if n < 10_000 {
		return fmt.Sprintf("%d B", n)
	}
	return short(float64(n)) + "B"
}
