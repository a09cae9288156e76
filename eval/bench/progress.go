package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress prints the current job and an estimate of the remaining time: on a terminal in one line that is overwritten,
// else a line every 30 seconds. A nil progress prints nothing.
type progress struct {
	w        io.Writer
	terminal bool
	title    string
	plans    map[string]job
	now      string // the current job; empty before the first
	start    time.Time
	shown    time.Time
}

// job is done left more times and takes about each.
type job struct {
	each time.Duration
	left int
}

func newProgress(w io.Writer, title string) *progress {
	p := &progress{w: w, title: title, plans: map[string]job{}, shown: time.Now()}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// plan announces a job.
func (p *progress) plan(name, kind string, each time.Duration, times int) {
	if p != nil {
		p.plans[name+" "+kind] = job{each, times}
	}
}

// skip removes one repetition of a job.
func (p *progress) skip(name, kind string) {
	if p != nil {
		p.drop(name + " " + kind)
	}
}

func (p *progress) drop(key string) {
	j := p.plans[key]
	j.left = max(0, j.left-1)
	p.plans[key] = j
}

// begin starts a repetition of a job, and end ends it. The next repetitions are expected to take as long.
func (p *progress) begin(name, kind, what string) {
	if p == nil {
		return
	}
	p.now, p.start = name+" "+kind, time.Now()
	p.say(what + ": " + name)
}

func (p *progress) end() {
	if p == nil {
		return
	}
	took := time.Since(p.start)
	j := p.plans[p.now]
	j.each = took
	p.plans[p.now] = j
	p.drop(p.now)
}

// say prints a line, unless the last one is more recent than 200 ms on a terminal, or 30 s elsewhere.
func (p *progress) say(what string) {
	every := 200 * time.Millisecond
	if p != nil && !p.terminal {
		every = 30 * time.Second
	}
	if p == nil || time.Since(p.shown) < every {
		return
	}
	p.shown = time.Now()
	text := fmt.Sprintf("%s keys, %s", p.title, what)
	if left := p.left(); p.now != "" {
		text += fmt.Sprintf(", about %v left", left.Round(time.Second))
	}
	if p.terminal {
		fmt.Fprintf(p.w, "\r\033[K%.100s", text)
	} else {
		fmt.Fprintln(p.w, text)
	}
}

// left returns the estimated time of the remaining jobs.
func (p *progress) left() (sum time.Duration) {
	for _, j := range p.plans {
		sum += j.each * time.Duration(j.left)
	}
	return sum
}

// done clears the line on a terminal.
func (p *progress) done() {
	if p != nil && p.terminal {
		fmt.Fprint(p.w, "\r\033[K")
	}
}
