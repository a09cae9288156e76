package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// group holds the comparisons with one kind of keys and one rate.
type group struct {
	title string
	rows  []Against
}

// groups returns the comparisons by kind of keys and rate, in the order of their first rows.
func (r Across) groups() (all []group) {
	for _, a := range r.Rows {
		title := a.Kind + ", " + a.target()
		i := slices.IndexFunc(all, func(g group) bool { return g.title == title })
		if i < 0 {
			i, all = len(all), append(all, group{title: title})
		}
		all[i].rows = append(all[i].rows, a)
	}
	return all
}

// times returns the table of times and ratios.
func (g group) times() cells {
	t := cells{append([]string{"ours / peer"}, operations...)}
	for _, a := range g.rows {
		line := []string{a.name()}
		for _, op := range operations {
			line = append(line, a.cell(op))
		}
		if a.Failed != "" {
			line = []string{a.name(), "FAILED: " + strings.ReplaceAll(a.Failed, "\n", " ")}
		}
		t = append(t, line)
	}
	return t
}

// cell returns both medians of an operation, and the ratio with its quartiles.
func (a Against) cell(op string) string {
	theirs := a.Peer.Times[op]
	if theirs.N == 0 {
		theirs = a.Peer.Times[strings.TrimSuffix(op, ", batch")]
	}
	return fmt.Sprintf("%s / %s = %s", digits(a.Ours.Times[op].Median), digits(theirs.Median), a.Ratios[op].text(decimals))
}

// rates returns the table of rates and sizes.
func (g group) rates() cells {
	t := cells{{"ours / peer", "our rate (95% interval)", "peer's rate", "our bits per key", "peer's", "peer refused"}}
	for _, a := range g.rows {
		if a.Failed != "" {
			continue
		}
		t = append(t, []string{
			a.name(), a.Ours.rate(), a.Peer.rate(), fmt.Sprintf("%.2f", a.Ours.BitsPerKey),
			fmt.Sprintf("%.2f", a.Peer.BitsPerKey), fmt.Sprint(a.Peer.Refused),
		})
	}
	return t
}

// libraries returns the table of the parameters of both sides.
func (r Across) libraries() cells {
	t := cells{{"ours", "peer", "language", "library", "parameters", "note"}}
	seen := map[string]bool{}
	for _, a := range r.Rows {
		if seen[a.name()] {
			continue
		}
		seen[a.name()] = true
		told := func(s string) string {
			if a.FPR != 0 {
				s = strings.Replace(s, fmt.Sprintf("%g", a.FPR), "rate", 1)
			}
			return "`" + s + "`"
		}
		library := a.Peer.Library
		for _, p := range r.Programs {
			if p.Language == a.Language {
				library += " " + p.Versions[a.Peer.Library]
			}
		}
		t = append(t, []string{told(a.Ours.Told), a.Peer.Name, a.Language, library, told(a.Peer.Told), a.Peer.Note})
	}
	return t
}

// remarks returns a line for each language: what ran, or what was missing.
func (r Across) remarks() (lines []string) {
	for _, p := range r.Programs {
		if p.NotRun != "" {
			lines = append(lines, fmt.Sprintf("NOT RUN: %s: %s.", p.Language, p.NotRun))
			continue
		}
		lines = append(lines, fmt.Sprintf("%s: %s, %s.", p.Language, p.Toolchain, p.Flags))
	}
	return lines
}

// with returns a line for each comparison that has operations with verdict v. The line names the operations.
func (r Across) with(v verdict) (lines []string) {
	for _, a := range r.Rows {
		name := a.name() + ", " + a.Kind
		if a.FPR != 0 {
			name += ", " + rateText(a.FPR)
		}
		if text := operationsWith(v, a.Ratios); text != "" {
			lines = append(lines, name+": "+text)
		}
	}
	return lines
}

// writeText writes the result as text.
func (r Across) writeText(w io.Writer) {
	fmt.Fprintf(w, "%s keys, %s, %d cores, %s, %s\n", countText(r.Keys), r.Machine, r.Cores, r.Go, r.Date)
	fmt.Fprintf(w, `Nanoseconds of CPU time per key, ours / theirs = ratio: medians of %d builds and %d rounds of
%s queries, with the quartiles of the ratio. Below 1, ours is faster. Peers without batch queries: our batch / their
single.
`, r.Builds, r.Turns, countText(r.Asked))
	for _, g := range r.groups() {
		fmt.Fprintf(w, "\n%s\n\n", g.title)
		g.times().writeText(w, "")
		fmt.Fprintln(w)
		g.rates().writeText(w, "")
	}
	fmt.Fprintln(w)
	r.libraries().writeText(w, "-")
	fmt.Fprintln(w)
	for _, line := range r.remarks() {
		fmt.Fprintln(w, "* "+line)
	}
}

// fileName returns the name of the result's page without extension.
func (r Across) fileName() string {
	name := "peers-" + countText(r.Keys)
	if !slices.Equal(r.FPRs, defaultRates) {
		for _, rate := range r.FPRs {
			name += fmt.Sprintf("-fpr%g", rate)
		}
	}
	return name
}

func (r Across) files() map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{".md": r.writePage}
}

// writePage writes the result as a Markdown page.
func (r Across) writePage(w io.Writer) error {
	var languages []string
	for _, p := range r.Programs {
		if p.NotRun == "" {
			languages = append(languages, p.Language)
		}
	}
	r.writeHeading(w, "peers in "+strings.Join(languages, ", "))
	fmt.Fprintf(w, `Cells are nanoseconds of CPU time per key, ours / theirs, and the ratio with its quartiles:
medians of rounds. Below 1, ours is faster. If the peer has no batch queries, our batch queries are compared with its
single queries.

## Summary

A time is listed if the middle half of its ratios lies on one side of 1 and the median differs from 1 by more than %s.

`, rateText(closeTo))
	writeList(w, "Slower than the peer", r.with(loss))
	writeList(w, "Faster than the peer", r.with(win))
	for _, g := range r.groups() {
		fmt.Fprintf(w, "## %s\n\n", strings.ToUpper(g.title[:1])+g.title[1:])
		g.times().writeMarkdown(w, "---:")
		fmt.Fprintln(w)
		g.rates().writeMarkdown(w, "---:")
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "## Peers\n\n")
	r.libraries().writeMarkdown(w, "---")
	fmt.Fprintf(w, "\n- %s\n", strings.Join(r.remarks(), "\n- "))
	_, err := fmt.Fprintf(w, acrossMethod, r.Builds, r.Turns, countText(r.Asked))
	return err
}

const acrossMethod = `
## Method

- Each side is a process: our program, and one of the peer's language. Both load the same file of keys, build and ask
  when they are told to, in turn (ours, peer, ours, peer), and measure their own CPU time. %d builds are timed, after
  others that are not, so that compilers at run time are done, and %d rounds of queries. Before each round a side asks
  for other keys, not timed, so that the caches hold what they can of its filter.
- Keys are 16 hexadecimal digits, or 64-bit integers. Digits are strings (string, &str, byte[]), or arrays, of which
  Rust's compiler knows the length ([]byte, [u8; 16]). A round has %s queries of each sort: for a random sample of the
  filter's keys, with repetition, and for distinct keys that it does not hold. Times include each library's own hash.
- Ours are sets as users make and ask them: Build, Contains, ContainsString or Keyed[uint64].Contains, and ContainsMany
  with 256 keys. The process has one core (GOMAXPROCS=1). Times of builds include the garbage collector's.
- Peers are built for this processor (Rust), or compiled at run time (Java). Times of Java leave out the threads of the
  compiler and of the garbage collector. Integers go into xorf without a hash function.
- Rates: false positives among absent keys, with the exact 95%% interval. Each filter is also asked for all of its keys.
  A filter that loses more keys than it refused to take, or that answers otherwise when asked again, fails.
`
