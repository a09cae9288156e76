package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

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

// isTerminal reports whether an input or output is a terminal.
func isTerminal(file any) bool {
	if c, ok := file.(*checked); ok {
		file = c.Writer
	}
	f, ok := file.(*os.File)
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

// report is a Config.Progress. The clock starts with the first report: the time before, in which keys were read, says
// nothing about the time left.
func (l *later) report(now filter.Progress) {
	l.once.Do(func() {
		l.start = time.Now()
		l.a.show(l.progress, l.what(), progressAll)
	})
	l.read.Store(int64(now.Done * progressAll))
	l.rate.Store(math.Float64bits(now.Rate))
}

// end removes the bar, if there is one.
func (l *later) end() {
	l.once.Do(func() { close(l.done) })
	l.progress.end()
}

// draw draws the progress five times a second on one line, which it clears at the end. It adapts to the width of the
// terminal, also when that changes.
func (p *progress) draw(w io.Writer, what string, size int64) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	drawn := 0
	for {
		select {
		case <-p.stop:
			if drawn > 0 {
				fmt.Fprintf(w, "\r%*s\r", drawn, "")
			}
			return
		case <-tick.C:
		}
		since := time.Since(p.start)
		if since < 500*time.Millisecond {
			continue
		}
		columns := columnsOf(w)
		line := p.line(what, size, since, columns)
		n := utf8.RuneCountInString(line)
		fmt.Fprintf(w, "\r%s%*s", line, max(0, min(drawn, columns-1)-n), "")
		drawn = n
	}
}

// columnsOf returns the width of a terminal, 80 if it is unknown.
func columnsOf(w io.Writer) int {
	if c, ok := w.(*checked); ok {
		w = c.Writer
	}
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 80
}

// The cells of the bar: at most and at least.
const mostCells, fewestCells = 24, 6

// line returns the text of the progress, such as "building  45% ██████░░░░░░ 12s left, 7.18M keys/s". It is shorter
// than the number of columns: what does not fit is left out, the false-positive rate first, then the bar, the keys per
// second and the time left.
func (p *progress) line(what string, size int64, since time.Duration, columns int) string {
	room := columns - 1 // some terminals go on to the next line in the last column
	name := []rune(what)
	head := string(name[:min(len(name), max(0, room-5))])
	read := p.read.Load()
	if size > 0 {
		head += fmt.Sprintf(" %3d%%", min(100, 100*max(read, 0)/size))
	}
	var tail []string
	length := utf8.RuneCountInString(head)
	add := func(text string) {
		if text != "" && length+2+len(text) <= room {
			tail = append(tail, text)
			length += 2 + len(text)
		}
	}
	add(timeLeft(size, read, since))
	if keys := p.keys.Load(); keys > 0 {
		add(short(float64(keys)/since.Seconds()) + " keys/s")
	}
	if rate := math.Float64frombits(p.rate.Load()); rate > 0 && room-length-16 > fewestCells {
		add(fmt.Sprintf("rate %.3g", rate))
	}
	if cells := min(mostCells, room-length-1); size > 0 && cells >= fewestCells {
		full := int(int64(cells) * min(read, size) / size)
		head += " " + strings.Repeat("█", full) + strings.Repeat("░", cells-full)
	}
	if len(tail) == 0 {
		return head
	}
	return head + " " + strings.Join(tail, ", ")
}

// timeLeft returns the time that is left if the rest goes on at the pace so far, or "" if that is unknown.
func timeLeft(size, read int64, since time.Duration) string {
	if size <= 0 || read <= 0 {
		return ""
	}
	left := since.Seconds() * float64(max(size-read, 0)) / float64(read)
	switch {
	case left < 100:
		return fmt.Sprintf("%.0fs left", math.Ceil(left))
	case left < 100*60:
		return fmt.Sprintf("%.0fm left", math.Ceil(left/60))
	case left < 1000*3600:
		return fmt.Sprintf("%.0fh left", math.Ceil(left/3600))
	}
	return ""
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
