package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilter delivers the mail of valid senders only.
func TestFilter(t *testing.T) {
	valid := filepath.Join(t.TempDir(), "valid")
	if err := os.WriteFile(valid, []byte("ada@example.org\nben@example.org\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	mails := "ada@example.org\tLunch?\neve@example.com\tPills!\nben@example.org\tDinner?\n"
	var out, log strings.Builder
	err := run(t.Context(), []string{"-valid", valid, "-spec", "standard(fpr=1e-9)"}, strings.NewReader(mails), &out, &log)
	if want := "ada@example.org\tLunch?\nben@example.org\tDinner?\n"; err != nil || out.String() != want {
		t.Errorf("delivered %q, %v", out.String(), err)
	}
	if !strings.Contains(log.String(), "2 of 3 mails delivered\n") {
		t.Errorf("counts %q", log.String())
	}
}

// TestNumbers requires the numbers of the slides: all valid mail passes, and 2.16% of the spam.
func TestNumbers(t *testing.T) {
	for spec, want := range map[string]float64{"standard(bits_per_key=8)": 0.02158, "ribbon(r=8)": 1. / 256} {
		const n = 200_000
		var log strings.Builder
		err := run(t.Context(), []string{"-addresses", fmt.Sprint(n), "-spec", spec}, strings.NewReader(""), nil, &log)
		if err != nil {
			t.Fatal(err)
		}
		_, counts, _ := strings.Cut(log.String(), "\n")
		var valid, spam, of int
		var percent float64
		_, err = fmt.Sscanf(counts, "valid: %d of %d mails delivered, %f%%\nspam: %d of", &valid, &of, &percent, &spam)
		if err != nil || valid != n {
			t.Errorf("%s: %s, %v", spec, log.String(), err)
		}
		// The fill varies too, by 0.5% of the rate.
		if sigma := math.Sqrt(n*want) + 0.005*n*want; math.Abs(float64(spam)-n*want) > 4*sigma {
			t.Errorf("%s: %d of %d spam mails are delivered, %.0f expected", spec, spam, n, n*want)
		}
	}
}

// TestUsage refuses arguments that are no flags.
func TestUsage(t *testing.T) {
	if err := run(t.Context(), []string{"mails"}, nil, nil, nil); err == nil || !strings.Contains(err.Error(), "usage") {
		t.Errorf("error %v", err)
	}
}
