package figure

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

// Report is a run of several experiments, finished or not, that is shown as one page.
type Report struct {
	Started time.Time
	Version string // of this program
	Machine string // processor, cores, system and version of Go
	Quick   bool   // whether the experiments run in their quick form
	Trials  int    // of each experiment; 0 for its own default
	Seed    uint64
	Entries []Entry // in the order in which they run
}

// Entry is one experiment of a report.
type Entry struct {
	Name   string // of the experiment
	Source string
	Varies string
	Result *Result // nil until the experiment is done
	Err    error   // why the experiment failed; nil if it did not
	Took   time.Duration
}

// Count is a number of rows, and the numbers of those that agree and disagree with a published value.
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

// Count counts the rows of all results.
func (r Report) Count() (all Count) {
	for _, e := range r.Entries {
		c := e.Result.Count()
		all = Count{all.Rows + c.Rows, all.Agree + c.Agree, all.Disagree + c.Disagree}
	}
	return all
}

// Part is a table of the page: a result with some of its rows.
type Part struct {
	Result
	Folded bool // shown when the reader opens it
	Rest   bool // there is a part before with other rows
}

// mostShown is the largest number of rows of a result that is shown without folding rows.
const mostShown = 24

// Parts divides the rows into tables. In a result of more than mostShown rows, those without a published value are
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

// pageTemplate escapes all texts of results.
var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"rounded": rounded, "published": Row.published, "interval": Row.interval, "verdict": Row.verdict,
	"counted": counted, "duration": duration, "image": image, "spread": spread, "noted": noted,
	"utc": func(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") },
	"iso": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
}).Parse(page))

// WriteHTML writes the report as one page that needs no script and no other file. If a plot cannot be drawn it returns
// the error and writes nothing.
//
// Plots are images with data URLs, not inline SVG: so labels cannot become markup, and styles stay apart. The SVG names
// fonts and does not embed them.
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

// image returns the plot as a data URL.
func image(p Plot) (template.URL, error) {
	var svg bytes.Buffer
	if err := p.Draw(&svg, "svg"); err != nil {
		return "", err
	}
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg.Bytes())), nil
}

// duration formats a time with a unit that suits it.
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
