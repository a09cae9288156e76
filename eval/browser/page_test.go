// Package browser tests the pages of bloomery-lab report in Chromium, on wide and narrow screens, in light and dark
// mode, and in print.
package browser

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// screen describes how pages are shown.
type screen struct {
	name          string
	width, height int64 // size of the window, in CSS pixels
	media, scheme string
	options       []chromedp.EmulateViewportOption
}

var phone = []chromedp.EmulateViewportOption{chromedp.EmulateMobile, chromedp.EmulateScale(2)}

var screens = []screen{
	{"wide", 1280, 900, "screen", "light", nil},
	{"wide-dark", 1280, 900, "screen", "dark", nil},
	{"narrow", 390, 844, "screen", "light", phone},
	{"narrow-dark", 390, 844, "screen", "dark", phone},
	{"print", 794, 1123, "print", "dark", nil},
}

// emulated returns the parameters of the media of a screen.
func (s screen) emulated() emulation.SetEmulatedMediaParams {
	return emulation.SetEmulatedMediaParams{
		Media: s.media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.scheme}},
	}
}

// TestReport checks the report whose overview is the file $BLOOMERY_PAGE: the overview and all pages to which it links.
// If $BLOOMERY_SHOTS is set, it writes screenshots to that folder. Every result file beside the pages must have a
// section.
func TestReport(t *testing.T) {
	index := os.Getenv("BLOOMERY_PAGE")
	if index == "" {
		t.Skip("set BLOOMERY_PAGE to the index.html of a report")
	}
	results, err := filepath.Glob(filepath.Join(filepath.Dir(index), "*.json"))
	if err != nil || len(results) == 0 {
		t.Fatalf("no results beside %s (%v)", index, err)
	}
	var names []string
	for _, r := range results {
		names = append(names, strings.TrimSuffix(filepath.Base(r), ".json"))
	}
	ctx := start(t)
	for _, s := range screens {
		pages, problems, err := check(ctx, index, s, names, os.Getenv("BLOOMERY_SHOTS"))
		if err != nil {
			t.Fatal(err)
		}
		if pages < 2 {
			t.Errorf("%s: %d pages", s.name, pages)
		}
		for _, p := range problems {
			t.Errorf("%s: %s", s.name, p)
		}
	}
}

// check surveys the overview of a report and all pages to which it links. It returns their number and their problems:
// problems of each page, broken links, and names of results without a section or with several.
func check(ctx context.Context, index string, s screen, names []string, shots string) (int, []string, error) {
	dir := filepath.Dir(index)
	todo := []string{filepath.Base(index)}
	seen := map[string]surveyed{}
	var problems []string
	for i := 0; i < len(todo); i++ {
		page, shot := todo[i], ""
		if shots != "" {
			shot = filepath.Join(shots, strings.TrimSuffix(page, ".html")+"-"+s.name+".png")
		}
		got, err := look(ctx, filepath.Join(dir, page), s, names, shot)
		if err != nil {
			return 0, nil, fmt.Errorf("%s: %w", page, err)
		}
		seen[page] = got
		for _, p := range got.Wrong {
			problems = append(problems, page+": "+p)
		}
		for _, link := range got.Links {
			path, _, _ := strings.Cut(link, "#")
			if _, err := os.Stat(filepath.Join(dir, path)); path != "" && err != nil {
				problems = append(problems, fmt.Sprintf("%s: a link to %s leads nowhere", page, link))
			} else if strings.HasSuffix(path, ".html") && !slices.Contains(todo, path) {
				todo = append(todo, path)
			}
		}
	}
	plots, sections := 0, map[string]int{}
	for page, got := range seen {
		plots += got.Plots
		for _, name := range got.Sections {
			sections[name]++
		}
		for _, link := range got.Links {
			path, id, _ := strings.Cut(link, "#")
			if path == "" {
				path = page
			}
			if to, ok := seen[path]; ok && id != "" && !slices.Contains(to.IDs, id) {
				problems = append(problems, fmt.Sprintf("%s: a link to %s leads nowhere", page, link))
			}
		}
	}
	for _, name := range names {
		if n := sections[name]; n != 1 {
			problems = append(problems, fmt.Sprintf("section %s: there are %d", name, n))
		}
	}
	if plots == 0 {
		problems = append(problems, "there is no plot")
	}
	return len(seen), problems, nil
}

// start opens a browser that is closed at the end of the test.
func start(t *testing.T) context.Context {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.UserDataDir(t.TempDir()))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has no sandbox for root
	}
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Minute)
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

// address returns the URL of a file.
func address(path string) (string, error) {
	path, err := filepath.Abs(path)
	return (&url.URL{Scheme: "file", Path: path}).String(), err
}
