package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/internal/container"
)

// broken is an output that accepts some bytes and then fails, as on a full disk.
type broken struct {
	bytes.Buffer
	room int
}

func (b *broken) Write(p []byte) (int, error) {
	n := min(len(p), b.room)
	b.room -= n
	b.Buffer.Write(p[:n])
	if n < len(p) {
		return n, errors.New("no space left on device")
	}
	return n, nil
}

// TestDedupBroken makes the output fail at many places. The state must then not contain a key whose line was not
// printed, so that the next run prints all missing lines.
func TestDedupBroken(t *testing.T) {
	lines := trialKeys("key", 30_000)
	for _, flags := range [][]string{nil, {"--ttl", "24h", "--keys", "50k"}} {
		for _, room := range []int{0, 1, 5000, 100_000, len(lines) - 1} {
			state := filepath.Join(t.TempDir(), "seen.state")
			args := append([]string{"dedup", "--state", state, "--fpr", "1e-9", "--save", "1ms"}, flags...)
			first := &broken{room: room}
			var says strings.Builder
			if code := run(t.Context(), args, strings.NewReader(lines), first, &says); code != exitError {
				t.Fatalf("exit code %d with room for %d bytes: %s", code, room, says.String())
			}
			var second bytes.Buffer
			if code := run(t.Context(), args, strings.NewReader(lines), &second, io.Discard); code != exitOK {
				t.Fatalf("exit code %d", code)
			}
			printed := map[string]bool{}
			whole := first.String()[:strings.LastIndexByte(first.String(), '\n')+1]
			for line := range strings.Lines(whole + second.String()) {
				printed[line] = true
			}
			if len(printed) != 30_000 {
				t.Errorf("%q, room for %d bytes: %d lines of 30000 were printed in two runs", flags, room, len(printed))
			}
		}
	}
}

// TestDedupLive writes lines to a pipe. Each must be printed before the next one is written, the state must be saved
// while no input arrives, and after a signal the state must contain all lines.
func TestDedupLive(t *testing.T) {
	state := filepath.Join(t.TempDir(), "seen.state")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in, lines := io.Pipe()
	out, printed := io.Pipe()
	done := make(chan int, 1)
	go func() {
		args := []string{"dedup", "--ttl", "1h", "--keys", "1000", "--fpr", "1e-9", "--state", state, "--save", "5ms"}
		done <- run(ctx, args, in, printed, io.Discard)
	}()
	answers := bufio.NewScanner(out)
	for i := range 20 {
		fmt.Fprintf(lines, "line-%d\nline-0\n", i)
		if !answers.Scan() || answers.Text() != fmt.Sprint("line-", i) {
			t.Fatalf("%q, want line-%d", answers.Text(), i)
		}
	}
	for range 1000 {
		if _, err := os.Stat(state); err == nil && remembersLine(t, state, "line-19") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !remembersLine(t, state, "line-19") {
		t.Error("the state was not saved while the input rested")
	}
	fmt.Fprintln(lines, "last")
	answers.Scan()
	cancel()
	if code := <-done; code != exitError || answers.Text() != "last" {
		t.Errorf("exit code %d, %q", code, answers.Text())
	}
	if !remembersLine(t, state, "last") {
		t.Error("the state does not know the last line")
	}
}

// remembersLine reports whether check finds the line in the state.
func remembersLine(t *testing.T, state, line string) bool {
	t.Helper()
	code, _ := runOn(t, line+"\n", "check", state)
	return code == exitOK
}

// madeState makes a state with a line and changes its clock: origin, latest time and laps skipped.
func madeState(t *testing.T, flags []string, clock func(words []uint64)) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "seen.state")
	line := fmt.Sprintf("old,%d\n", time.Now().Unix())
	mustRun(t, line, append([]string{"dedup", "--state", path}, flags...)...)
	file, err := container.ReadFile(path, container.Options{Window: true})
	must(t, err)
	clock(file.Sections[3][1:])
	must(t, container.WriteFile(t.Context(), path, file))
	return path
}

// TestDedupAhead runs dedup with states that were saved by a clock that was ahead. A small difference must be a
// warning, a large one an error that leaves the state unchanged.
func TestDedupAhead(t *testing.T) {
	second, month := []string{"--ttl", "1s", "--keys", "10"}, []string{"--ttl", "30d", "--keys", "10"}
	column := []string{"--ttl", "1s", "--keys", "10", "--input-format", "csv", "--column", "1", "--time-column", "2"}
	for _, c := range []struct {
		flags []string
		ahead time.Duration
		says  string
		code  int
	}{
		{second, 0, "", exitOK},
		{second, 30 * time.Second, "warning: --state", exitOK},
		{second, time.Hour, "saved ahead of the clock", exitError},
		{second, 365 * 24 * time.Hour, "correct the clock, or remove the file", exitError},
		{month, 48 * time.Hour, "time stands still until the clock is there", exitOK},
		{month, 365 * 24 * time.Hour, "saved ahead of the clock", exitError},
		{column, 12 * time.Hour, "late", exitOK},
		{column, 25 * time.Hour, "more than a day ahead of this machine: correct the clock", exitError},
	} {
		state := madeState(t, c.flags, func(words []uint64) { words[1] += uint64(c.ahead) })
		before := mustRead(t, state)
		var stdout, stderr strings.Builder
		line := fmt.Sprintf("new,%d\n", time.Now().Unix())
		args := append([]string{"dedup", "-q", "--state", state}, c.flags...)
		code := run(t.Context(), args, strings.NewReader(line), &stdout, &stderr)
		printed := stdout.String() == line
		if code != c.code || printed != (code == exitOK) || !strings.Contains(stderr.String(), c.says) ||
			c.says == "" && stderr.Len() > 0 {
			t.Errorf("%q, %v ahead: exit code %d, %q, %q", c.flags, c.ahead, code, &stdout, &stderr)
		}
		after, err := os.ReadFile(state)
		if err != nil || (code == exitError) != bytes.Equal(before, after) {
			t.Errorf("%q, %v ahead: exit code %d, and the state has changed or not: %v", c.flags, c.ahead, code, err)
		}
	}
}

// TestDedupClocks runs commands with 100 states whose clocks are random, and checks that each command ends. The time
// limit is far above the time that the commands take.
func TestDedupClocks(t *testing.T) {
	const ttl, limit = 50 * time.Millisecond, 30 * time.Second
	flags := []string{"--ttl", ttl.String(), "--keys", "5000"}
	state := madeState(t, flags, func([]uint64) {})
	file, err := container.ReadFile(state, container.Options{Window: true})
	must(t, err)
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	laps := []int64{0, 1, 7, 8, 1<<29 - 1, 1 << 29, 1 << 31, 1<<32 - 1, 1 << 32}
	for i := range 100 {
		now, clock := time.Now().UnixNano(), file.Sections[3][1:]
		near := now - rng.Int64N(int64(ttl))
		clock[0], clock[1], clock[2] = uint64(near-laps[rng.IntN(len(laps))]*int64(ttl)/7), uint64(near), 0
		if i%4 == 0 {
			clock[i/4%3] = rng.Uint64() >> rng.UintN(64)
		}
		must(t, container.WriteFile(t.Context(), state, file))
		for _, args := range [][]string{
			{"info", state}, {"check", state}, append([]string{"dedup", "--state", state}, flags...),
		} {
			done := make(chan int, 1)
			go func() {
				done <- run(t.Context(), args, strings.NewReader("a\nb\na\n"), io.Discard, io.Discard)
			}()
			select {
			case <-done:
			case <-time.After(limit):
				t.Fatalf("seed %d, state %d: %q has not ended after %v", seed, i, args, limit)
			}
		}
	}
}

func TestRowTime(t *testing.T) {
	latest := time.Unix(2_000_000_000, 0)
	for text, want := range map[string]int64{
		"0": 0, "1769860800": 1769860800e9, "-1.5": -15e8, "1769860800.25": 176986080025e7, "1.000000009": 1000000009, "-0.5": -5e8,
		"2026-01-31T12:00:00Z": 1769860800e9, "2026-01-31T13:00:00.5+01:00": 17698608005e8,
	} {
		if got, err := rowTime(text, latest); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	bad := []string{"", "x", "1.", "1.x", ".5", "1e9", "2026-01-31", "2026-01-31 12:00", "1769860800000", "-99999999999",
		"9999-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "2000000001", fmt.Sprint(int64(math.MaxInt64)), "1.-5", " 1"}
	for _, text := range bad {
		if got, err := rowTime(text, latest); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}
