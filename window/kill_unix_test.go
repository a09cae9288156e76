//go:build unix

package window

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// killEnv names the file that a process started by TestKilledSave keeps saving, and the number of the round, with a
// space between them.
const killEnv = "BLOOMERY_TEST_SAVE"

// killedKeys is the largest number of keys that such a process adds.
const killedKeys = 10_000

var killedConfig = Config{Keys: 100 * killedKeys, TTL: 24 * time.Hour}

// killedKey returns key i of a round. Keys of round -1 are never added.
func killedKey(round, i int) uint64 { return uint64(round)<<32 | uint64(i) }

// saveForEver opens or creates a filter, adds keys, and saves it at the same time. After each Save it prints the number
// of keys that it had added when the Save began.
func saveForEver(t *testing.T, round int, path string) {
	f, err := Open[uint64](t.Context(), path, killedConfig)
	if errors.Is(err, os.ErrNotExist) && round == 0 {
		f, err = New[uint64](killedConfig)
	}
	check(t, err)
	var added atomic.Int64
	go func() {
		for i := range killedKeys {
			if _, err := f.TestAndAdd(killedKey(round, i)); err != nil {
				panic(err)
			}
			if added.Store(int64(i + 1)); i%50 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
	}()
	for {
		n := added.Load()
		check(t, f.Save(t.Context(), path))
		fmt.Printf("saved %d\n", n)
	}
}

// TestKilledSave kills a process that adds keys and saves the filter repeatedly, at random moments, and starts another
// process on the file. The file must be complete each time, and contain all keys that any process added before a Save
// that returned, and no others beyond the false-positive rate. At most one temporary file may remain, which the next
// Save must remove.
func TestKilledSave(t *testing.T) {
	if text := os.Getenv(killEnv); text != "" {
		number, path, _ := strings.Cut(text, " ")
		round := must(strconv.Atoi(number))
		saveForEver(t, round, path)
	}
	path := filepath.Join(t.TempDir(), "seen.window")
	rounds := 10
	if *long {
		rounds = 100
	}
	var saved []int // keys of each round that were reported
	total, left := 0, 0
	for round := range rounds {
		n := killedSaves(t, round, path)
		saved = append(saved, n)
		total += n
		entries, err := os.ReadDir(filepath.Dir(path))
		if err != nil || len(entries) > 2 {
			t.Fatalf("kill %d: %v, %v", round, entries, err)
		}
		left += len(entries) - 1
		f, err := Open[uint64](t.Context(), path, Config{})
		if err != nil {
			t.Fatalf("kill %d: %v", round, err)
		}
		checkKilled(t, f, saved)
	}
	f, err := Open[uint64](t.Context(), path, Config{})
	if err == nil {
		err = f.Save(t.Context(), path)
	}
	check(t, err)
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("left behind by a Save that was not killed: %v, %v", entries, err)
	}
	t.Logf("%d kills, %d of them left a temporary file; %d keys in saves that returned", rounds, left, total)
	if total == 0 {
		t.Error("no process was killed after it had saved a key")
	}
}

// killedSaves starts a process, kills it at a random moment, and returns the number of keys in its last Save that
// returned. It waits for a first Save, except in every fifth round, whose process may be killed before.
func killedSaves(t *testing.T, round int, path string) (keys int) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledSave$")
	cmd.Env = append(os.Environ(), fmt.Sprint(killEnv, "=", round, " ", path))
	out, err := cmd.StdoutPipe()
	check(t, err)
	switch err = cmd.Start(); {
	case errors.Is(err, syscall.ENOEXEC):
		t.Skip("the system starts no programs for this processor, only an emulator does:", err)
	case err != nil:
		t.Fatal(err)
	}
	stuck := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	var printed strings.Builder
	if round%5 != 4 {
		first := make([]byte, len("saved"))
		if _, err := io.ReadFull(out, first); err != nil || string(first) != "saved" {
			_ = cmd.Process.Kill()
			rest, _ := io.ReadAll(out)
			t.Fatalf("round %d: the process said %s%s: %v, %v", round, first, rest, err, cmd.Wait())
		}
		printed.Write(first)
	}
	time.Sleep(rand.N(80 * time.Millisecond))
	check(t, cmd.Process.Kill())
	must(io.Copy(&printed, out))
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() || !stuck.Stop() {
		t.Fatalf("round %d: the process ended by itself, or not for a minute: %v, %s", round, err, &printed)
	}
	for line := range strings.Lines(printed.String()) {
		if text, whole := strings.CutSuffix(line, "\n"); whole {
			if _, err := fmt.Sscanf(text, "saved %d", &keys); err != nil {
				t.Fatalf("round %d: the process said %q", round, text)
			}
		}
	}
	return keys
}

// checkKilled queries the keys of each round that must be present, and other keys.
func checkKilled(t *testing.T, f *Filter[uint64], saved []int) {
	t.Helper()
	for round, n := range saved {
		for i := range n {
			if !f.Contains(killedKey(round, i)) {
				t.Fatalf("kill %d: key %d of %d of round %d is lost", len(saved)-1, i, n, round)
			}
		}
	}
	const asked = 20_000
	found := 0
	for i := range asked {
		if f.Contains(killedKey(-1, i)) {
			found++
		}
	}
	if most := asked*DefaultFPR + 5*math.Sqrt(asked*DefaultFPR); float64(found) > most {
		t.Errorf("kill %d: %d of %d keys that were never added are present, want at most %.0f",
			len(saved)-1, found, asked, most)
	}
}
