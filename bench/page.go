package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// writePage writes the result as a page of Markdown that stands by itself beside its pictures.
func (r Result) writePage(w io.Writer, name string) {
	fmt.Fprintf(w, "# %s keys, %s asked for\n\n", countText(r.Keys), rateText(r.FPR))
	fmt.Fprintf(w, "Measured on %s: %s, %d cores, %s", r.Date, r.Machine, r.Cores, r.Go)
	if r.Commit != "" {
		fmt.Fprintf(w, ", commit %s", r.Commit)
	}
	fmt.Fprintf(w, ", in %v. Again: `cd bench && %s`. All numbers: [%s.json](%s.json).\n\n",
		time.Duration(r.Seconds*1e9).Round(time.Second), r.Command, name, name)

	r.writeSummary(w)

	fmt.Fprintf(w, "## The filters\n\nNanoseconds a key, medians with the middle half (quartiles) of the turns; build memory in bytes a key. The\nbound is log2(1/rate) bits a key: no filter of any keys takes fewer for the rate that was observed.\n\n")
	r.filters().writeMarkdown(w, "---:")
	if remarks := r.remarks(); len(remarks) > 0 {
		fmt.Fprintf(w, "\n- %s\n", strings.Join(remarks, "\n- "))
	}
	for _, p := range r.plots() {
		fmt.Fprintf(w, "\n![%s](%s.svg)\n", p.Title, p.Name)
	}
	fmt.Fprintf(w, "\nThe map is not in the pictures: it takes several times the bits of all others.\n\n")

	fmt.Fprintf(w, "## Ours against theirs\n\nRatios of times within the same turns, medians with their middle half; of bits, and of the memory of a build. Below 1 is for us.\n")
	fmt.Fprintf(w, "A peer without batches is asked key by key beside ours in batches.\n\n")
	r.against().writeMarkdown(w, "---:")

	fmt.Fprintf(w, "\n## What each was told\n\n")
	r.told().writeMarkdown(w, "---")
	fmt.Fprintf(w, "\n%s", r.method())
}

// writeSummary says in words what the ratios say, losses before wins.
func (r Result) writeSummary(w io.Writer) {
	fmt.Fprintf(w, "## In words\n\nA time is lost or won if the middle half of its ratios, ours over theirs, lies on one side of 1 and the median is off by more\nthan %s. What is not named is even.\n\n", rateText(closeTo))
	writeList(w, "Slower than the peer", r.with(loss))
	writeList(w, "Faster than the peer", r.with(win))
	larger, smaller := r.sizes()
	writeList(w, "More bits than the peer", larger)
	writeList(w, "Fewer bits than the peer", smaller)
}

// with lists the pairs that have operations with a verdict, and those.
func (r Result) with(v verdict) (lines []string) {
	for _, p := range r.Pairs {
		var parts []string
		for _, op := range operations {
			if s := p.Ratios[op]; s.verdict() == v {
				parts = append(parts, fmt.Sprintf("%s %.2f", strings.ReplaceAll(op, ", batch", " in batches"), s.Median))
			}
		}
		if len(parts) > 0 {
			lines = append(lines, fmt.Sprintf("%s beside %s: %s", p.Ours, p.Peer, strings.Join(parts, ", ")))
		}
	}
	return lines
}

// sizes says which of ours are larger and smaller than their peers, with the rates, without which sizes say nothing.
func (r Result) sizes() (larger, smaller []string) {
	rates := map[string]string{}
	for _, row := range r.Rows {
		rates[row.Name] = percent(row.FPR)
	}
	for _, p := range r.Pairs {
		text := fmt.Sprintf("%s beside %s: %.2f, with a rate of %s beside %s", p.Ours, p.Peer, p.Bits, rates[p.Ours], rates[p.Peer])
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

// method says how it was measured.
func (r Result) method() string {
	return fmt.Sprintf(`## How it was measured

- One process, the same %d distinct 64-bit keys for all, random to look at; absent keys come from the same one-to-one mapping, so that
  none of them is present. Every library hashes within the measured time, with its own hash; those that take bytes get eight in a buffer
  that is used again. Holiman and z.Bloom leave hashing to the caller, and are given the key as its hash.
- Queries: %d keys a measurement, present ones from all over the filter in random order, CPU time of one locked thread, a collection
  before each. In each of the %d turns all filters are asked, in an order drawn anew; a ratio is of two times of one turn.
- Every filter is asked through its own type in a loop of its own, none through an interface, and none of those loops is inlined: the
  compiler would inline the query in some of them and not in others. Batches of ours are of 256 keys, through `+"`filter.Batcher`"+`.
- Where a loop comes to lie in the program matters as well, and no number of turns shows it: in another build of this program a time may
  be some per cent off, and one loop that lies badly was seen to take 2.7 times as long.
- Builds: up to %d turns in the same way, on one core (GOMAXPROCS=1), CPU time of the whole process, so that workers and the collector
  count. On several cores ours may take less time than this, fewer CPU seconds never. A filter whose builds take long is built less often.
- Times: %s. Intervals are the middle half of the turns (first and third quartile).
- Bits are those of the filter's arrays, as the library tells them or its layout says: 8 bits a fingerprint for cuckoofilter, 4 a counter
  for BoomFilters; of the map, the heap that it keeps. A test holds them against the heap.
- Build memory is the peak of the heap (objects in use or not yet collected) above that before the build, in a build of its own with
  nothing else alive, looked at every millisecond, the collector running at each tenth that the heap grows.
- Rates: false positives among %d absent keys or more, with the exact 95%% interval (Clopper and Pearson). Every filter was asked for all of its keys.
`, r.Keys, r.Asked, r.Turns, r.Builds, r.Clock, r.trials())
}

// trials returns the least number of absent keys that a filter was asked for its rate.
func (r Result) trials() (least uint64) {
	for _, row := range r.Rows {
		if row.Trials > 0 && (least == 0 || row.Trials < least) {
			least = row.Trials
		}
	}
	return least
}
