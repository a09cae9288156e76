package cli

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/bloomery/bloomery/internal/stat"
)

// Progress is a bar on a terminal while a pass runs: share of the input, keys per second, time left. It shows nothing
// in the first half second.
type Progress struct {
	Read  atomic.Int64  // bytes that were read
	Keys  atomic.Int64  // keys that were read
	Rate  atomic.Uint64 // math.Float64bits of the false-positive rate so far, 0 if there is none
	start time.Time     // start of the work that the bar shows
	stop  chan struct{}
	done  chan struct{}
}

// All is the size to use for work that reports its progress as a share.
const All = 1 << 20

// IsTerminal reports whether an input or output is a terminal.
func IsTerminal(file any) bool {
	f := fileOf(file)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// fileOf returns the file behind an input or output, or nil.
func fileOf(file any) *os.File {
	if c, ok := file.(*Checked); ok {
		file = c.Writer
	}
	f, _ := file.(*os.File)
	return f
}

// ShowProgress returns the progress of work that began at start. If w is a terminal and what is not empty, it draws the
// progress on w until the caller calls End. The size is unknown if it is not positive.
func ShowProgress(w io.Writer, what string, size int64, start time.Time) *Progress {
	p := &Progress{start: start, stop: make(chan struct{}), done: make(chan struct{})}
	if what == "" || !IsTerminal(w) {
		close(p.done)
		return p
	}

	go func() {
		defer close(p.done)
		p.drawUntilEnd(w, what, size)
	}()
	return p
}

// drawUntilEnd draws the progress on one line, five times per second, and clears the line at the end. It follows
// changes of the width of the terminal.
func (p *Progress) drawUntilEnd(w io.Writer, what string, size int64) {
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
		columns, _, err := term.GetSize(int(fileOf(w).Fd()))
		if err != nil || columns <= 0 {
			columns = 80
		}
		line := p.lineOf(what, size, since, columns)
		n := utf8.RuneCountInString(line)
		fmt.Fprintf(w, "\r%s%*s", line, max(0, min(drawn, columns-1)-n), "")
		drawn = n
	}
}

// The largest and smallest number of cells of the bar.
const mostCells, fewestCells = 24, 6

// lineOf returns the text of the progress, such as "building  45% ██████░░░░░░ 12s left, 7.18M keys/s". It is shorter
// than the number of columns. If the text does not fit, it leaves out the false-positive rate, then the bar, the keys
// per second and the time left.
func (p *Progress) lineOf(what string, size int64, since time.Duration, columns int) string {
	room := columns - 1 // some terminals wrap the line when its last column is used
	name := []rune(what)
	head := string(name[:min(len(name), max(0, room-5))])
	read := p.Read.Load()
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
	if keys := p.Keys.Load(); keys > 0 {
		add(Short(float64(keys)/since.Seconds()) + " keys/s")
	}
	if rate := math.Float64frombits(p.Rate.Load()); rate > 0 && room-length-16 > fewestCells {
		add("rate " + stat.Percent(rate))
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

// timeLeft returns the remaining time at the pace so far, or "" if it is unknown.
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

// End removes the bar.
func (p *Progress) End() {
	close(p.stop)
	<-p.done
}

// Share returns a function that reports the progress of a part of the work, as a share in [0, 1]. The part is the range
// from before to before+size of the whole.
func (p *Progress) Share(before, size int64) func(done float64) {
	p.Read.Store(before)
	return func(done float64) { p.Read.Store(before + int64(done*float64(size))) }
}
