package trial

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// Report holds all results.
type Report struct {
	Base     string // the contender that ratios relate to
	Turns    int
	Tables   []TableResult    `json:",omitempty"`
	Database []DatabaseResult `json:",omitempty"`
}

// Ratio is a time: its median over the turns in nanoseconds, the median of its ratios to the base in the same turn, and
// the smallest and the largest of these.
type Ratio struct {
	NS              float64
	Median          float64
	Lowest, Highest float64
}

// turns holds a time and its ratio to the base for each turn.
type turns struct{ ns, ratios []float64 }

func (t turns) ratio() Ratio {
	return Ratio{median(t.ns), median(t.ratios), slices.Min(t.ratios), slices.Max(t.ratios)}
}

func ratio(ns, base []float64) Ratio {
	t := turns{ns: ns}
	for i := range ns {
		t.ratios = append(t.ratios, ns[i]/base[i])
	}
	return t.ratio()
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[len(x)/2] + x[(len(x)-1)/2]) / 2
}

func (r Ratio) String() string {
	return fmt.Sprintf("%.0f · %.2f (%.2f–%.2f)", r.NS, r.Median, r.Lowest, r.Highest)
}

// Share is a number of trials and how many of them hit.
type Share struct{ Hits, Trials int }

// Value returns hits / trials.
func (s Share) Value() float64 { return float64(s.Hits) / float64(s.Trials) }

// String returns the share in percent and 1.96 standard errors.
func (s Share) String() string {
	p := s.Value()
	return fmt.Sprintf("%.3f%% ± %.3f", 100*p, 196*math.Sqrt(p*(1-p)/float64(s.Trials)))
}

// Markdown writes the report as tables.
func (r Report) Markdown(w io.Writer) error {
	var err error
	f := func(format string, a ...any) {
		if err == nil {
			_, err = fmt.Fprintf(w, format+"\n", a...)
		}
	}
	f("Times are nanoseconds of CPU · their ratio to %s in the same turn: median (lowest–highest) of %d turns.",
		r.Base, r.Turns)
	if len(r.Tables) > 0 {
		f("\n| keys | filter | bits per key | rate | of base | filter alone, a key | flush, a key | present key | absent key |")
		f("|---|---|---|---|---|---|---|---|---|")
		var base TableResult
		for _, t := range r.Tables {
			if t.Contender == r.Base {
				base = t
			}
			f("| %d | %s | %.2f | %v | %.2f | %v | %v | %v | %v |", t.Keys, t.Contender, t.Bits, t.Rate,
				t.Rate.Value()/base.Rate.Value(), t.Build, t.Flush, t.Present, t.Absent)
		}
	}
	if len(r.Database) > 0 {
		f("\n| filter | bits per key | load, a key | compaction, a key | missing | get | absent get | blocks | yes |" +
			" seek | absent seek | blocks | yes |")
		f("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
		for _, d := range r.Database {
			f("| %s | %.2f | %v | %v | %d | %v | %v | %.3f | %.5f | %v | %v | %.3f | %.5f |", d.Contender, d.Bits, d.Load,
				d.Compaction, d.Missing+d.Found, d.GetPresent.Time, d.GetAbsent.Time, d.GetAbsent.Blocks, d.GetAbsent.Yes,
				d.Seek.Time, d.SeekAbsent.Time, d.SeekAbsent.Blocks, d.SeekAbsent.Yes)
		}
		f("\n%d keys; tables by level after the load: %v.", r.Database[0].Keys, r.Database[0].Tables)
	}
	return err
}
