package main

import (
	"fmt"
	"io"
	"strings"
)

// writePage writes the result as a Markdown page that refers to the plots.
func (r Result) writePage(w io.Writer) error {
	r.writeHeading(w, "target rate "+rateText(r.FPR))
	r.writeSummary(w)

	fmt.Fprint(w, `## Filters

Times are in nanoseconds per key: the median of the turns, with the first and third quartile. Build memory is in bytes per
key. The bound is log2(1/rate) bits per key at the observed rate. No filter that takes arbitrary keys needs fewer bits.

`)
	r.filters().writeMarkdown(w, "---:")
	if remarks := r.remarks(); len(remarks) > 0 {
		fmt.Fprintf(w, "\n- %s\n", strings.Join(remarks, "\n- "))
	}
	for _, p := range r.plots() {
		fmt.Fprintf(w, "\n![%s](%s.svg)\n", p.Title, p.Name)
	}
	fmt.Fprint(w, `
The map is not in the plots: it needs several times the bits of all others.

## Ratios

Ratios (ours / theirs) of times within the same turn (median, with the first and third quartile), of bits, and of build
memory. Below 1, ours is better. If the peer has no batch queries, our batch queries are compared with its single queries.

`)
	r.against().writeMarkdown(w, "---:")

	fmt.Fprintf(w, "\n## Parameters\n\n")
	r.told().writeMarkdown(w, "---")
	_, err := fmt.Fprintf(w, "\n%s", r.method())
	return err
}

// writeSummary lists the pairs by verdict, slower pairs first.
func (r Result) writeSummary(w io.Writer) {
	fmt.Fprintf(w, `## Summary

A time is listed as slower or faster if the middle half of its ratios (ours / theirs) lies on one side of 1 and the median
differs from 1 by more than %s. Times that are not listed are even.

`, rateText(closeTo))
	writeList(w, "Slower than the peer", r.with(loss))
	writeList(w, "Faster than the peer", r.with(win))
	larger, smaller := r.sizes()
	writeList(w, "More bits than the peer", larger)
	writeList(w, "Fewer bits than the peer", smaller)
}

// with returns a line for each pair that has operations with verdict v. The line names the operations.
func (r Result) with(v verdict) (lines []string) {
	for _, p := range r.Pairs {
		if text := operationsWith(v, p.Ratios); text != "" {
			lines = append(lines, fmt.Sprintf("%s vs %s: %s", p.Ours, p.Peer, text))
		}
	}
	return lines
}

// operationsWith returns the operations with verdict v and their ratios, or "".
func operationsWith(v verdict, ratios map[string]spread) string {
	var parts []string
	for _, op := range operations {
		if s := ratios[op]; s.verdict() == v {
			parts = append(parts, fmt.Sprintf("%s %.2f", strings.ReplaceAll(op, ", batch", " in batches"), s.Median))
		}
	}
	return strings.Join(parts, ", ")
}

// sizes lists our filters that are larger and smaller than their peers, with the rates of both.
func (r Result) sizes() (larger, smaller []string) {
	rates := r.rates()
	for _, p := range r.Pairs {
		text := fmt.Sprintf("%s vs %s: %.2f, at a rate of %s vs %s", p.Ours, p.Peer, p.Bits, rates[p.Ours], rates[p.Peer])
		switch {
		case p.Bits > 1.005:
			larger = append(larger, text)
		case p.Bits < 0.995:
			smaller = append(smaller, text)
		}
	}
	return larger, smaller
}

func writeList(w io.Writer, title string, lines []string) {
	if len(lines) == 0 {
		lines = []string{"none"}
	}
	fmt.Fprintf(w, "**%s**\n\n- %s\n\n", title, strings.Join(lines, "\n- "))
}

// method returns the section that describes the measurement.
func (r Result) method() string {
	return fmt.Sprintf(`## Method

- Keys: one process, the same %d distinct pseudo-random 64-bit keys for all filters. Absent keys come from the same
  bijection, so that none of them is present.
- Hashing: the measured time includes each library's own hash. Libraries that take bytes get 8 bytes in a reused buffer.
  Holiman and z.Bloom leave hashing to the caller and get the key as its hash.
- Queries: %d keys per measurement. Present keys are a random sample in random order. Before each measurement the
  garbage collector runs. In each of the %d turns all filters are queried in a new random order. A ratio compares two
  times of the same turn.
- Loops: ours are sets as users build and ask them: Build, Keyed[uint64].Contains, and ContainsMany with 256 keys. Peers
  are queried through their own types, not through an interface. The loops are not inlined, because the compiler would
  inline the query in some of them only.
- Alignment: the position of a loop in the program changes its time, and more turns do not show this. In another build of
  this program a time may differ by a few per cent. The largest difference seen was a factor of 2.7.
- Builds: up to %d turns in the same way, on one core (GOMAXPROCS=1). The time is the CPU time of the whole process, with
  workers and garbage collector. On several cores our builds may take less wall time, but not less CPU time. A filter with
  long builds is built fewer times.
- Clock: %s.
  Intervals are the first and third quartile of the turns.
- Bits are of the filter's arrays, as reported by the library or computed from its layout: 8 bits per fingerprint for
  cuckoofilter, 4 bits per counter for BoomFilters. For the map they are of its heap. A test compares them with the
  heap.
- Build memory is the peak of the heap (objects in use or not yet collected) minus the heap before the build, read every
  millisecond in a build with no other filter in memory. The garbage collector runs whenever the heap has grown by 10%%.
- Rates: false positives among at least %d absent keys, with the exact 95%% interval (Clopper and Pearson).
  Every filter was also queried for all of its keys.
`, r.Keys, r.Asked, r.Turns, r.Builds, r.Clock, r.trials())
}

// trials returns the smallest number of absent keys with which the rate of a filter was measured.
func (r Result) trials() (least uint64) {
	for _, row := range r.Rows {
		if row.Trials > 0 && (least == 0 || row.Trials < least) {
			least = row.Trials
		}
	}
	return least
}
