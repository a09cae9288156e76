//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/window"
)

// TestTrialDedup kills dedup at random moments, or ends it with SIGTERM, and starts it again on the same rows and some
// new ones. The state must always be complete. It may contain only keys whose rows were printed, so that in the end all
// rows are printed, and no row may be printed whose key is in the state. Rates are so low that a false positive would
// be an error.
func TestTrialDedup(t *testing.T) {
	rounds := 8
	if *long {
		rounds = 100
	}
	room := fmt.Sprint((rounds + 2) * newRows) // for all keys, but not more, because the state is saved all the time
	for name, args := range map[string][]string{
		"all":   {"--fpr", "1e-9"},
		"fixed": {"--fpr", "1e-9", "--keys", room},
		"ttl":   {"--fpr", "1e-9", "--keys", room, "--ttl", "24h"},
		"time": {"--fpr", "1e-9", "--keys", room, "--ttl", "24h", "--input-format", "csv",
			"--time-column", "2", "--column", "1"},
	} {
		t.Run(name, func(t *testing.T) { trialDedup(t, rounds, args) })
	}
}

// newRows is the number of rows that are appended to the input in each round.
const newRows = 8_000

func trialDedup(t *testing.T, rounds int, args []string) {
	dir := t.TempDir()
	state, input := filepath.Join(dir, "seen.state"), filepath.Join(dir, "rows")
	args = append([]string{"dedup", "--state", state, "--save", "2ms", input}, args...)
	csv := slices.Contains(args, "csv")
	printed := map[string]bool{}
	var rows strings.Builder
	var killed, ended, repeated, whole int
	most := 50 * time.Millisecond
	for round := 0; ; round++ {
		last := round == rounds
		for i := range newRows {
			fmt.Fprintf(&rows, "key-%d,%d\n", round*newRows+i-rand.IntN(newRows)*rand.IntN(2), 1_700_000_000+round)
		}
		mustWrite(t, input, rows.String())
		known := remembers(t, state)
		out := filepath.Join(dir, "out")
		how := syscall.SIGKILL
		if round%4 == 3 {
			how = syscall.SIGTERM
		}
		start := time.Now()
		code := runUntil(t, out, args, how, rand.N(most), last)
		switch {
		case code == 0:
			most = (most + 3*time.Since(start)) / 4
			whole++
		case code < 0:
			killed++
		case code == 143:
			ended++
		default:
			t.Fatalf("round %d: exit code %d", round, code)
		}
		b := mustRead(t, out)
		lines := strings.SplitAfter(string(b), "\n") // the last one is empty or incomplete
		now := map[string]bool{}
		for _, line := range lines[:len(lines)-1] {
			key := keyOf(csv, line)
			if known(key) {
				t.Fatalf("round %d: %s is printed again, though the state had it", round, key)
			}
			if printed[key] {
				repeated++
			}
			printed[key], now[key] = true, true
		}
		knows := remembers(t, state)
		seen := map[string]bool{}
		for line := range strings.Lines(rows.String()) {
			key := keyOf(csv, line)
			seen[key] = true
			if !printed[key] && (last || knows(key)) {
				t.Fatalf("round %d: %s is in the state and was not printed", round, key)
			}
			if (code == 0 || code == 143) && now[key] && !knows(key) {
				t.Fatalf("round %d: %s was printed, and is not in the state after exit code %d", round, key, code)
			}
		}
		if last {
			if len(printed) != len(seen) {
				t.Errorf("%d keys were printed of %d", len(printed), len(seen))
			}
			break
		}
	}
	if killed == 0 || *long && killed < rounds/4 {
		t.Errorf("only %d kills", killed)
	}
	t.Logf("%d killed, %d ended by SIGTERM, %d went on to the end, %d rows printed twice of %d keys", killed, ended,
		whole, repeated, len(printed))
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 4 { // rows, out, seen.state and its lock
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// keyOf returns the key of a row: the whole row, or the first field of CSV.
func keyOf(csv bool, line string) string {
	line = strings.TrimSuffix(line, "\n")
	if csv {
		line, _, _ = strings.Cut(line, ",")
	}
	return line
}

// runUntil runs the command with its output in a file. Unless last is true, it sends the command a signal after the
// given time. It returns the exit code, or -1 if the signal killed the command.
func runUntil(t *testing.T, out string, args []string, how syscall.Signal, after time.Duration, last bool) int {
	t.Helper()
	f, err := os.Create(out)
	must(t, err)
	defer f.Close()
	var says strings.Builder
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Args = append([]string{"bloomery"}, args...)
	cmd.Stdout, cmd.Stderr = f, &says
	must(t, cmd.Start())
	if !last {
		time.Sleep(after)
		_ = cmd.Process.Signal(how)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code > 0 && code != 143 {
		t.Fatalf("exit code %d: %s", code, says.String())
	}
	return cmd.ProcessState.ExitCode()
}

// remembers returns a function that reports whether the state at a path contains the key of a row. If the state exists,
// it must be complete.
func remembers(t *testing.T, path string) func(line string) bool {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		return func(string) bool { return false }
	}
	set, err := bloomery.Open(t.Context(), path, bloomery.InMemory())
	if err == nil {
		return set.ContainsString
	}
	clock := func() time.Time { return time.Time{} } // the clock does not move
	for _, c := range []window.Config{{EventTime: true}, {Clock: clock}} {
		var w *window.Filter[string]
		if w, err = window.Open[string](t.Context(), path, c); err == nil {
			return w.Contains
		}
	}
	t.Fatalf("the state: %v", err)
	return nil
}
