package main

import (
	"fmt"
	"math"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/bloomery/bloomery/beam/job"
)

// bar is the progress line on stderr. It shows nothing if stderr is not a terminal, and with --quiet.
type bar struct {
	a     *app
	start time.Time // of the part of the job that runs
	part  int
	mu    sync.Mutex
	on    bool
	drawn int
}

func (a *app) newBar() *bar {
	f, ok := a.stderr.(*os.File)
	return &bar{a: a, on: ok && !a.quiet && term.IsTerminal(int(f.Fd())), start: time.Now()}
}

// show draws the line.
func (b *bar) show(p job.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.on {
		return
	}
	if part := b.partOf(p); part != b.part {
		b.part, b.start = part, time.Now()
	}
	line := lineOf(p, time.Since(b.start))
	fmt.Fprintf(b.a.stderr, "\r%s%*s", line, max(0, b.drawn-len(line)), "")
	b.drawn = len(line)
}

// partOf returns 1 while ranges are hashed, and 2 while shards are built.
func (b *bar) partOf(p job.Progress) int {
	if p.RangesDone < p.Ranges {
		return 1
	}
	return 2
}

// lineOf returns the text of the line, such as "hashing: 12 of 48 ranges, 5.2M keys, 9s left".
func lineOf(p job.Progress, since time.Duration) string {
	if p.RangesDone < p.Ranges {
		return fmt.Sprintf("hashing: %d of %d ranges, %s%s", p.RangesDone, p.Ranges, keysText(p.Keys),
			left(p.RangesDone, p.Ranges, since))
	}
	return fmt.Sprintf("building: %d of %d shards, %s%s", p.ShardsDone, p.Shards, keysText(p.Keys),
		left(p.ShardsDone, p.Shards, since))
}

func keysText(n int64) string {
	if n < 1e6 {
		return fmt.Sprintf("%d keys", n)
	}
	return fmt.Sprintf("%.1fM keys", float64(n)/1e6)
}

// left returns the time that is left for a part of the job, if it goes on at its pace.
func left(done, all int, since time.Duration) string {
	if done == 0 || done > all {
		return ""
	}
	seconds := since.Seconds() * float64(all-done) / float64(done)
	if seconds < 100 {
		return fmt.Sprintf(", %.0fs left", math.Ceil(seconds))
	}
	return fmt.Sprintf(", %.0fm left", math.Ceil(seconds/60))
}

// end removes the line, for good.
func (b *bar) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.drawn > 0 {
		fmt.Fprintf(b.a.stderr, "\r%*s\r", b.drawn, "")
	}
	b.on, b.drawn = false, 0
}
