package main

import (
	"context"
	"io"

	"github.com/bloomery/bloomery/internal/cli"
)

// system is another system.
type system struct {
	name  string // for --system
	about string // what is fetched, and what it needs
	alone bool   // whether it needs no tool
	// run tries the system. The error is a lackError if the machine lacks something.
	run func(*trial) error
}

// lackError says what the machine lacks to run a system.
type lackError string

func (e lackError) Error() string { return string(e) }

// trial is the trial of one system. It is for one goroutine.
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
	p := cli.NewProgress()
	p.Show(t.notes, t.result.System, all)
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
