package main

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/bloomery/bloomery/eval/lab"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/internal/cli"
)

// pages are the pages of a report in a folder.
type pages struct {
	report  figure.Report
	entries map[string]*figure.Entry // entries by the name of the experiment
	out     string
}

// newPages returns the pages of a report of experiments that have not run yet: the overview, and a page for each
// document with an experiment in todo.
func newPages(todo []lab.Experiment, config lab.Config, out string) *pages {
	p := &pages{out: out, entries: map[string]*figure.Entry{}, report: figure.Report{
		Started: time.Now(), Version: cli.Version(), Machine: machine(),
		Quick: config.Quick, Trials: config.Trials, Seed: config.Seed,
	}}
	for _, e := range todo {
		p.entries[e.Name] = &figure.Entry{Name: e.Name, Source: e.Source, Varies: e.Varies}
	}
	for _, document := range lab.Documents() {
		d := document.Document
		for _, e := range document.Experiments {
			if entry := p.entries[e.Name]; entry != nil {
				d.Entries = append(d.Entries, entry)
			}
		}
		if len(d.Entries) > 0 {
			p.report.Documents = append(p.report.Documents, d)
		}
	}
	return p
}

// index returns the path of the overview, and document the path of the page of document i.
func (p *pages) index() string { return filepath.Join(p.out, "index.html") }

func (p *pages) document(i int) string {
	return filepath.Join(p.out, p.report.Documents[i].Page+".html")
}

// write writes the overview and the page of the document of an experiment. If e is nil, it writes all pages, so that no
// link leads to a page of an earlier report.
func (p *pages) write(e *figure.Entry) error {
	for i, d := range p.report.Documents {
		if e != nil && !slices.Contains(d.Entries, e) {
			continue
		}
		draw := func(w io.Writer) error { return p.report.WriteDocument(w, i) }
		if err := writeResultFile(p.document(i), draw); err != nil {
			return err
		}
	}
	return writeResultFile(p.index(), p.report.WriteIndex)
}

// machine describes this machine.
func machine() string {
	cpu := cpuid.CPU.BrandName
	if cpu == "" {
		cpu = "unknown processor"
	}
	return fmt.Sprintf("%s, %d cores used · %s %s/%s",
		cpu, runtime.GOMAXPROCS(0), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
