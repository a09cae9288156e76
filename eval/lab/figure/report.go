package figure

import (
	"slices"
	"strings"
	"time"
)

// Report is a run of several experiments, finished or not, that is shown as an overview and a page per document.
type Report struct {
	Started   time.Time
	Version   string // version of this program
	Machine   string // processor, cores, system and version of Go
	Quick     bool   // whether the experiments run in their quick form
	Trials    int    // trials of each experiment; 0 for its own default
	Seed      uint64
	Documents []Document // documents in the order in which they are shown
}

// Document is the source of the claims that experiments test: a paper, or several documents of one kind. A report has a
// page for each Document.
type Document struct {
	Page    string // name of the file of the page, without its extension
	Title   string
	About   string   // authors, and where it was published
	Cited   string   // how sources begin that name a place in it, before ", "; pages leave it out. May be empty
	Entries []*Entry // entries in the order in which they are shown
}

// Entry is one experiment of a report.
type Entry struct {
	Name   string // name of the experiment
	Source string
	Varies string
	Result *Result // nil until the experiment is done
	Err    error   // why the experiment failed; nil if it did not
	Took   time.Duration
}

// Count is a number of rows, and the numbers of rows that agree and that disagree with a published value.
type Count struct{ Rows, Agree, Disagree int }

// Compared returns the number of rows with a published value.
func (c Count) Compared() int { return c.Agree + c.Disagree }

// Count counts the rows of the result. A nil result has none.
func (r *Result) Count() (c Count) {
	if r == nil {
		return c
	}
	c.Rows = len(r.Rows)
	for _, row := range r.Rows {
		switch row.verdict() {
		case "yes":
			c.Agree++
		case "NO":
			c.Disagree++
		}
	}
	return c
}

// Count counts the rows of the result of the experiment.
func (e *Entry) Count() Count { return e.Result.Count() }

// Entries returns the experiments of all documents.
func (r Report) Entries() (all []*Entry) {
	for _, d := range r.Documents {
		all = append(all, d.Entries...)
	}
	return all
}

// Count counts the rows of all results of the report.
func (r Report) Count() Count { return Document{Entries: r.Entries()}.Count() }

// Count counts the rows of all results of the document.
func (d Document) Count() (all Count) {
	for _, e := range d.Entries {
		c := e.Result.Count()
		all = Count{all.Rows + c.Rows, all.Agree + c.Agree, all.Disagree + c.Disagree}
	}
	return all
}

// Difference is a row that disagrees with its published value.
type Difference struct {
	Row
	Page string // page of the document
	Name string // name of the experiment
}

// Misprints returns the rows that disagree because the published value is a misprint.
func (r Report) Misprints() []Difference { return r.differences(true) }

// Differences returns the rows that disagree and are not misprints: computed rows first, then rows with a statistical
// error, which is larger in a quick run.
func (r Report) Differences() []Difference {
	found := r.differences(false)
	slices.SortStableFunc(found, func(a, b Difference) int {
		switch {
		case a.noisy() == b.noisy():
			return 0
		case b.noisy():
			return -1
		}
		return 1
	})
	return found
}

func (r Report) differences(misprints bool) (found []Difference) {
	for _, d := range r.Documents {
		for _, e := range d.Entries {
			if e.Result == nil {
				continue
			}
			for _, row := range e.Result.Rows {
				if row.verdict() == "NO" && row.Misprint == misprints {
					found = append(found, Difference{row, d.Page, e.Name})
				}
			}
		}
	}
	return found
}

// Done returns the number of experiments of the report that have a result.
func (r Report) Done() int { return Document{Entries: r.Entries()}.Done() }

// Done returns the number of experiments of the document that have a result.
func (d Document) Done() (n int) {
	for _, e := range d.Entries {
		if e.Result != nil {
			n++
		}
	}
	return n
}

// Took returns the time that the experiments of the document took.
func (d Document) Took() (sum time.Duration) {
	for _, e := range d.Entries {
		sum += e.Took
	}
	return sum
}

// Place returns the place in the document that contains the claims of the experiment, or the whole source if the claims
// are from another document.
func (d Document) Place(e *Entry) string {
	if place, ok := strings.CutPrefix(e.Source, d.Cited+", "); ok && d.Cited != "" {
		return place
	}
	return e.Source
}

// Part is a table of the page: a result with some of its rows.
type Part struct {
	Result
	Folded bool // shown when the reader opens it
	Rest   bool // an earlier part contains the other rows
}

// mostShown is the largest number of rows of a result that are shown without folding.
const mostShown = 24

// Parts divides the rows into tables. In a result of more than mostShown rows, rows without a published value are
// folded.
func (r Result) Parts() []Part {
	if len(r.Rows) <= mostShown {
		return []Part{{Result: r}}
	}
	shown, folded := Part{Result: r}, Part{Result: r, Folded: true}
	shown.Rows, folded.Rows = nil, nil
	for _, row := range r.Rows {
		if row.Published != nil {
			shown.Rows = append(shown.Rows, row)
		} else {
			folded.Rows = append(folded.Rows, row)
		}
	}
	folded.Rest = len(shown.Rows) > 0
	switch {
	case !folded.Rest:
		return []Part{folded}
	case len(folded.Rows) == 0:
		return []Part{shown}
	}
	return []Part{shown, folded}
}
