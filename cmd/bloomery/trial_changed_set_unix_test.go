//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
)

// TestTrialChangedSetKills kills commands that change a sharded set at random moments. Afterwards the folder must
// contain the complete old or new set, byte for byte, and the next command must leave no other files.
func TestTrialChangedSetKills(t *testing.T) {
	rounds := 8
	if *long {
		rounds = 200
	}
	dir := t.TempDir()
	old, path := filepath.Join(dir, "old"), filepath.Join(dir, "set")
	keys := trialKeys("old", 2000)
	args := []string{"build", "--shards", "16", "-o", old, "--spec", "counting(capacity=400000)"}
	mustProgram(t, keys, args...)
	restore := func() {
		t.Helper()
		must(t, errors.Join(os.RemoveAll(path), os.CopyFS(path, os.DirFS(old))))
	}
	kills, replaced := 0, 0
	for name, c := range map[string]change{
		"add":    {[]string{"add", path}, trialKeys("new", 2000)},
		"remove": {[]string{"remove", path}, trialKeys("old", 500)},
	} {
		restore()
		start := time.Now()
		mustProgram(t, c.keys, c.args...)
		took := time.Since(start)
		files := entriesOf(t, path)
		next := manifestOf(t, path)
		restore()
		for round := range rounds {
			if killed(t, program(c.keys, c.args...), took, false) {
				kills++
			}
			set, err := bloomery.Open(t.Context(), path)
			if err == nil {
				err = errors.Join(set.Check(t.Context(), nil), set.Close())
			}
			got := manifestOf(t, path)
			if err != nil || got != manifestOf(t, old) && got != next {
				t.Fatalf("%s, kill %d: the folder has neither the old nor the new set: %v", name, round, err)
			}
			if got == next {
				replaced++
				restore()
			}
		}
		left := len(entriesOf(t, path))
		mustProgram(t, c.keys, c.args...)
		if now := entriesOf(t, path); !slices.Equal(now, files) || manifestOf(t, path) != next {
			t.Errorf("%s after the kills gives %q, want %q", name, now, files)
		}
		t.Logf("%s: %d files after %d rounds, %d after the next writer", name, left, rounds, len(files))
	}
	t.Logf("%d kills; %d times the set was already the new one", kills, replaced)
}

func manifestOf(t *testing.T, dir string) string {
	t.Helper()
	b := mustRead(t, filepath.Join(dir, "manifest.json"))
	return string(b)
}

// TestTrialShardRaces adds keys to one sharded set from several processes at once while others read it, and checks that
// no key is lost and that every reader sees a complete set.
func TestTrialShardRaces(t *testing.T) {
	rounds := 3
	if *long {
		rounds = 25
	}
	const writers = 4
	path := filepath.Join(t.TempDir(), "set")
	first := trialKeys("first", 1000)
	args := []string{"build", "--shards", "8", "-o", path, "--spec", "standard(capacity=20000,fpr=0.001)"}
	mustProgram(t, first, args...)
	var wg, readers sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range rounds {
				mine := trialKeys(fmt.Sprintf("writer-%d-%d", w, i), 5)
				if out, err := program(mine, "add", path).CombinedOutput(); err != nil {
					t.Errorf("add: %v, %s", err, out)
				}
			}
		})
	}
	stop := make(chan struct{})
	readers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if out, err := program(first, "check", path).Output(); err != nil || string(out) != first {
				t.Errorf("check: %v, %d bytes of %d", err, len(out), len(first))
			}
		}
	})
	wg.Wait()
	close(stop)
	readers.Wait()
	want := first
	for w := range writers {
		for i := range rounds {
			want += trialKeys(fmt.Sprintf("writer-%d-%d", w, i), 5)
		}
	}
	if out, err := program(want, "check", path).Output(); err != nil || string(out) != want {
		t.Errorf("keys were lost: %v, %d bytes of %d", err, len(out), len(want))
	}
	if left := entriesOf(t, path); len(left) != 9 {
		t.Errorf("left behind: %q", left)
	}
}
