package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// cells is a table. The first row is the header.
type cells [][]string

// filters returns the table of all filters' measurements.
func (r Result) filters() cells {
	t := cells{{
		"filter", "bits per key", "bits / bound", "rate (95% interval)", "build", "present", "absent", "present, batch", "absent, batch",
		"build memory",
	}}
	for _, row := range r.Rows {
		if row.LeftOut != "" {
			t = append(t, []string{row.Name, "left out: " + row.LeftOut})
			continue
		}
		line := []string{row.Name, fmt.Sprintf("%.2f", row.BitsPerKey), row.ofBound(), row.rate()}
		for _, op := range operations {
			line = append(line, row.Times[op].text(digits))
		}
		t = append(t, append(line, fmt.Sprintf("%.1f", float64(row.PeakBytes)/float64(r.Keys))))
	}
	return t
}

// ofBound returns the bits per key divided by log2(1/rate), the lower bound for every filter of arbitrary keys.
func (r Row) ofBound() string {
	if r.Hits < 10 {
		return "–" // the rate is not known precisely enough
	}
	return fmt.Sprintf("%.2f", r.BitsPerKey/math.Log2(1/r.FPR))
}

// rate returns the observed rate with its interval.
func (r Row) rate() string {
	if r.Hits == 0 {
		return fmt.Sprintf("0 (below %s)", percent(r.FPRHigh))
	}
	return fmt.Sprintf("%s (%s–%s)", percent(r.FPR), strings.TrimSuffix(percent(r.FPRLow), "%"), percent(r.FPRHigh))
}

// text returns the median as format writes it, with the quartiles if there are at least two turns.
func (s spread) text(format func(float64) string) string {
	switch s.N {
	case 0:
		return "–"
	case 1:
		return format(s.Median)
	}
	return fmt.Sprintf("%s (%s–%s)", format(s.Median), format(s.Low), format(s.High))
}

// decimals writes a ratio.
func decimals(ratio float64) string { return fmt.Sprintf("%.2f", ratio) }

// rates returns the observed rate of each filter by its name.
func (r Result) rates() map[string]string {
	rates := map[string]string{}
	for _, row := range r.Rows {
		rates[row.Name] = percent(row.FPR)
	}
	return rates
}

// against is the table of ratios.
func (r Result) against() cells {
	t := cells{{"ours / peer", "build", "present", "absent", "present, batch", "absent, batch", "bits", "build memory"}}
	for _, p := range r.Pairs {
		line := []string{p.Ours + " / " + p.Peer}
		for _, op := range operations {
			line = append(line, p.Ratios[op].text(decimals))
		}
		memory := "–"
		if p.Memory > 0 {
			memory = decimals(p.Memory)
		}
		t = append(t, append(line, decimals(p.Bits), memory))
	}
	return t
}

// told returns the table of the parameters of each library.
func (r Result) told() cells {
	t := cells{{"filter", "library", "version", "parameters", "note"}}
	for _, row := range r.Rows {
		t = append(t, []string{row.Name, row.Library, r.Libraries[row.Library], "`" + row.Told + "`", row.Note})
	}
	return t
}

// writeText writes the table in aligned columns: the first flush left, the others flush right, or flush left if side is
// "-". A row of two cells is a name and a sentence.
func (t cells) writeText(w io.Writer, side string) {
	wide := make([]int, len(t[0]))
	for _, line := range t {
		for i, c := range line {
			if len(line) > 2 || i == 0 {
				wide[i] = max(wide[i], utf8.RuneCountInString(c))
			}
		}
	}
	for _, line := range t {
		text := fmt.Sprintf("%-*s", wide[0], line[0])
		for i, c := range line[1:] {
			if len(line) == 2 {
				text += "  " + c
				continue
			}
			text += fmt.Sprintf("  %"+side+"*s", wide[i+1], c)
		}
		fmt.Fprintln(w, strings.TrimRight(text, " "))
	}
}

// writeMarkdown writes the table in Markdown. rule is the delimiter of the columns after the first.
func (t cells) writeMarkdown(w io.Writer, rule string) {
	for i, line := range t {
		fmt.Fprintf(w, "| %s |%s\n", strings.Join(line, " | "), strings.Repeat(" |", len(t[0])-len(line)))
		if i == 0 {
			fmt.Fprintf(w, "|---|%s\n", strings.Repeat(rule+"|", len(line)-1))
		}
	}
}

// writeText writes the result as text.
func (r Result) writeText(w io.Writer) {
	fmt.Fprintf(w, "%s keys, target rate %s, %s, %d cores, %s, %s\n",
		countText(r.Keys), rateText(r.FPR), r.Machine, r.Cores, r.Go, r.Date)
	fmt.Fprintf(w, "Nanoseconds per key (%s): medians and quartiles of at most %d builds and of %d turns of queries.\n",
		r.Clock, r.Builds, r.Turns)
	fmt.Fprint(w, "Build memory: peak of the heap without the keys, in bytes per key. Bound: log2(1/rate) bits per key.\n\n")
	r.filters().writeText(w, "")
	fmt.Fprint(w, "\nRatios (ours / theirs) within turns: below 1, ours is better.\n\n")
	ratios, rates := r.against(), r.rates()
	bits := slices.Index(ratios[0], "bits")
	ratios[0][bits] = "bits (rates)" // fewer bits say little beside a higher rate
	for i, p := range r.Pairs {
		ratios[i+1][bits] += fmt.Sprintf(" (%s / %s)", rates[p.Ours], rates[p.Peer])
	}
	ratios.writeText(w, "")
	fmt.Fprintln(w)
	r.told().writeText(w, "-")
	fmt.Fprintln(w)
	for _, line := range r.remarks() {
		fmt.Fprintln(w, "* "+line)
	}
}

// remarks returns notes on false negatives, missed rates and skipped builds.
func (r Result) remarks() (lines []string) {
	for _, row := range r.Rows {
		if row.Refused > 0 || row.Lost > 0 {
			lines = append(lines,
				fmt.Sprintf("%s refused %d of %d keys and has %d false negatives.", row.Name, row.Refused, r.Keys, row.Lost))
		}
		if !row.Fixed && row.FPRLow > r.FPR {
			lines = append(lines,
				fmt.Sprintf("%s exceeds the target rate: %s, at least %s.", row.Name, percent(row.FPR), percent(row.FPRLow)))
		}
		if n := row.Times["build"].N; n > 0 && n < r.Builds {
			lines = append(lines, fmt.Sprintf("%s was built %d of %d times, because its builds take long.", row.Name, n, r.Builds))
		}
	}
	return lines
}
