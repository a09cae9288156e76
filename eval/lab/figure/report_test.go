package figure

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// madeUpReport returns a report of three documents with a result of every kind, a failed experiment and a missing one.
func madeUpReport() Report {
	result, nothing := madeUp(), Result{Name: "nothing", Source: "nowhere"}
	return Report{Started: time.Unix(0, 0), Version: hostile, Machine: hostile, Documents: []Document{
		{Page: "first", Title: hostile, About: hostile, Cited: "a paper", Entries: []*Entry{
			{Name: "made-up", Source: "a paper, table 7", Varies: hostile, Result: &result, Took: 90 * time.Minute},
			{Name: "nothing", Source: hostile, Result: &nothing},
		}},
		{Page: "second", Title: "The second", Entries: []*Entry{
			{Name: "broken", Source: "elsewhere", Err: errors.New(hostile)},
		}},
		{Page: "third", Title: "The third", Entries: []*Entry{{Name: "not-yet"}}},
	}}
}

// written returns the overview and the pages of the documents.
func written(t *testing.T, r Report) (index string, documents []string) {
	t.Helper()
	var b strings.Builder
	if err := r.WriteIndex(&b); err != nil {
		t.Fatal(err)
	}
	index = b.String()
	for i := range r.Documents {
		b.Reset()
		if err := r.WriteDocument(&b, i); err != nil {
			t.Fatal(err)
		}
		documents = append(documents, b.String())
	}
	return index, documents
}

// TestReport tests what each page shows, and that results cannot become markup.
func TestReport(t *testing.T) {
	r := madeUpReport()
	if c := r.Count(); c != (Count{Rows: 5, Agree: 1, Disagree: 2}) || c != r.Documents[0].Count() || r.Done() != 2 ||
		r.Documents[1].Done() != 0 || len(r.Entries()) != 4 {
		t.Errorf("%+v, %d done", c, r.Done())
	}
	index, documents := written(t, r)
	for page, wants := range map[*string][]string{
		&index: {
			`<a href="first.html">&lt;script`, `href="third.html">The third`, `href="first.html#made-up"`,
			`<tr id="made-up" class="differs">`,
			`<td class="source">table 7 <span`, `<td class="source">elsewhere</td>`, "1 January 1970, 00:00 UTC", "90 min",
			"Missing: <code>broken</code> (failed: &lt;script&gt;", "<code>not-yet</code>",
			"differs: 0.03 published, 0.02 measured", "Full run", `<dt>of 4 experiments</dt><dd>2</dd>`,
		},
		&documents[0]: {
			`<section id="made-up"`, `<section id="nothing"`, `href="#made-up"`, `src="data:image/svg&#43;xml;base64,`,
			`alt="&lt;script`, "gave no rows",
			`<tr class="differs"><th scope="row">differs</th>`, `<span class="mark bad">NO</span>`,
			`<span class="mark good">yes</span>`, "90 min", `<td class="note">because</td>`,
			`<span class="place">table 7</span>`, `href="index.html"`, `rel="next" href="second.html"`,
		},
		&documents[1]: {
			"Missing: <code>broken</code> (failed: ", `rel="prev" href="first.html"`, `rel="next" href="third.html"`,
		},
		&documents[2]: {"Missing: <code>not-yet</code>.", "Nothing of this document", `rel="prev" href="second.html"`},
	} {
		for _, want := range wants {
			if !strings.Contains(*page, want) {
				t.Errorf("the page lacks %s", want)
			}
		}
	}
	for _, page := range append(documents, index) {
		for _, bad := range []string{"<script", "ZgotmplZ", "http://", "https://", "&lt;nil", "no value"} {
			if strings.Contains(page, bad) {
				t.Errorf("a page has %s", bad)
			}
		}
		if !strings.HasPrefix(page, "<!DOCTYPE html>") || !strings.HasSuffix(page, "</html>\n") {
			t.Errorf("a page from %.20q to %q", page, page[len(page)-20:])
		}
		if n := strings.Count(page, "<h1>"); n != 1 {
			t.Errorf("%d headings of a page", n)
		}
	}
	r.Documents = r.Documents[:1]
	index, documents = written(t, r)
	for _, page := range append(documents, index) {
		if strings.Contains(page, "Not complete") {
			t.Error("a complete page says that it is not complete")
		}
	}
}

// TestQuickReport requires that a quick run lists its disagreements folded and without a warning, and that a full run
// lists them at the top.
func TestQuickReport(t *testing.T) {
	r := madeUpReport()
	r.Documents = r.Documents[:1]
	const row = "differs: 0.03 published, 0.02 measured"
	index, _ := written(t, r)
	if top, _, _ := strings.Cut(index, "</header>"); !strings.Contains(top, `<div class="banner alarm" id="disagree">`) ||
		!strings.Contains(top, row) {
		t.Error("a full run does not list what disagrees on top")
	}
	r.Quick = true
	index, documents := written(t, r)
	top, rest, _ := strings.Cut(index, "</header>")
	if strings.Contains(top, row) || !strings.Contains(rest, row) || strings.Contains(index, `class="banner alarm"`) {
		t.Error("a quick run lists what disagrees on top")
	}
	for _, want := range []string{"fewer keys and trials", "2 of 3 compared rows differ", `<details id="disagree">`} {
		if !strings.Contains(rest, want) {
			t.Errorf("the summary lacks %q", want)
		}
	}
	for _, page := range append(documents, index) {
		if !strings.Contains(page, `<body class="quick">`) || !strings.Contains(page, "Quick run") {
			t.Error("a page does not say that the run was quick")
		}
	}
}

// TestNames requires a distinct name for each landmark of a page.
func TestNames(t *testing.T) {
	r, long := madeUpReport(), Result{Name: "long"}
	for i := range 2 * mostShown {
		long.Rows = append(long.Rows, Exact("row", 1))
		if i%2 == 0 {
			long.Rows[i] = long.Rows[i].Against(1, 0)
		}
	}
	r.Documents[0].Entries = append(r.Documents[0].Entries, &Entry{Name: "long", Result: &long})
	landmark := regexp.MustCompile(`<(?:nav|section|div)[^>]* aria-label(?:ledby)?="([^"]*)"`)
	index, documents := written(t, r)
	for _, page := range append(documents, index) {
		var names []string
		for _, m := range landmark.FindAllStringSubmatch(page, -1) {
			if m[1] == "" || slices.Contains(names, m[1]) {
				t.Errorf("%q is the name of two landmarks, or empty", m[1])
			}
			names = append(names, m[1])
		}
		if len(names) < 2 {
			t.Errorf("landmarks %q", names)
		}
	}
}

// TestParts requires that a long table folds the rows without a published value and shows the others.
func TestParts(t *testing.T) {
	long := Result{Name: "long"}
	for i := range mostShown + 6 {
		r := Exact(fmt.Sprintf("row %d.", i), float64(i))
		if i%10 == 0 {
			r = r.Against(float64(i/20), 0.5)
		}
		long.Rows = append(long.Rows, r)
	}
	var b strings.Builder
	if err := (Report{Documents: []Document{{Entries: []*Entry{{Result: &long}}}}}).WriteDocument(&b, 0); err != nil {
		t.Fatal(err)
	}
	shown, folded, _ := strings.Cut(b.String()[strings.Index(b.String(), "<main>"):], "<details>")
	if !strings.Contains(folded, "27 rows more, without a published value") {
		t.Error("the page does not say what it folds")
	}
	for i, r := range long.Rows {
		at := shown
		if r.Published == nil {
			at = folded
		}
		if !strings.Contains(at, r.Label) {
			t.Errorf("row %d is not where it belongs", i)
		}
	}
	for _, short := range []Result{{Rows: long.Rows[:mostShown]}, {Rows: long.Rows[:1]}, {}} {
		if p := short.Parts(); len(p) != 1 || p[0].Folded || len(p[0].Rows) != len(short.Rows) {
			t.Errorf("%d rows: %d parts", len(short.Rows), len(p))
		}
	}
}

// TestDifferences requires misprints first, the reason beside each row that disagrees, and rows that may only be noise
// of a quick run last.
func TestDifferences(t *testing.T) {
	result := Result{Name: "sums", Rows: []Row{
		Exact("far off", 2).Against(1, 0.1).Noted("for a reason"),
		Exact("printed wrong", 3).Against(1, 0.1).Misprinted("the text has %d", 3),
		Exact("printed wrong, but close", 1).Against(1, 0.1).Misprinted("no"),
		Mean("rolled dice", []float64{2, 3}).Against(1, 0.1),
		Exact("computed", 4).Against(1, 0.1).Noted("the text rounds"),
	}}
	r := Report{Documents: []Document{{Page: "page", Title: "t", Entries: []*Entry{{Name: "sums", Result: &result}}}}}
	if m, d := r.Misprints(), r.Differences(); len(m) != 1 || m[0].Label != "printed wrong" || len(d) != 3 || d[2].Label != "rolled dice" {
		t.Fatalf("%v and %v", m, d)
	}

	index, _ := written(t, r)
	first := strings.Index(index, "printed wrong: 1 published, 3 measured <span class=\"about\">(the text has 3)")
	second := strings.Index(index, "far off: 1 published, 2 measured <span class=\"about\">(for a reason)")
	if first < 0 || second < first {
		t.Errorf("places %d and %d in\n%s", first, second, index)
	}

	r.Quick = true
	result.ExplainNoise()
	index, documents := written(t, r)
	top, rest, _ := strings.Cut(index, "</header>")
	if !strings.Contains(top, "printed wrong: ") || !strings.Contains(rest, "measured <span class=\"about\">(a quick run measures fewer") {
		t.Errorf("a quick run shows\n%s", index)
	}
	page := documents[0]
	head, tables, _ := strings.Cut(page, "</header>")
	for _, part := range []string{head, tables} {
		if strings.Count(part, noise) != 1 || !strings.Contains(part, "the text has 3") {
			t.Errorf("the page of the document is\n%s", page)
		}
	}
	if strings.Index(head, "the text has 3") > strings.Index(head, "for a reason") {
		t.Errorf("the page of the document begins with\n%s", head)
	}
}
