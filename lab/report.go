package lab

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"
)

// Report is a run of several experiments, as one page shows it: those that are done, and those that are missing.
type Report struct {
	Started time.Time
	Version string // of this program
	Machine string // processor, cores, system and Go, as far as known
	Config  Config
	Entries []Entry // in the order in which they run
}

// Entry is one experiment of a report.
type Entry struct {
	Experiment Experiment
	Result     *Result // nil until it is done
	Err        error   // why there is no result; nil while there may be one
	Took       time.Duration
}

// Count is how many rows there are, and how many of them were compared with a published value, by what came out.
type Count struct{ Rows, Agree, Disagree int }

// Compared returns the number of rows that have a published value.
func (c Count) Compared() int { return c.Agree + c.Disagree }

// Count counts the rows of the result.
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

// Count counts the rows of all results.
func (r Report) Count() (all Count) {
	for _, e := range r.Entries {
		c := e.Result.Count()
		all = Count{all.Rows + c.Rows, all.Agree + c.Agree, all.Disagree + c.Disagree}
	}
	return all
}

// Part is a table of the page: some rows of a result.
type Part struct {
	Result
	Folded bool // the page shows it when a reader asks for it
	Rest   bool // other rows stand in a part before
}

// mostShown is the number of rows from which on those without a published value are folded.
const mostShown = 24

// Parts divides the rows into tables. What is compared with a published value is always shown.
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

// Done returns the number of experiments that have a result.
func (r Report) Done() (n int) {
	for _, e := range r.Entries {
		if e.Result != nil {
			n++
		}
	}
	return n
}

//go:embed report.html
var page string

// pageTemplate escapes whatever experiments and papers say.
var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"rounded": rounded, "published": Row.published, "interval": Row.interval, "verdict": Row.verdict,
	"counted": counted, "duration": duration, "image": image, "spread": spread, "noted": noted,
	"utc": func(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") },
	"iso": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
}).Parse(page))

// WriteHTML writes the report as one page that needs nothing else: no script, no other file. It writes nothing if a plot
// cannot be drawn.
func (r Report) WriteHTML(w io.Writer) error {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, r); err != nil {
		return err
	}
	_, err := b.WriteTo(w)
	return err
}

// spread reports whether any row has an interval.
func spread(r Part) bool {
	return slices.ContainsFunc(r.Rows, func(row Row) bool { return row.interval() != "" })
}

// noted reports whether any row has a note.
func noted(r Part) bool {
	return slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Note != "" })
}

// image returns the plot as the address of a picture that stands in the address itself.
func image(p Plot) (template.URL, error) {
	var svg bytes.Buffer
	if err := p.Draw(&svg, "svg"); err != nil {
		return "", err
	}
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg.Bytes())), nil
}

// duration writes a time with the units that matter.
func duration(d time.Duration) string {
	switch {
	case d < 50*time.Millisecond:
		return "under 0.1 s"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
