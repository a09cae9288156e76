package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// broken is an output that takes some bytes and then fails, as a full disk does.
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

// TestDedupBroken fails the output at many places. The state then has no key whose line was not printed, so that the
// next run prints all that are missing.
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

// TestDedupLive feeds lines by a pipe: each is printed before the next one comes, the state is saved while the input
// rests, and an end by a signal leaves a state that knows all lines.
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

// remembersLine reports whether check finds a line in a state.
func remembersLine(t *testing.T, state, line string) bool {
	t.Helper()
	code, _ := runOn(t, line+"\n", "check", state)
	return code == exitOK
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
		"9999-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "2000000001", fmt.Sprint(math.MaxInt64), "1.-5", " 1"}
	for _, text := range bad {
		if got, err := rowTime(text, latest); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}
