package browser

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// drawing returns the data URL of a picture in the given color.
func drawing(color string) string {
	svg := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 7 4" width="700" height="400"><path fill="` + color +
		`" d="M0 0h7v4H0z"/></svg>`
	return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(svg))
}

// TestProblems requires that check finds the problem of each report that has one, on two of the screens, and no problem
// of a report without problems, on all screens.
func TestProblems(t *testing.T) {
	plot := `<picture><source media="screen and (prefers-color-scheme: dark)" srcset="` + drawing("#111") + `">` +
		`<img class="plot" alt="a plot" style="width:100%" src="` + drawing("#fff") + `"></picture>`
	section := `<section id="one" aria-label="One">` + plot + `<table><tr><td>1</td></tr></table></section>`
	with := func(old, new string) string { return strings.Replace(section, old, new, 1) }
	gray := strings.NewReplacer(drawing("#fff"), drawing("#777"), drawing("#111"), drawing("#777"))
	ctx := start(t)
	for name, c := range map[string]struct{ body, want string }{
		"right":         {section, ""},
		"no plot":       {with(plot, ""), "no plot"},
		"no alt":        {with(`alt="a plot"`, ""), "no alternative text"},
		"no section":    {with(`"one"`, `"two"`), "section one: there are 0"},
		"empty":         {plot + `<section id="one" aria-label="One"></section>`, "section one is empty"},
		"dead link":     {section + `<a href="#three">x</a>`, "link to #three"},
		"dead page":     {section + `<a href="three.html">x</a>`, "link to three.html"},
		"dead place":    {section + `<a href="index.html#three">x</a>`, "link to index.html#three"},
		"broken plot":   {section + `<img class="plot" alt="x" src="data:image/svg+xml;base64,AAAA">`, "not drawn"},
		"flat plot":     {with("width:100%", "width:100%;height:0"), "not drawn"},
		"wide plot":     {`<div style="overflow:hidden">` + with("width:100%", "width:15e2px") + `</div>`, "past the screen"},
		"other colors":  {gray.Replace(section), "not in the colors"},
		"overflow":      {section + `<div style="width:1500px">x</div>`, "wider than the screen"},
		"folded":        {section + `<details><div style="width:1500px">x</div></details>`, "wider than the screen"},
		"faint":         {section + `<p style="background:#888;color:#999">x</p>`, "contrast of"},
		"same names":    {section + `<nav aria-label="One"></nav>`, "two landmarks"},
		"no name":       {section + `<section></section>`, "a section has no name"},
		"two mains":     {section + `<main></main>`, "2 elements main"},
		"two h1":        {section + `<h1>x</h1>`, "2 headings of level 1"},
		"skipped level": {section + `<h3>x</h3>`, "level 3 follows one of level 1"},
		"same ids":      {section + `<i id="x"></i><i id="x"></i>`, "two elements have the id x"},
		"console":       {section + `<script>console.error("broken")</script>`, "broken"},
		"exception":     {section + `<script>throw new Error("thrown")</script>`, "thrown"},
		"request":       {section + `<img src="missing.png">`, "missing.png"},
		"outside":       {section + `<link rel="stylesheet" href="http://127.0.0.1:9/a.css">`, "a.css"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			const head = `<!DOCTYPE html><meta name="viewport" content="width=device-width, initial-scale=1">` +
				`<style>@media screen and (prefers-color-scheme: dark) {` +
				`body { background: #111; color: #eee } a { color: #adf } }</style>` +
				`<link rel="icon" href="data:,"><h1>x</h1><main>`
			for name, body := range map[string]string{"index.html": `<a href="one.html">x</a>`, "one.html": c.body} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(head+body+"</main>"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			on := []screen{screens[0], screens[3]}
			if c.want == "" {
				on = screens
			}
			for _, s := range on {
				pages, problems, err := check(ctx, filepath.Join(dir, "index.html"), s, []string{"one"}, "")
				if err != nil {
					t.Fatal(err)
				}
				if all := strings.Join(problems, "\n"); pages != 2 || (c.want == "") != (all == "") ||
					!strings.Contains(all, c.want) {
					t.Errorf("%s: want %q, got %q of %d pages", s.name, c.want, problems, pages)
				}
			}
		})
	}
}
