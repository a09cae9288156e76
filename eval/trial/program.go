package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/bloomery/bloomery/eval/child"
	"github.com/bloomery/bloomery/internal/cli"
)

// part is the place of a filter in a file: its offset and length in bytes, and the number of its keys. The filters of a
// file contain the keys in order. A length of -1 extends to the end, and rows of -1 are all keys.
type part struct {
	offset, length int64
	rows           int
}

// peer is the other system. Its methods are not called concurrently.
type peer interface {
	// version returns the versions of the libraries and of the runtime of the system.
	version() string
	// build makes the filter of a case from a file of keys, and writes it to a file. It returns the places of the
	// filters in the file, in the order of the answers of ask.
	build(c testCase, keys, out string) ([]part, error)
	// ask writes the answers of all filters of a file to a file: one bit per key for each filter, lowest bit of a byte
	// first. The bits of the next filter follow without a gap.
	ask(c testCase, file, keys, answers string) error
	// again reads a file and writes the filter to another one.
	again(c testCase, file, out string) error
	Close() error
}

// program is a peer that is a child process. It reads a line for each call, with tabs between the words:
//
//	hello                                      ok VERSION
//	build KIND FORM N RATE KEYS OUT            ok [OFFSET:LENGTH...]
//	ask KIND FORM FILE KEYS ANSWERS            ok
//	again KIND FORM FILE OUT                   ok
//
// and answers with one line: "ok" and what the call returns, or "error" and a message. It ends at the end of its input.
// FORM is "-" if the format has only one form.
type program struct {
	*child.Process
	is string // version
}

// patience is the longest time that a program may take for one call, patienceEnd the longest time until it ends.
const patience, patienceEnd = 10 * time.Minute, 10 * time.Second

// start starts a program. When ctx ends, the program is killed; on Unix, so are all processes that it started.
func start(ctx context.Context, name string, args []string) (p *program, err error) {
	p = &program{}
	if p.Process, err = child.Start(ctx, name, args...); err != nil {
		return nil, err
	}
	if p.is, err = p.call("hello"); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *program) version() string { return p.is }

func (p *program) build(c testCase, keys, out string) (all []part, err error) {
	reply, err := p.call("build", string(c.kind), formText(c), strconv.Itoa(c.keys), c.rateText(), keys, out)
	if err != nil {
		return nil, err
	}
	for _, word := range strings.Fields(reply) {
		var w part
		if _, err := fmt.Sscanf(word, "%d:%d:%d", &w.offset, &w.length, &w.rows); err != nil {
			return nil, fmt.Errorf("a part %q, want OFFSET:LENGTH:ROWS", word)
		}
		all = append(all, w)
	}
	if len(all) == 0 {
		all = []part{{0, -1, -1}}
	}
	return all, nil
}

func (p *program) ask(c testCase, file, keys, answers string) error {
	_, err := p.call("ask", string(c.kind), formText(c), file, keys, answers)
	return err
}

func (p *program) again(c testCase, file, out string) error {
	_, err := p.call("again", string(c.kind), formText(c), file, out)
	return err
}

func formText(c testCase) string {
	if c.form == "" {
		return "-"
	}
	return c.form
}

// call sends a line and returns the rest of the reply after "ok".
func (p *program) call(words ...string) (string, error) {
	defer time.AfterFunc(patience, p.Kill).Stop()
	return p.Ask(strings.Join(words, "\t"))
}

// slice returns the bytes of a part of a file.
func (w part) slice(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	size := int64(len(b))
	if w.length < 0 {
		w.length = size - w.offset
	}
	if w.offset < 0 || w.length < 0 || w.offset > size || w.length > size-w.offset {
		return nil, fmt.Errorf("a filter at %d of %d bytes in a file of %d", w.offset, w.length, size)
	}
	return b[w.offset:][:w.length], nil
}

// system is another system.
type system struct {
	name  string // name for --system
	about string // what is installed, and what it needs
	alone bool   // whether it needs no tool
	// run tries the system. The error is a child.LackError if the machine lacks something.
	run func(*trial) error
}

// trial is the trial of one system. It is not safe for concurrent use.
type trial struct {
	ctx     context.Context
	dir     string // temporary folder
	seed    uint64
	maxKeys int
	notes   io.Writer // progress and notes
	shop    shop
	result  result
}

// each calls do for all cases, and shows progress. It stops at the first error and when ctx ends.
func (t *trial) each(cases []testCase, do func(testCase) error) error {
	all := int64(0)
	for _, c := range cases {
		all += c.work()
	}
	p := cli.ShowProgress(t.notes, t.result.System, all, time.Now())
	defer p.End()
	for _, c := range cases {
		if t.ctx.Err() != nil {
			return context.Cause(t.ctx)
		}
		if err := do(c); err != nil {
			return err
		}
		t.result.Cases++
		p.Read.Add(c.work())
		p.Keys.Add(int64(c.keys + c.absent()))
	}
	return nil
}
