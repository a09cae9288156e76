package figure

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bloomery/bloomery/eval/plot"
)

// textWidth is the width of a printed table in characters. Notes are wrapped to it; long labels may exceed it.
const textWidth = 110

// WriteText writes the result as a table of aligned columns, its notes, and the captions of its plots. The columns of
// the comparison are left out if no row is compared. The notes of rows are a column if all of them fit into the width,
// otherwise lines below their rows.
func (r Result) WriteText(w io.Writer) error {
	cells := [][]string{{"label", r.Heading(), "measured", "95% interval", "agrees"}}
	for _, row := range r.Rows {
		cells = append(cells,
			[]string{oneLine(row.Label), row.published(), rounded(row.Measured), row.interval(), row.verdict()})
	}
	if !slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Published != nil }) {
		for i, line := range cells {
			cells[i] = []string{line[0], line[2], line[3]}
		}
	}
	wide := make([]int, len(cells[0]))
	for _, line := range cells {
		for i, c := range line {
			wide[i] = max(wide[i], utf8.RuneCountInString(c))
		}
	}
	left, longest := 2, 0
	for _, n := range wide {
		left += n + 2
	}
	for _, row := range r.Rows {
		longest = max(longest, utf8.RuneCountInString(oneLine(row.Note)))
	}
	column := left+longest <= textWidth

	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s): %s, seed %d\n", r.Name, r.Source, counted(r.Trials, "trial"), r.Seed)
	for i, line := range cells {
		note := ""
		if i > 0 {
			note = oneLine(r.Rows[i-1].Note)
		}
		text := ""
		for j, cell := range line {
			if title := cells[0][j]; title == r.Heading() || title == "measured" { // numbers end in the same column
				text += fmt.Sprintf("  %*s", wide[j], cell)
			} else {
				text += fmt.Sprintf("  %-*s", wide[j], cell)
			}
		}
		if column {
			text += "  " + note
		}
		fmt.Fprintln(&b, strings.TrimRight(text, " "))
		if !column {
			writeWrapped(&b, note, "      ", "      ")
		}
	}
	for _, n := range r.Notes {
		writeWrapped(&b, n, "  * ", "    ")
	}
	for _, p := range r.Plots {
		writeWrapped(&b, oneLine(p.Title), "  plot: ", "    ")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeWrapped writes a text wrapped to textWidth. first is the indent of the first line, others the indent of the
// other lines.
func writeWrapped(b *strings.Builder, text, first, others string) {
	line, indent := "", first
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(indent+line+" "+word) > textWidth {
			fmt.Fprintln(b, indent+line)
			line, indent = "", others
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		fmt.Fprintln(b, indent+line)
	}
}

// oneLine replaces every run of white space by one space.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// published formats the published value; it returns "" if there is none.
func (r Row) published() string {
	if r.Published == nil {
		return ""
	}
	return rounded(*r.Published)
}

// interval formats the interval. It returns "" for a value that is exact or was measured once.
func (r Row) interval() string {
	if r.Low == r.High || math.IsNaN(r.Low) || math.IsNaN(r.High) {
		return ""
	}
	return rounded(r.Low) + " to " + rounded(r.High)
}

// verdict returns "yes" if the row agrees with its published value, "NO" if not, and "" without a published value.
func (r Row) verdict() string {
	switch {
	case r.Agrees == nil:
		return ""
	case *r.Agrees:
		return "yes"
	}
	return "NO"
}

// rounded formats a value with four significant digits. Whole numbers, and numbers from 10,000 on, get all digits
// before the decimal point.
func rounded(v float64) string {
	if size := math.Abs(v); size < 1e15 && (size >= 1e4 || v == math.Trunc(v)) {
		return strconv.FormatFloat(v+0, 'f', 0, 64) // + 0 turns -0 into 0
	}
	return plot.Short(v)
}

// counted formats a number of things: "1 trial", "2 trials".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
