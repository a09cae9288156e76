//go:build !race

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/window"
)

func init() { children["peak"] = peak }

// peak runs the command in another process and prints its peak memory. A process inherits the peak of its parent, and
// the peak of a test may be large.
func peak(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self)
	cmd.Args = append([]string{"bloomery", "-q"}, args...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	fmt.Println(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	os.Exit(exitOK)
	return nil
}

// peakOf runs the command in a separate process and returns its peak memory in bytes, including mapped files. The race
// detector uses several times as much, so this file is excluded from race builds.
func peakOf(t *testing.T, stdin string, args ...string) int64 {
	t.Helper()
	return peakOfReader(t, strings.NewReader(stdin), args...)
}

func peakOfReader(t *testing.T, stdin io.Reader, args ...string) int64 {
	t.Helper()
	cmd := child(t, "peak", args...)
	cmd.Stdin = stdin
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v, %s", args, err, stderr.String())
	}
	kib, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return kib << 10
}

// TestMemoryOfChanges checks that a change of a filter file needs at most the size of the filter plus 64 MiB. The test
// uses a limit of 32 MiB, because the program needs 23 MiB in addition to its filter, and a second copy of a filter
// needs at least 32 MiB.
func TestMemoryOfChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("filters of 32 MiB; left out with -short")
	}
	dir := t.TempDir()
	path, twin, out := filepath.Join(dir, "f.bloom"), filepath.Join(dir, "twin.bloom"), filepath.Join(dir, "out.bloom")
	for family, commands := range map[string]map[string][]string{
		"standard(bytes=33554432)":                    {"merge": {"-o", out, path, twin}, "add": {path}},
		"counting(bytes=33554432)":                    {"merge": {"-o", out, path, twin}, "remove": {path}},
		"rankindexed(capacity=30000000,value_bits=1)": {"add": {path}, "remove": {path}, "put": {path}},
	} {
		for _, path := range []string{path, twin} {
			peakOf(t, "a\nb\nc\n", "build", "-o", path, "--spec", family)
		}
		for name, args := range commands {
			st, err := os.Stat(path)
			if err != nil || st.Size() < 32<<20 {
				t.Fatalf("%s: %v of %d bytes", family, err, st.Size())
			}
			stdin := map[string]string{"put": "b\t1\n", "remove": "a\n", "add": "d\n"}[name]
			got, most := peakOf(t, stdin, append([]string{name}, args...)...), st.Size()+32<<20
			if got > most {
				t.Errorf("%s of %s: %d MiB in memory, at most %d", name, family, got>>20, most>>20)
			}
		}
	}
}

// TestMemoryOfBuild checks that a build whose filter the planner chooses needs at most --memory plus the size of the
// filter. The test allows 64 MiB more for the program and for garbage.
func TestMemoryOfBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("8 million keys; left out with -short")
	}
	keys, w := io.Pipe()
	go func() {
		out := bufio.NewWriterSize(w, 1<<20)
		for i := range 8_000_000 {
			_, _ = out.Write(append(strconv.AppendInt(out.AvailableBuffer(), int64(i), 10), '\n'))
		}
		w.CloseWithError(out.Flush())
	}()
	path := filepath.Join(t.TempDir(), "f.bloom")
	const memory = 128 << 20
	got := peakOfReader(t, keys, "build", "-o", path, "--memory", strconv.Itoa(memory))
	st, err := os.Stat(path)
	must(t, err)
	if most := memory + st.Size() + 64<<20; got > most {
		t.Errorf("%d MiB in memory, at most %d", got>>20, most>>20)
	}
	t.Logf("%d MiB in memory, a filter of %d MiB", got>>20, st.Size()>>20)
}

// numbersTo returns n lines with different numbers. It pauses after every restAfter lines, so that dedup saves its
// state during the pause.
func numbersTo(n, restAfter int) io.Reader {
	r, w := io.Pipe()
	go func() {
		out := bufio.NewWriter(w)
		for i := range n {
			_, _ = out.Write(append(strconv.AppendInt(out.AvailableBuffer(), int64(i), 10), '\n'))
			if (i+1)%restAfter == 0 {
				out.Flush()
				time.Sleep(20 * time.Millisecond)
			}
		}
		w.CloseWithError(out.Flush())
	}()
	return r
}

// TestMemoryOfDedup checks the memory limits of docs/guides/dedup.md for a new state, and for a state that is read and
// saved many times. The limit is the size of the filter. With --ttl it is twice this size, since a copy is saved, and
// while the filter doubles it is up to three times the size. The program and its buffers need 20 MiB; a further copy
// would exceed the 32 MiB that the test allows. A run tests one of the three states.
func TestMemoryOfDedup(t *testing.T) {
	if testing.Short() {
		t.Skip("filters of 48 MiB; left out with -short")
	}
	runs := filtertest.Third(t, *long)
	for _, c := range []struct {
		name        string
		flags       []string
		save        string
		lines, rest int
		made, read  int64 // multiples of the size of the filter
	}{
		{"ttl", []string{"--ttl", "1h", "--keys", "28M", "--fpr", "1%"}, "10ms", 60, 10, 2, 2},
		{"fixed", []string{"--keys", "40M", "--fpr", "1%"}, "10ms", 60, 10, 1, 1},
		{"grows", []string{"--fpr", "1e-9"}, "200ms", 4_500_000, 1_000_000, 3, 1}, // some saves in seconds of work
	} {
		if !runs() {
			continue
		}
		state := filepath.Join(t.TempDir(), "seen.state")
		args := append([]string{"dedup", "--state", state}, c.flags...)
		made := peakOfReader(t, numbersTo(c.lines, c.rest), append(args, "--save", c.save)...)
		read := peakOfReader(t, numbersTo(60, 10), append(args, "--save", "10ms")...)
		st, err := os.Stat(state)
		if err != nil || st.Size() < 40<<20 {
			t.Fatalf("%v of %d bytes", err, st.Size())
		}
		t.Logf("%s: a state of %d MiB; %d MiB in memory when it was made, %d MiB when it was read", c.name, st.Size()>>20,
			made>>20, read>>20)
		if made > c.made*st.Size()+32<<20 || read > c.read*st.Size()+32<<20 {
			t.Errorf("%s: %d and %d MiB in memory, at most %d and %d times %d MiB, and 32 MiB", c.name, made>>20, read>>20,
				c.made, c.read, st.Size()>>20)
		}
	}
}

// TestMemoryOfWindows checks that info, check and verify need memory for a file of package window only once. The limit
// is the same as in TestMemoryOfChanges: the size of the file plus 32 MiB, of which the program needs 23 MiB.
func TestMemoryOfWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("a filter of 48 MiB; left out with -short")
	}
	f, err := window.New[string](window.Config{Keys: 28_000_000, TTL: time.Hour, FPR: 0.01})
	must(t, err)
	must(t, f.Add("a"))
	path := filepath.Join(t.TempDir(), "seen.window")
	must(t, f.Save(t.Context(), path))
	st, err := os.Stat(path)
	if err != nil || st.Size() < 40<<20 {
		t.Fatalf("%v of %d bytes", err, st.Size())
	}
	for name, args := range map[string][]string{
		"info": {path}, "check": {path}, "verify": {path, "--members", "-", "--random", "100k"},
	} {
		got, most := peakOf(t, "a\n", append([]string{name}, args...)...), st.Size()+32<<20
		t.Logf("%s: %d MiB in memory, a file of %d MiB", name, got>>20, st.Size()>>20)
		if got > most {
			t.Errorf("%s: %d MiB in memory, at most %d", name, got>>20, most>>20)
		}
	}
}
