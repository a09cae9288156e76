package main

import (
	"strings"
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want spread
	}{
		{nil, spread{}},
		{[]float64{3}, spread{3, 3, 3, 1}},
		{[]float64{4, 2}, spread{3, 2.5, 3.5, 2}},
		{[]float64{5, 1, 2, 4, 3}, spread{3, 2, 4, 5}},
		{[]float64{10, 20, 30, 40}, spread{25, 17.5, 32.5, 4}},
	} {
		if got := spreadOf(c.v); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.v, got, c.want)
		}
	}
	if got := ratios([]float64{1, 6, 5}, []float64{2, 3}); len(got) != 2 || got[0] != 0.5 || got[1] != 2 {
		t.Errorf("ratios: %v", got)
	}
}

func TestVerdict(t *testing.T) {
	for want, all := range map[verdict][]spread{
		win:  {{0.9, 0.8, 0.95, 5}, {0.5, 0.5, 0.5, 1}},
		loss: {{1.2, 1.1, 1.3, 5}},
		even: {{0.9, 0.8, 1.01, 5}, {1.1, 0.99, 1.3, 5}, {0.98, 0.97, 0.99, 5}, {1, 1, 1, 1}},
		none: {{}},
	} {
		for _, s := range all {
			if got := s.verdict(); got != want {
				t.Errorf("%+v: %q, want %q", s, got, want)
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{1000: "1k", 100_000: "100k", 1_500_000: "1.5M", 20_000_000: "20M", 1_000_000_000: "1G", 1234567: "1234567"} {
		if got := countText(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
		if back, err := parseCount(want); err != nil || back != n {
			t.Errorf("%s: %d, %v", want, back, err)
		}
	}
	for v, want := range map[float64]string{0.0101: "1.01%", 0.00399: "0.399%", 0: "0", 1.5e-5: "0.00150%", 0.123: "12.3%"} {
		if got := percent(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0", 1.234: "1.23", 12.34: "12.3", 123.4: "123", 4567: "4567", 0.1234: "0.123"} {
		if got := digits(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
	if got := bytesText(2.5e9) + bytesText(12); got != "2.50 GB"+"12.0 B" {
		t.Error(got)
	}
	if rateText(0.01) != "1%" || rateText(0.001) != "0.1%" {
		t.Error(rateText(0.01), rateText(0.001))
	}
}

// TestTable checks that columns are aligned, and that the row of an omitted filter gives the reason.
func TestTable(t *testing.T) {
	r := Result{Run: Run{Keys: 1000}, FPR: 0.01, Rows: []Row{
		{Name: "a", BitsPerKey: 9.6, FPR: 0.01, FPRLow: 0.009, FPRHigh: 0.011, Hits: 100, Trials: 10_000, Times: map[string]spread{"build": {5, 4, 6, 3}}},
		{Name: "longer", LeftOut: "no room"},
	}}
	var b strings.Builder
	r.filters().writeText(&b, "")
	want := `filter  bits per key  bits / bound  rate (95% interval)             build  present  absent  present, batch  absent, batch  build memory
a               9.60          1.44  1.00% (0.900–1.10%)  5.00 (4.00–6.00)        –       –               –              –           0.0
longer  left out: no room
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	r.filters().writeMarkdown(&b, "---:")
	for i, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if n := strings.Count(line, "|"); n != 11 {
			t.Errorf("line %d has %d bars: %s", i, n, line)
		}
	}
	r.Rows[0].Ours, r.Rows[0].Lost = true, 1
	if r.lost() == nil || len(r.remarks()) != 1 {
		t.Errorf("a lost key is not told: %v", r.remarks())
	}
}

// TestLeaveOut checks that filters that do not fit into memory are omitted with a reason, the largest first.
func TestLeaveOut(t *testing.T) {
	small, large := &measured{contender: contender{name: "small"}}, &measured{contender: contender{name: "large"}}
	rows, needs := []*measured{small, large}, map[*measured]need{}
	needs[small], needs[large] = need{peak: 20, heap: 10}, need{peak: 500, heap: 400}
	leaveOut(rows, needs, 1000, 100)
	if small.leftOut != "" || large.leftOut != "" {
		t.Error("left out though there is room")
	}
	leaveOut(rows, needs, 300, 100)
	if small.leftOut != "" || !strings.HasPrefix(large.leftOut, "no room") {
		t.Errorf("%q, %q", small.leftOut, large.leftOut)
	}
}

func TestProgress(t *testing.T) {
	var b strings.Builder
	p := newProgress(&b, "1M")
	p.plan("a", "build", time.Minute, 3)
	p.begin("a", "build", "building")
	p.end()
	p.job("a", "build").skip()
	if left := p.left(); left > time.Second { // one repetition is left, as fast as the first
		t.Errorf("%v left", left)
	}
	p.shown = time.Time{}
	p.say("something")
	if got := b.String(); got != "1M keys, something, about 0s left\n" {
		t.Errorf("%q", got)
	}
}

func TestKeys(t *testing.T) {
	seen := map[uint64]bool{}
	for _, k := range append(keysFrom(0, 50_000), keysFrom(firstAbsent, 50_000)...) {
		seen[k] = true
	}
	if len(seen) != 100_000 {
		t.Errorf("%d distinct keys", len(seen))
	}
	keys := keysFrom(0, 1000)
	for _, n := range []int{10, 900, 1000, 2000} {
		part := map[uint64]bool{}
		for _, k := range some(keys, n) {
			part[k] = true
			if !seen[k] {
				t.Fatal("a key from elsewhere")
			}
		}
		if len(part) != min(n, 1000) {
			t.Errorf("%d of %d keys", len(part), n)
		}
	}
}
