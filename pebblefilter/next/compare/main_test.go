package main

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/pebblefilter/internal/trial"
)

// TestRun compares all contenders in tables and databases of few keys.
func TestRun(t *testing.T) {
	args := []string{"--keys", "3000", "--tables", "100,2000", "--turns", "2", "--queries", "2000"}
	var out strings.Builder
	if err := run(&out, io.Discard, append(args, "--json")); err != nil {
		t.Fatal(err)
	}
	var r trial.Report
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Tables) < 2*len(trial.Specs) || len(r.Database) < 5 {
		t.Fatalf("%d results of tables, %d of databases", len(r.Tables), len(r.Database))
	}
	for _, x := range r.Tables {
		if x.Bits < 5 || x.Bits > 30 || x.Rate.Trials != 4000 || x.Rate.Value() > 0.1 || x.Flush.NS <= 0 ||
			x.Absent.NS <= 0 {
			t.Errorf("%+v", x)
		}
	}
	for _, x := range r.Database {
		if x.Bits < 5 || x.Missing+x.Found > 0 || x.SeekAbsent.Yes > 0.1 || x.SeekAbsent.No < 0.9 ||
			x.GetPresent.Blocks <= 0 {
			t.Errorf("%+v", x)
		}
	}
	out.Reset()
	err := run(&out, io.Discard, append(args, "--only", "fuse"))
	if err != nil || !strings.Contains(out.String(), "| fuse(") || strings.Contains(out.String(), "| blocked(") {
		t.Errorf("%v: %s", err, out.String())
	}
	for _, bad := range [][]string{{"--tables", "many"}, {"--turns", "0"}, {"--what"}} {
		if err := run(io.Discard, io.Discard, bad); err == nil {
			t.Errorf("%v is no error", bad)
		}
	}
}
