package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// progress is a line on the terminal about work of a known number of bytes, from two seconds after its begin on.
type progress struct {
	done atomic.Int64
	stop func()
}

func (p *progress) set(bytes int64) {
	for { // calls may come in any order
		if was := p.done.Load(); was >= bytes || p.done.CompareAndSwap(was, bytes) {
			return
		}
	}
}

func (p *progress) end() { p.stop() }

func (a *app) progress(what string, all int64) *progress {
	p := &progress{stop: func() {}}
	f, ok := a.stderr.(*os.File)
	if !ok || a.quiet {
		return p
	}
	if st, err := f.Stat(); err != nil || st.Mode()&os.ModeCharDevice == 0 {
		return p
	}
	begin, stop := time.Now(), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		shown := false
		defer func() {
			if shown {
				fmt.Fprint(f, "\r\033[K")
			}
		}()
		for {
			select {
			case <-stop:
				return
			case <-time.After(500 * time.Millisecond):
			}
			spent, n := time.Since(begin), p.done.Load()
			if spent < 2*time.Second || n == 0 {
				continue
			}
			shown = true
			left := time.Duration(float64(spent) / float64(n) * float64(all-n)).Round(time.Second)
			fmt.Fprintf(f, "\r\033[K%s: %.1f%%, %.1f MB/s, %v left", what, 100*float64(n)/float64(all),
				float64(n)/1e6/spent.Seconds(), left)
		}
	})
	p.stop = sync.OnceFunc(func() { close(stop); wg.Wait() })
	return p
}
