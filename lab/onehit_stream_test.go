package lab

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/internal/figure"
)

// TestTrace replays a compressed file, and fails on one that is not there, empty or too short.
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
	r, err := onehit.Do(t.Context(), Config{Quick: true, Trials: 1, Trace: path})
	if err != nil || !slices.ContainsFunc(r.Rows, func(r figure.Row) bool { return strings.HasPrefix(r.Label, "trace, cache of 1%") }) {
		t.Errorf("no rows of the trace: %v", err)
	}
	for _, lines := range []string{"", strings.Repeat("a\nb\nc\n", 333)} {
		write(lines)
		if _, err := onehit.Do(t.Context(), Config{Quick: true, Trials: 1, Trace: path}); err == nil || !strings.Contains(err.Error(), "at least 1000") {
			t.Errorf("a trace of %d bytes: %v", len(lines), err)
		}
	}
	if _, err := onehit.Do(t.Context(), Config{Quick: true, Trials: 1, Trace: path + "x"}); err == nil {
		t.Error("a trace that is not there")
	}
}

// TestCores wants the same results on one core and on several.
func TestCores(t *testing.T) {
	all := []Experiment{plankFindinck, sahaSpam, plankTester, sahaUniversal, onehit, hashesTable}
	if testing.Short() {
		all = all[:2]
	}
	for _, e := range all {
		run := func(cores int) figure.Result {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			r, err := e.Do(t.Context(), Config{Quick: true, Trials: 2, Seed: 5})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if !reflect.DeepEqual(run(1), run(4)) {
			t.Errorf("%s: other results on other cores", e.Name)
		}
	}
}
