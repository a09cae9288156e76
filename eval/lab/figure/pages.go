package figure

import (
	"bytes"
	"embed"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
)

// page contains the templates: layout.html for the common parts, index.html for the overview, document.html for the
// page of a document, and table.html for its tables.
//
//go:embed page
var page embed.FS

// pageTemplates escape all texts of results.
var pageTemplates = template.Must(template.New("report").Funcs(template.FuncMap{
	"rounded": rounded, "published": Row.published, "interval": Row.interval, "verdict": Row.verdict,
	"counted": counted, "duration": duration, "image": image, "spread": spread, "noted": noted,
	"style": style,
	"utc":   func(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") },
	"iso":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
}).ParseFS(page, "page/*.html"))

// view is the data of the templates for a page of a report.
type view struct {
	Report
	Document *Document // nil on the overview
	Alone    Report    // the report of Document alone; empty on the overview
	Previous *Document // nil on the overview and the first document
	Next     *Document
}

// WriteIndex writes the overview, which links to the pages of the documents. All pages must be in one folder. Their
// names are index.html and, for each document, Document.Page with the extension .html. They need no scripts or other
// files.
func (r Report) WriteIndex(w io.Writer) error { return write(w, "index.html", view{Report: r}) }

// WriteDocument writes the page of document i. If a plot cannot be drawn it returns the error and writes nothing.
//
// Plots are images with data URLs, not inline SVG: labels cannot become markup, and styles are separate. Their colors
// follow the light or dark theme of the reader. The SVG names fonts and does not embed them.
func (r Report) WriteDocument(w io.Writer, i int) error {
	v := view{Report: r, Document: &r.Documents[i], Alone: Report{Documents: r.Documents[i : i+1]}}
	if i > 0 {
		v.Previous = &r.Documents[i-1]
	}
	if i+1 < len(r.Documents) {
		v.Next = &r.Documents[i+1]
	}
	return write(w, "document.html", v)
}

func write(w io.Writer, name string, v view) error {
	var b bytes.Buffer
	if err := pageTemplates.ExecuteTemplate(&b, name, v); err != nil {
		return err
	}
	_, err := b.WriteTo(w)
	return err
}

// style returns the style sheet of all pages.
func style() (template.CSS, error) {
	text, err := page.ReadFile("page/style.css")
	return template.CSS(text), err
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

// duration formats a time with a unit that suits its length.
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

// csvHeader lists the names of the columns.
var csvHeader = []string{
	"name", "source", "seed", "trials", "label", "published", "measured", "low", "high", "tolerance", "agrees", "note",
}

// WriteCSV writes a header and one line for each row. The fields published, tolerance and agrees are empty in rows
// without a published value.
func (r Result) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write(csvHeader) // Error below returns the first error of all writes
	for _, row := range r.Rows {
		var published, tolerance, agrees string
		if row.Published != nil {
			published, tolerance = digits(*row.Published), digits(row.Tolerance)
		}
		if row.Agrees != nil {
			agrees = strconv.FormatBool(*row.Agrees)
		}
		_ = c.Write([]string{
			r.Name, r.Source, strconv.FormatUint(r.Seed, 10), strconv.Itoa(r.Trials), row.Label,
			published, digits(row.Measured), digits(row.Low), digits(row.High), tolerance, agrees, row.Note,
		})
	}
	c.Flush()
	return c.Error()
}

// digits formats a value so that parsing gives the same value.
func digits(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// WriteJSON writes the result as one indented JSON value. Values that are not finite are null.
func (r Result) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// MarshalJSON implements json.Marshaler. All fields are present. Values that are not finite are null. In a row without
// a published value, published, tolerance and agrees are null.
func (r Row) MarshalJSON() ([]byte, error) {
	tolerance := &r.Tolerance
	if r.Published == nil {
		tolerance = nil
	}
	return json.Marshal(struct {
		Label     string   `json:"label"`
		Published *float64 `json:"published"`
		Measured  *float64 `json:"measured"`
		Low       *float64 `json:"low"`
		High      *float64 `json:"high"`
		Tolerance *float64 `json:"tolerance"`
		Agrees    *bool    `json:"agrees"`
		Note      string   `json:"note"`
	}{r.Label, finite(r.Published), finite(&r.Measured), finite(&r.Low), finite(&r.High), finite(tolerance), r.Agrees,
		r.Note})
}

// finite returns v, or nil if the value is NaN or infinite.
func finite(v *float64) *float64 {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}
