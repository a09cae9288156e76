package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/bloomery/bloomery/filter"
)

// progress is a bar on stderr while a pass runs: share of the input, keys per second, time left. It shows nothing if
// stderr is not a terminal, with --quiet, and in the first half second.
type progress struct {
	read  atomic.Int64 // bytes taken in
	keys  atomic.Int64
	rate  atomic.Uint64 // the bits of the false-positive rate so far, 0 if there is none
	start time.Time     // of the work that the bar shows; this pass may have begun later
	stop  chan struct{}
	done  chan struct{}
}

// progressAll is the size of work that reports its progress as a share.
const progressAll = 1 << 20

func newProgress() *progress {
	return &progress{start: time.Now(), stop: make(chan struct{}), done: make(chan struct{})}
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	if c, ok := w.(*checked); ok {
		w = c.Writer
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// show draws the progress until it ends. The size is unknown if it is not positive.
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

// later shows progress that the work reports itself, starting with the first report. what returns the text of the bar.
type later struct {
	*progress
	a    *app
	what func() string
	once sync.Once
}

func (a *app) later(what func() string) *later {
	return &later{progress: newProgress(), a: a, what: what}
}

// report is a Config.Progress.
func (l *later) report(now filter.Progress) {
	l.once.Do(func() { l.a.show(l.progress, l.what(), progressAll) })
	l.read.Store(int64(now.Done * progressAll))
	l.rate.Store(math.Float64bits(now.Rate))
}

// end removes the bar, if there is one.
func (l *later) end() {
	l.once.Do(func() { close(l.done) })
	l.progress.end()
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

// end removes the bar.
func (p *progress) end() {
	close(p.stop)
	<-p.done
}

// share returns a function that takes the share done of a part of the work, in [0, 1]. The part is the range from
// before to before+size of the whole.
func (p *progress) share(before, size int64) func(done float64) {
	p.read.Store(before)
	return func(done float64) { p.read.Store(before + int64(done*float64(size))) }
}
