package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// cells are a table; the first row heads the columns. Text prints it aligned, and Markdown as a table of that.
type cells [][]string

// filters is the table of what each filter takes.
func (r Result) filters() cells {
	t := cells{{"filter", "bits a key", "of the bound", "rate (95% interval)", "build", "present", "absent", "present, batch", "absent, batch", "build memory"}}
	for _, row := range r.Rows {
		if row.LeftOut != "" {
			t = append(t, []string{row.Name, "left out: " + row.LeftOut})
			continue
		}
		line := []string{row.Name, fmt.Sprintf("%.2f", row.BitsPerKey), row.ofBound(), row.rate()}
		for _, op := range operations {
			line = append(line, times(row.Times[op]))
		}
		t = append(t, append(line, fmt.Sprintf("%.1f", float64(row.PeakBytes)/float64(r.Keys))))
	}
	return t
}

// ofBound is the bits a key over log2(1/rate), of which no filter that holds any keys takes fewer.
func (r Row) ofBound() string {
	if r.Hits < 10 {
		return "–" // nobody knows the rate well enough
	}
	return fmt.Sprintf("%.2f", r.BitsPerKey/math.Log2(1/r.FPR))
}

// rate is what was observed, with its interval.
func (r Row) rate() string {
	if r.Hits == 0 {
		return fmt.Sprintf("0 (below %s)", percent(r.FPRHigh))
	}
	return fmt.Sprintf("%s (%s–%s)", percent(r.FPR), strings.TrimSuffix(percent(r.FPRLow), "%"), percent(r.FPRHigh))
}

// times are nanoseconds, with the middle half if there are enough turns for one.
func times(s spread) string {
	switch s.N {
	case 0:
		return "–"
	case 1:
		return digits(s.Median)
	}
	return fmt.Sprintf("%s (%s–%s)", digits(s.Median), digits(s.Low), digits(s.High))
}

// ratio is that of two times, with the middle half of the turns.
func ratio(s spread) string {
	switch s.N {
	case 0:
		return "–"
	case 1:
		return fmt.Sprintf("%.2f", s.Median)
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", s.Median, s.Low, s.High)
}

// against is the table of ratios.
func (r Result) against() cells {
	t := cells{{"ours / peer", "build", "present", "absent", "present, batch", "absent, batch", "bits", "build memory"}}
	for _, p := range r.Pairs {
		line := []string{p.Ours + " / " + p.Peer}
		for _, op := range operations {
			line = append(line, ratio(p.Ratios[op]))
		}
		memory := "–"
		if p.Memory > 0 {
			memory = fmt.Sprintf("%.2f", p.Memory)
		}
		t = append(t, append(line, fmt.Sprintf("%.2f", p.Bits), memory))
	}
	return t
}

// told is the table of what each library was asked for.
func (r Result) told() cells {
	t := cells{{"filter", "library", "version", "told", "mind"}}
	for _, row := range r.Rows {
		t = append(t, []string{row.Name, row.Library, r.Libraries[row.Library], "`" + row.Told + "`", row.Note})
	}
	return t
}

// writeText writes the table in aligned columns, the first to the left, the others to the right, or with side "-" to the left.
// A row of two cells is a name and a sentence.
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

// writeMarkdown writes the table for Markdown, the columns after the first with that rule.
func (t cells) writeMarkdown(w io.Writer, rule string) {
	for i, line := range t {
		fmt.Fprintf(w, "| %s |%s\n", strings.Join(line, " | "), strings.Repeat(" |", len(t[0])-len(line)))
		if i == 0 {
			fmt.Fprintf(w, "|---|%s\n", strings.Repeat(rule+"|", len(line)-1))
		}
	}
}

// writeText writes all of the result for people.
func (r Result) writeText(w io.Writer) {
	fmt.Fprintf(w, "%s keys, %s asked for, on %s, %d cores, %s, %s\n", countText(r.Keys), rateText(r.FPR), r.Machine, r.Cores, r.Go, r.Date)
	fmt.Fprintf(w, "Nanoseconds a key (%s): medians of %d builds at most and of %d turns, with the middle half of them.\n", r.Clock, r.Builds, r.Turns)
	fmt.Fprint(w, "Build memory is the peak of the heap beyond the keys, in bytes a key; of the bound is bits a key over log2(1/rate).\n\n")
	r.filters().writeText(w, "")
	fmt.Fprint(w, "\nRatios, ours over theirs, turn by turn: below 1 is for us.\n\n")
	r.against().writeText(w, "")
	fmt.Fprintln(w)
	r.told().writeText(w, "-")
	fmt.Fprintln(w)
	for _, line := range r.remarks() {
		fmt.Fprintln(w, "* "+line)
	}
}

// remarks are what a reader of the tables must not miss.
func (r Result) remarks() (lines []string) {
	for _, row := range r.Rows {
		if row.Refused > 0 || row.Lost > 0 {
			lines = append(lines, fmt.Sprintf("%s refused %d of %d keys and denies %d that it was given.", row.Name, row.Refused, r.Keys, row.Lost))
		}
		if !row.Fixed && row.FPRLow > r.FPR {
			lines = append(lines, fmt.Sprintf("%s lets through more than was asked for: %s, at least %s.", row.Name, percent(row.FPR), percent(row.FPRLow)))
		}
		if n := row.Times["build"].N; n > 0 && n < r.Builds {
			lines = append(lines, fmt.Sprintf("%s was built %d of %d times: it takes long.", row.Name, n, r.Builds))
		}
	}
	return lines
}
