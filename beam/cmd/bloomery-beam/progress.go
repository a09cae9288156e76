package main

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/bloomery/bloomery/beam/job"
	"github.com/bloomery/bloomery/internal/cli"
)

// bar is the progress line on stderr. It shows nothing if stderr is not a terminal, and with --quiet or --json.
type bar struct {
	a     *app
	pace  pace
	mu    sync.Mutex
	on    bool
	drawn int
}

func (a *app) newBar() *bar {
	return &bar{a: a, on: !a.quiet && !a.json && cli.IsTerminal(a.stderr)}
}

// showProgress draws the line.
func (b *bar) showProgress(p job.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.on {
		return
	}
	line := b.pace.progressLine(p, time.Now())
	fmt.Fprintf(b.a.stderr, "\r%s%*s", line, max(0, b.drawn-len(line)), "")
	b.drawn = len(line)
}

// clearLine removes the line until the next show.
func (b *bar) clearLine() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.drawn > 0 {
		fmt.Fprintf(b.a.stderr, "\r%*s\r", b.drawn, "")
	}
	b.drawn = 0
}

// endLine removes the line, for good.
func (b *bar) endLine() {
	b.clearLine()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.on = false
}

// pace knows since when a part of the job makes progress. What a former start of the job has finished, and the time
// until the first worker runs, do not count.
type pace struct {
	part   string
	first  int       // done at the begin of the part
	start  time.Time // of the part
	moving time.Time // the last moment at which nothing more was done
}

// progressLine returns the text of the line, such as "hashing: 12 of 48 ranges, 5.2M keys, 9s left".
func (c *pace) progressLine(p job.Progress, now time.Time) string {
	part, what, done, all := "hashing", "ranges", p.RangesDone, p.Ranges
	switch {
	case p.Ranges == 0:
		return "planning"
	case p.RangesDone < p.Ranges:
	case p.ShardsDone < p.Shards:
		part, what, done, all = "building", "shards", p.ShardsDone, p.Shards
	default:
		return fmt.Sprintf("finishing: %d shards", p.Shards)
	}
	if part != c.part {
		*c = pace{part, done, now, now}
	}
	if done <= c.first {
		c.moving = now
		return fmt.Sprintf("%s: %d of %d %s, %s, %.0fs so far", part, done, all, what, keysText(p.Keys),
			now.Sub(c.start).Seconds())
	}
	return fmt.Sprintf("%s: %d of %d %s, %s, %s left", part, done, all, what, keysText(p.Keys),
		timeLeft(done-c.first, all-c.first, now.Sub(c.moving)))
}

func keysText(n int64) string {
	if n < 1e6 {
		return fmt.Sprintf("%d keys", n)
	}
	return fmt.Sprintf("%.1fM keys", float64(n)/1e6)
}

// timeLeft returns the time that is left for a part of the job, if it goes on at its pace.
func timeLeft(done, all int, since time.Duration) string {
	seconds := since.Seconds() * float64(all-done) / float64(done)
	if seconds < 100 {
		return fmt.Sprintf("%.0fs", math.Ceil(seconds))
	}
	return fmt.Sprintf("%.0fm", math.Ceil(seconds/60))
}
