package main

import (
	"io"
	"math"
	"sync"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
)

// show draws the progress until it ends, unless with --quiet. The size is unknown if it is not positive.
func (a *app) show(p *cli.Progress, what string, size int64) {
	if a.quiet {
		what = ""
	}
	p.Show(a.stderr, what, size)
}

// later shows progress that the work reports itself, starting with the first report. what returns the text of the bar.
type later struct {
	*cli.Progress
	a    *app
	what func() string
	once sync.Once
}

func (a *app) later(what func() string) *later {
	return &later{Progress: cli.NewProgress(), a: a, what: what}
}

// report is a Config.Progress. The clock starts with the first report: the time before, in which keys were read, says
// nothing about the time left.
func (l *later) report(now filter.Progress) {
	l.once.Do(func() {
		l.Start = time.Now()
		l.a.show(l.Progress, l.what(), cli.All)
	})
	l.Read.Store(int64(now.Done * cli.All))
	l.Rate.Store(math.Float64bits(now.Rate))
}

// End removes the bar, if there is one.
func (l *later) End() {
	l.once.Do(func() { l.Show(io.Discard, "", 0) })
	l.Progress.End()
}
