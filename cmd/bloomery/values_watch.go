package main

import (
	"bytes"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/bloomery/bloomery"
)

// valueWatch notices inputs with values, such as those of the build, in commands that read a line as a key: these lines
// are not found, but their keys are.
type valueWatch struct {
	set         *bloomery.Set
	lines, keys atomic.Uint64 // lines that end in a value; those whose key the set holds
}

// watchValues returns nil unless the set has values and the inputs have no columns.
func watchValues(set *bloomery.Set, in inputFlags) *valueWatch {
	if _, err := set.ValueBits(); err != nil || in.columns() {
		return nil
	}
	return &valueWatch{set: set}
}

// absent tells a line that was not found.
func (w *valueWatch) absent(line []byte) {
	if w == nil {
		return
	}
	at := bytes.LastIndexByte(line, tab[0])
	if at < 0 {
		return
	}
	if _, err := strconv.ParseUint(string(line[at+1:]), 10, 64); err != nil {
		return
	}
	w.lines.Add(1)
	if w.set.Contains(line[:at]) {
		w.keys.Add(1)
	}
}

// warnValues prints a warning if lines of the inputs seem to have values.
func (a *app) warnValues(path string, w *valueWatch) {
	if w == nil || w.lines.Load() == 0 || 2*w.keys.Load() <= w.lines.Load() {
		return
	}
	const text = "bloomery: warning: %d lines were not found, and without the number behind the tab %d are in %s\n" +
		"  Lines are keys here. If these have values, take the keys only: --input-format tsv.\n"
	fmt.Fprintf(a.stderr, text, w.lines.Load(), w.keys.Load(), path)
}
