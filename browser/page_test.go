// Package browser tests the page of bloomery lab report in Chromium, at a wide and a narrow size. It is a module of its
// own, so that users of Bloomery do not download the browser driver.
package browser

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// screens are the sizes of the window, in CSS pixels.
var screens = []struct {
	name          string
	width, height int64
	options       []chromedp.EmulateViewportOption
}{
	{"wide", 1280, 900, nil},
	{"narrow", 390, 844, []chromedp.EmulateViewportOption{chromedp.EmulateMobile, chromedp.EmulateScale(2)}},
}

// TestReport checks the page named by BLOOMERY_PAGE, and writes screenshots to the folder BLOOMERY_SHOTS if that is
// set. Every result file beside the page must have a section.
func TestReport(t *testing.T) {
	page := os.Getenv("BLOOMERY_PAGE")
	if page == "" {
		t.Skip("set BLOOMERY_PAGE to the index.html of a report")
	}
	results, err := filepath.Glob(filepath.Join(filepath.Dir(page), "*.json"))
	if err != nil || len(results) == 0 {
		t.Fatalf("no results beside %s (%v)", page, err)
	}
	var sections []string
	for _, r := range results {
		sections = append(sections, strings.TrimSuffix(filepath.Base(r), ".json"))
	}
	ctx, shots := start(t), os.Getenv("BLOOMERY_SHOTS")
	for i, s := range screens {
		shot := ""
		if shots != "" {
			shot = filepath.Join(shots, s.name+".png")
		}
		problems, err := look(ctx, page, i, sections, shot)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s", s.name, p)
		}
	}
}

// TestProblems requires that look finds the problem of pages with one problem each.
func TestProblems(t *testing.T) {
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 7 4" width="700" height="400"><path d="M0 0h7v4H0z"/></svg>`
	plot := `<img class="plot" alt="a plot" style="width:100%" src="data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString(
		[]byte(svg),
	) + `">`
	section := `<section id="one">` + plot + `<table><tr><td>1</td></tr></table></section>`
	ctx := start(t)
	for name, c := range map[string]struct{ body, want string }{
		"right":       {section, ""},
		"no plot":     {`<section id="one"><table><tr><td>1</td></tr></table></section>`, "no plot"},
		"no alt":      {strings.Replace(section, `alt="a plot"`, "", 1), "no alternative text"},
		"no section":  {strings.Replace(section, `"one"`, `"two"`, 1), "section one is missing"},
		"empty":       {plot + `<section id="one"></section>`, "section one is empty"},
		"dead link":   {section + `<a href="#three">x</a>`, "link to #three"},
		"broken plot": {section + `<img class="plot" alt="x" src="data:image/svg+xml;base64,AAAA">`, "not drawn"},
		"flat plot":   {strings.Replace(section, "width:100%", "width:100%;height:0", 1), "not drawn"},
		"wide plot": {`<div style="overflow:hidden">` + strings.Replace(section, "width:100%", "width:1500px",
			1) + `</div>`, "past the screen"},
		"overflow":  {section + `<div style="width:1500px">x</div>`, "wider than the screen"},
		"console":   {section + `<script>console.error("broken")</script>`, "broken"},
		"exception": {section + `<script>throw new Error("thrown")</script>`, "thrown"},
		"request":   {section + `<img src="missing.png">`, "missing.png"},
		"outside":   {section + `<link rel="stylesheet" href="http://127.0.0.1:9/a.css">`, "a.css"},
	} {
		t.Run(name, func(t *testing.T) {
			page := filepath.Join(t.TempDir(), "index.html")
			html := `<!DOCTYPE html><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">` + c.body
			if err := os.WriteFile(page, []byte(html), 0o600); err != nil {
				t.Fatal(err)
			}
			for i, s := range screens {
				problems, err := look(ctx, page, i, []string{"one"}, "")
				if err != nil {
					t.Fatal(err)
				}
				if all := strings.Join(problems, "\n"); (c.want == "") != (all == "") ||
					!strings.Contains(all, c.want) {
					t.Errorf("%s: want %q, got %q", s.name, c.want, problems)
				}
			}
		})
	}
}

// start opens a browser that is closed at the end of the test.
func start(t *testing.T) context.Context {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.UserDataDir(t.TempDir()))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has no sandbox for root
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("Chromium does not start: %v", err)
	}
	return ctx
}

// survey returns the problems of the layout of a page, given the ids that its sections must have and the width of the
// screen. (A phone zooms out of a page that is too wide, and then reports a wider window.)
const survey = `((sections, width) => {
	const wrong = [], root = document.documentElement
	if (root.scrollWidth > width) wrong.push("the page is wider than the screen: " + root.scrollWidth + " > " + width)
	const plots = [...document.querySelectorAll("img.plot")]
	if (plots.length == 0) wrong.push("there is no plot")
	for (const p of plots) {
		const box = p.getBoundingClientRect(), name = p.alt || "a plot"
		if (!p.alt) wrong.push("a plot has no alternative text")
		if (!p.complete || p.naturalWidth == 0 || box.width < 1 || box.height < 1) wrong.push(name + " is not drawn")
		if (box.left < 0 || box.right > width + 0.5) wrong.push(name + " goes past the screen: " + box.left + " to " + box.right)
	}
	for (const id of sections) {
		const s = document.getElementById(id)
		if (!s) wrong.push("section " + id + " is missing")
		else if (!s.querySelector("td, img.plot")) wrong.push("section " + id + " is empty")
	}
	for (const a of document.querySelectorAll('a[href^="#"]')) {
		if (!document.getElementById(a.getAttribute("href").slice(1))) wrong.push("a link to " + a.getAttribute("href") + " leads nowhere")
	}
	return wrong
})`

// look opens a page on one of the screens and returns its problems. If shot is not empty it writes a screenshot to that
// file.
func look(ctx context.Context, page string, screen int, sections []string, shot string) ([]string, error) {
	ctx, done := chromedp.NewContext(ctx) // a tab
	defer done()
	path, err := filepath.Abs(page)
	if err != nil {
		return nil, err
	}
	names, err := json.Marshal(sections)
	if err != nil {
		return nil, err
	}
	address := (&url.URL{Scheme: "file", Path: path}).String()
	var mu sync.Mutex
	var heard []string
	if err := chromedp.Do(ctx); err != nil { // opens the tab
		return nil, err
	}
	err = chromedp.Listen(ctx, func(event any) {
		if text := complaint(event, address); text != "" {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, text)
		}
	})
	if err != nil {
		return nil, err
	}
	s := screens[screen]
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(s.width, s.height, s.options...),
		chromedp.Navigate(address)); err != nil {
		return nil, err
	}
	laidOut, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](fmt.Sprintf("%s(%s, %d)", survey, names, s.width)))
	if err != nil {
		return nil, err
	}
	if shot != "" {
		picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(shot, picture, 0o600); err != nil {
			return nil, err
		}
	}
	mu.Lock()
	defer mu.Unlock()
	return append(heard, laidOut...), nil
}

// complaint returns the problem that an event reports of the page at address, or "".
func complaint(event any, address string) string {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			text += " " + thrown.Description
		}
		return "exception: " + text
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			var parts []string
			for _, a := range e.Args {
				parts = append(parts, string(a.Value))
			}
			return "console: " + strings.Join(parts, " ")
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			return "browser: " + e.Entry.Text + " " + e.Entry.URL
		}
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; u != address && !strings.HasPrefix(u, "data:") {
			return "the page asks for " + u
		}
	case *network.EventLoadingFailed:
		return "request failed: " + e.ErrorText
	}
	return ""
}
