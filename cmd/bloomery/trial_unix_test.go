//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program returns the command as a process, with keys as its standard input.
func program(keys string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Args = append([]string{"bloomery", "-q"}, args...)
	cmd.Stdin = strings.NewReader(keys)
	return cmd
}

// mustProgram runs the command as a process, which must end with exit code 0.
func mustProgram(t *testing.T, keys string, args ...string) {
	t.Helper()
	if out, err := program(keys, args...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v, %s", args, err, out)
	}
}

// change is a command that changes a file, for the trials.
type change struct {
	args []string
	keys string
}

// changes returns the commands that replace the file at path in dir. The file contains the keys "old".
func changes(t *testing.T, dir, path string) map[string]change {
	t.Helper()
	twin, list := filepath.Join(dir, "twin.bloom"), filepath.Join(dir, "list")
	mustWrite(t, list, trialKeys("list", 2000))
	const spec = "counting(bytes=4000000)"
	for file, what := range map[string]string{path: "old", twin: "twin"} {
		mustProgram(t, trialKeys(what, 2000), "build", "-o", file, "--spec", spec)
	}
	copied := filepath.Join(dir, "copy.bloom")
	old := mustRead(t, path)
	mustWrite(t, copied, old)
	return map[string]change{
		"build":  {[]string{"build", "-o", path, "--spec", spec, list}, ""},
		"add":    {[]string{"add", path}, trialKeys("new", 2000)},
		"remove": {[]string{"remove", path}, trialKeys("old", 500)},
		"merge":  {[]string{"merge", "-o", path, copied, twin}, ""},
	}
}

// killed starts a command, kills it at a random moment before most has passed, and reports whether it was still
// running. If cmd ended with an error before it was killed, killed fails the test unless mayFail is set.
func killed(t *testing.T, cmd *exec.Cmd, most time.Duration, mayFail bool) bool {
	t.Helper()
	must(t, cmd.Start())
	time.Sleep(time.Duration(rand.Int64N(int64(most))))
	_ = cmd.Process.Kill()
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && !exit.Exited() {
		return true
	}
	if err != nil && !mayFail {
		t.Fatalf("%q: %v", cmd.Args, err)
	}
	return false
}

// TestTrialKills kills commands that change a file at random moments. Afterwards the file must be the old or the new
// one, byte for byte, and the next command must leave no temporary files.
func TestTrialKills(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.bloom")
	for name, c := range changes(t, dir, path) {
		trialKills(t, dir, path, name, c, 100)
	}
}

// TestTrialKillsExact is TestTrialKills for updates of an exact set.
func TestTrialKillsExact(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.exact")
	universe, members := filepath.Join(dir, "universe"), filepath.Join(dir, "members")
	for file, keys := range map[string]string{universe: trialKeys("key", 200_000), members: trialKeys("key", 2000)} {
		mustWrite(t, file, keys)
	}
	lists := []string{"--members", members, "--universe", universe}
	out, err := program("", append([]string{"exact", "build", "-o", path}, lists...)...).CombinedOutput()
	if err == nil {
		err = os.WriteFile(members, []byte(trialKeys("key", 2100)), 0o600)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	update := append([]string{"exact", "update", "-o", path, "--base", path}, lists...)
	trialKills(t, dir, path, "exact update", change{update, ""}, 250)
}

// trialKills kills a command that changes the file at path, in dir, five times, or most times with -long.
func trialKills(t *testing.T, dir, path, name string, c change, most int) {
	t.Helper()
	rounds := 5
	if *long {
		rounds = most
	}
	kills, replaced := 0, 0
	old := mustRead(t, path)
	start := time.Now()
	mustProgram(t, c.keys, c.args...)
	took := time.Since(start)
	next, err := os.ReadFile(path)
	if err != nil || bytes.Equal(old, next) {
		t.Fatalf("%s changes nothing: %v", name, err)
	}
	files := entriesOf(t, dir)
	for round := range rounds {
		mustWrite(t, path, old)
		if killed(t, program(c.keys, c.args...), took, false) {
			kills++
		}
		switch got, err := os.ReadFile(path); {
		case err != nil || !bytes.Equal(got, old) && !bytes.Equal(got, next):
			t.Fatalf("%s, kill %d: the file is neither the old nor the new one: %d bytes, %v",
				name, round, len(got), err)
		case bytes.Equal(got, next):
			replaced++
		}
	}
	mustWrite(t, path, old)
	left := len(entriesOf(t, dir)) - len(files)
	mustProgram(t, c.keys, c.args...)
	if now := entriesOf(t, dir); !slices.Equal(now, files) {
		t.Errorf("%s: %q, want %q", name, now, files)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, next) {
		t.Errorf("%s after the kills gives another file: %v", name, err)
	}
	t.Logf("%s: %d kills; %d times the file was already the new one; %d temporary files after %d rounds, none "+
		"after the next writer", name, kills, replaced, left, rounds)
	mustWrite(t, path, old)
}

func entriesOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// TestTrialRaces adds keys to one file and removes keys from it in eight processes at once while others read it. It
// checks that no key is lost, that every reader sees a complete file, and that no other file remains.
func TestTrialRaces(t *testing.T) {
	rounds := 2
	if *long {
		rounds = 25
	}
	const writers = 8
	dir := t.TempDir()
	path := filepath.Join(dir, "f.bloom")
	first := trialKeys("first", 1000)
	const spec = "counting(bytes=2000000)"
	mustProgram(t, first, "build", "-o", path, "--spec", spec)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range rounds {
				mine := trialKeys(fmt.Sprintf("writer-%d-%d", w, i), 50)
				if out, err := program(mine, "add", path).CombinedOutput(); err != nil {
					t.Errorf("add: %v, %s", err, out)
				}
				if i%2 == 1 {
					if out, err := program(mine, "remove", path).CombinedOutput(); err != nil {
						t.Errorf("remove: %v, %s", err, out)
					}
				}
			}
		})
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	reads := 0
	readers.Go(func() {
		for ; ; reads++ {
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
	want, keys := first, 1000
	for w := range writers {
		for i := 0; i < rounds; i += 2 { // the other keys were removed again
			want += trialKeys(fmt.Sprintf("writer-%d-%d", w, i), 50)
			keys += 50
		}
	}
	if out, err := program(want, "check", path).Output(); err != nil || string(out) != want {
		t.Errorf("keys were lost: %v, %d bytes of %d", err, len(out), len(want))
	}
	if _, info := runOn(t, "", "info", "--json", path); !strings.Contains(info, fmt.Sprintf(`"keys": %d`, keys)) {
		t.Errorf("want %d keys: %s", keys, info)
	}
	if left := entriesOf(t, dir); len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
	t.Logf("%d writers, %d rounds, %d reads", writers, rounds, reads)
}

func init() {
	// The first argument is the largest size of a file that the command can write.
	children["limited"] = func(args []string) error {
		n, err := strconv.ParseUint(args[0], 10, 64)
		limit := syscall.Rlimit{Cur: n, Max: n}
		if err = errors.Join(err, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)); err == nil {
			err = become(args[1:])
		}
		return fmt.Errorf("skip: %w", err)
	}
}

// limited runs a command that can write no file of more than limit bytes, and returns its output.
func limited(t *testing.T, limit int, c change) (string, error) {
	t.Helper()
	cmd := child(t, "limited", append([]string{strconv.Itoa(limit)}, c.args...)...)
	cmd.Stdin = strings.NewReader(c.keys)
	out, err := cmd.CombinedOutput()
	said := string(out)
	if strings.HasPrefix(said, "skip") {
		t.Skip(said)
	}
	return said, err
}

// TestTrialFullDisk limits the bytes that commands can write, as on a disk that fills up. It checks that the exit code
// is 2, that the message names the file, that the old file is unchanged, and that no other files remain.
func TestTrialFullDisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.bloom")
	all := changes(t, dir, path)
	for _, limit := range []int{0, 10, 1 << 12, 3 << 20, 3999999} {
		for name, c := range all {
			old := mustRead(t, path)
			files := entriesOf(t, dir)
			said, err := limited(t, limit, c)
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != exitError || strings.Contains(said, "goroutine") ||
				!strings.Contains(said, path) || strings.Contains(said, "tmp-") {
				t.Errorf("%s with %d bytes: %v, %s", name, limit, err, said)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, old) {
				t.Errorf("%s with %d bytes: another file, %v", name, limit, err)
			}
			if now := entriesOf(t, dir); !slices.Equal(now, files) {
				t.Errorf("%s with %d bytes: %q, want %q", name, limit, now, files)
			}
		}
	}
}

// Sets a umask with which followers accept the folders of tests, whatever the umask of the user is.
func init() { syscall.Umask(0o022) }
