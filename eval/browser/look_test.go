package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

//go:embed survey.js
var survey string

// surveyed is what survey.js and the browser report about a page.
type surveyed struct {
	Wrong    []string `json:"wrong"` // problems
	IDs      []string `json:"ids"`
	Links    []string `json:"links"` // links as written in the page
	Sections []string `json:"sections"`
	Plots    int      `json:"plots"`
}

// look opens a page on a screen and surveys it. names are the names that sections may have. If shot is not empty it
// writes a screenshot to that file.
func look(ctx context.Context, page string, s screen, names []string, shot string) (got surveyed, err error) {
	ctx, done := chromedp.NewContext(ctx) // a tab
	defer done()
	at, err := address(page)
	if err != nil {
		return got, err
	}
	list, err := json.Marshal(names)
	if err != nil {
		return got, err
	}
	var mu sync.Mutex
	var heard []string
	if err := chromedp.Do(ctx); err != nil { // opens the tab
		return got, err
	}
	err = chromedp.Listen(ctx, func(event any) {
		if text := complaint(event, at); text != "" {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, text)
		}
	})
	if err != nil {
		return got, err
	}
	media := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, s.emulated())
		return err
	})
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(s.width, s.height, s.options...), media,
		chromedp.Navigate(at)); err != nil {
		return got, err
	}
	if shot != "" { // before the survey, which unfolds all parts
		picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err != nil {
			return got, err
		}
		if err := os.WriteFile(shot, picture, 0o600); err != nil {
			return got, err
		}
	}
	got, err = chromedp.Run(ctx, chromedp.Evaluate[surveyed](
		fmt.Sprintf("%s(%s, %d)", strings.TrimSpace(survey), list, s.width), chromedp.EvalAwaitPromise))
	mu.Lock()
	defer mu.Unlock()
	got.Wrong = append(got.Wrong, heard...)
	return got, err
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
