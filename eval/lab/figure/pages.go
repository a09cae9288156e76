package figure

import (
	"bytes"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"
)

// page has the templates: layout.html what all pages share, index.html the overview, document.html the page of a
// document, and table.html its tables.
//
//go:embed page
var page embed.FS

// pageTemplates escape all texts of results.
var pageTemplates = template.Must(template.New("report").Funcs(template.FuncMap{
	"rounded": rounded, "published": Row.published, "interval": Row.interval, "verdict": Row.verdict,
	"counted": counted, "duration": duration, "image": image, "darkImage": darkImage, "spread": spread, "noted": noted,
	"style": style,
	"utc":   func(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") },
	"iso":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
}).ParseFS(page, "page/*.html"))

// view is what the templates show: a page of a report.
type view struct {
	Report
	Document *Document // nil on the overview
	Previous *Document // nil on the overview and the first document
	Next     *Document
}

// WriteIndex writes the overview, which links to the pages of the documents. All pages must be in one folder, under the
// names index.html and Page.html of each document. None of them needs a script or another file.
func (r Report) WriteIndex(w io.Writer) error { return write(w, "index.html", view{Report: r}) }

// WriteDocument writes the page of document i. If a plot cannot be drawn it returns the error and writes nothing.
//
// Plots are images with data URLs, not inline SVG: so labels cannot become markup, and styles stay apart. Each is there
// twice, for light and for dark pages. The SVG names fonts and does not embed them.
func (r Report) WriteDocument(w io.Writer, i int) error {
	v := view{Report: r, Document: &r.Documents[i]}
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
	url, err := dataURL(p.Draw)
	return template.URL(url), err
}

// darkImage returns the plot for dark pages as a data URL for the attribute srcset.
func darkImage(p Plot) (template.Srcset, error) {
	url, err := dataURL(p.DrawDark)
	return template.Srcset(url), err
}

func dataURL(draw func(w io.Writer, format string) error) (string, error) {
	var svg bytes.Buffer
	if err := draw(&svg, "svg"); err != nil {
		return "", err
	}
	return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg.Bytes()), nil
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
