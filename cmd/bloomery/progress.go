package main

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows a bar on stderr while a pass runs: share of the input, keys a second, time left. It shows nothing if
// stderr is no terminal, with --quiet, or within the first half second.
type progress struct {
	read atomic.Int64 // bytes taken in
	keys atomic.Int64
	stop chan struct{}
	done chan struct{}
}

// startProgress follows a pass over size bytes, or of unknown size if that is not positive.
func (a *app) startProgress(what string, size int64) *progress {
	p := &progress{stop: make(chan struct{}), done: make(chan struct{})}
	f, ok := a.stderr.(*os.File)
	if a.quiet || !ok || !term.IsTerminal(int(f.Fd())) {
		close(p.done)
		return p
	}
	if size <= 0 {
		size = -1
	}
	go func() {
		defer close(p.done)
		p.draw(f, what, size)
	}()
	return p
}

func (p *progress) draw(f *os.File, what string, size int64) {
	start := time.Now()
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
		if time.Since(start) < 500*time.Millisecond {
			continue
		}
		if bar == nil {
			bar = progressbar.NewOptions64(size, progressbar.OptionSetWriter(f), progressbar.OptionShowBytes(true),
				progressbar.OptionSetWidth(24), progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish())
		}
		rate := float64(p.keys.Load()) / time.Since(start).Seconds()
		bar.Describe(fmt.Sprintf("%s %s keys/s", what, short(rate)))
		_ = bar.Set64(p.read.Load())
	}
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
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
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
