package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress prints the current job and an estimate of the remaining time. On a terminal it overwrites one line,
// elsewhere it prints a line every 30 seconds.
type progress struct {
	w        io.Writer
	terminal bool
	title    string
	jobs     map[string]*job
	now      *job // the current one; nil before the first
	start    time.Time
	shown    time.Time
}

// job will run left more times. Each run takes about the time each.
type job struct {
	each time.Duration
	left int
}

func newProgress(w io.Writer, title string) *progress {
	p := &progress{w: w, title: title, jobs: map[string]*job{}, shown: time.Now()}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// plan announces a job.
func (p *progress) plan(name, kind string, each time.Duration, times int) {
	p.jobs[name+" "+kind] = &job{each, times}
}

// job returns a job, which need not have been announced.
func (p *progress) job(name, kind string) *job {
	if j := p.jobs[name+" "+kind]; j != nil {
		return j
	}
	return new(job)
}

// skip removes one repetition of the job.
func (j *job) skip() { j.left = max(0, j.left-1) }

// begin starts a repetition of a job, and end ends it. The time of a repetition is the estimate for the next ones.
func (p *progress) begin(name, kind, what string) {
	p.now, p.start = p.job(name, kind), time.Now()
	p.say(what + ": " + name)
}

func (p *progress) end() {
	p.now.each = time.Since(p.start)
	p.now.skip()
}

// say prints a line, unless the last one is more recent than 200 ms on a terminal, or 30 s elsewhere.
func (p *progress) say(what string) {
	every := 200 * time.Millisecond
	if !p.terminal {
		every = 30 * time.Second
	}
	if time.Since(p.shown) < every {
		return
	}
	p.shown = time.Now()

	text := fmt.Sprintf("%s keys, %s", p.title, what)
	if p.now != nil {
		text += fmt.Sprintf(", about %v left", p.left().Round(time.Second))
	}
	if p.terminal {
		fmt.Fprintf(p.w, "\r\033[K%.100s", text)
	} else {
		fmt.Fprintln(p.w, text)
	}
}

// left returns the estimated time of the remaining jobs.
func (p *progress) left() (sum time.Duration) {
	for _, j := range p.jobs {
		sum += j.each * time.Duration(j.left)
	}
	return sum
}

// done clears the line on a terminal.
func (p *progress) done() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\033[K")
	}
}
