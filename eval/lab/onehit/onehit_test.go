package onehit

import (
	"compress/gzip"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/traffic"
	"github.com/bloomery/bloomery/filter"
)

// TestTrace replays a compressed trace, and requires an error for a trace that is missing, empty or too short.
func TestTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace")
	write := func(lines string) {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z := gzip.NewWriter(f)
		_, err = z.Write([]byte(lines))
		if e := z.Close(); err != nil || e != nil {
			t.Fatal(err, e)
		}
	}
	write(strings.Repeat("a\nb\na\nc\nb\na\n", 200))
	r, err := secondRequest.Do(t.Context(), experiment.Config{Quick: true, Trials: 1, Trace: path})
	if err != nil ||
		!slices.ContainsFunc(
			r.Rows,
			func(r figure.Row) bool { return strings.HasPrefix(r.Label, "trace, cache of 1%") },
		) {
		t.Errorf("no rows of the trace: %v", err)
	}
	for _, lines := range []string{"", strings.Repeat("a\nb\nc\n", 333)} {
		write(lines)
		if _, err := secondRequest.Do(t.Context(),
			experiment.Config{Quick: true, Trials: 1, Trace: path}); err == nil ||
			!strings.Contains(err.Error(), "at least 1000") {
			t.Errorf("a trace of %d bytes: %v", len(lines), err)
		}
	}
	if _, err := secondRequest.Do(t.Context(),
		experiment.Config{Quick: true, Trials: 1, Trace: path + "x"}); err == nil {
		t.Error("a trace that is not there")
	}
}

// TestOverTime requires that writes are the same before the middle, and fewer after it, with a filter.
func TestOverTime(t *testing.T) {
	s := traffic.Zipf(rand.New(rand.NewPCG(1, 2)), 50_000)
	all, err := writesOverTime(t.Context(), s, len(s.Requests), filter.NewHasher(1))
	if err != nil {
		t.Fatal(err)
	}
	filtered, err := writesOverTime(t.Context(), s, len(s.Requests)/2, filter.NewHasher(1))
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if i < windows/2 && all[i] != filtered[i] || i >= windows/2 && filtered[i] > 0.6*all[i] {
			t.Errorf("window %d: %g writes per request, %g with a filter", i, all[i], filtered[i])
		}
	}
}
