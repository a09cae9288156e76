package cli

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestProgressLine checks the text of the bar at several widths. It must never fill the whole line, and must keep the
// most important parts.
func TestProgressLine(t *testing.T) {
	p := &Progress{}
	p.Read.Store(450)
	p.Keys.Store(7_180_000)
	p.Rate.Store(math.Float64bits(0.00724))
	for columns, want := range map[int]string{
		20:  "searching  45%",
		30:  "searching  45% 13s left",
		40:  "searching  45% 13s left, 718k keys/s",
		60:  "searching  45% █████████░░░░░░░░░░░░ 13s left, 718k keys/s",
		80:  "searching  45% ██████████░░░░░░░░░░░░░░ 13s left, 718k keys/s, rate 0.724%",
		200: "searching  45% ██████████░░░░░░░░░░░░░░ 13s left, 718k keys/s, rate 0.724%",
	} {
		if got := p.lineOf("searching", 1000, 10*time.Second, columns); got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
	if got := p.lineOf("reading", -1, 10*time.Second, 80); got != "reading 718k keys/s, rate 0.724%" {
		t.Errorf("unknown size: %q", got)
	}
	long := "12 of 34, partitioned-hashing-figure-9 with a name beyond all measure"
	for columns := 1; columns < 130; columns++ {
		for _, size := range []int64{-1, 1, 451, 1 << 60} {
			for _, since := range []time.Duration{time.Millisecond, time.Hour, 1000 * time.Hour} {
				line := p.lineOf(long, size, since, columns)
				if n := utf8.RuneCountInString(line); n > max(columns-1, 5) || strings.ContainsAny(line, "\n\r") {
					t.Fatalf("%d columns, size %d: %d runes, %q", columns, size, n, line)
				}
			}
		}
	}
}

// TestTimeLeft checks the time left at the start and at the end of short and long work.
func TestTimeLeft(t *testing.T) {
	for _, c := range []struct {
		size, read int64
		since      time.Duration
		want       string
	}{
		{0, 5, time.Second, ""}, {-1, 5, time.Second, ""}, {100, 0, time.Second, ""}, {100, 50, time.Second, "1s left"},
		{100, 100, time.Second, "0s left"}, {100, 110, time.Second, "0s left"}, {100, 1, time.Second, "99s left"},
		{1000, 1, time.Second, "17m left"}, {100_000, 1, time.Second, "28h left"}, {1 << 62, 1, time.Hour, ""},
	} {
		if got := timeLeft(c.size, c.read, c.since); got != c.want {
			t.Errorf("%d of %d after %v: %q, want %q", c.read, c.size, c.since, got, c.want)
		}
	}
}

// TestShort checks that times are rounded up to the next unit.
func TestShort(t *testing.T) {
	for v, want := range map[float64]string{999: "999", 999.7: "1k", 999_700: "1M", 7_180_000: "7.18M", 12: "12"} {
		if got := Short(v); got != want {
			t.Errorf("Short(%g) = %s, want %s", v, got, want)
		}
	}
}
