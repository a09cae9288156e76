package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/interop"
)

// fake is a peer that uses our own Guava filters. It may have a fault: see newFake.
type fake struct {
	fault string
	done  bool // one wrong answer was already given
}

// faults maps each fault of a fake to its text in the report.
var faults = map[string]string{
	"answer":  "theirs false, ours true and true", // for the first queried key
	"refused": "a filter of theirs: ",             // a file that is not a filter
	"bytes":   "our filter with their spec and keys has other bytes",
	"again":   "our filter, written by the system again has other bytes",
	"lost":    "a false negative on both sides", // a filter without one of its keys
	"short":   "bytes of answers, want ",
}

func (f *fake) version() string { return "fake 1" }
func (f *fake) Close() error    { return nil }

func fakeConfigs(c testCase) []bloomery.Config {
	return []bloomery.Config{{Spec: "guava(fpr=" + c.rateText() + ")"}, {Spec: "guava(bits_per_key=40)"}}
}

func (f *fake) build(c testCase, keys, out string) ([]part, error) {
	all, err := readKeys(keys)
	if err != nil {
		return nil, err
	}
	if f.fault == "lost" && len(all) > 1 {
		all = all[:len(all)-1]
	}
	j := job{c: c, x: exchange{format: always(interop.Guava)}}
	_, file, err := j.build(fakeConfigs(c), filter.Murmur3, all)
	switch {
	case f.fault == "refused":
		file = file[:len(file)-1]
	case f.fault == "bytes":
		file[len(file)-1] ^= 0xff
	}
	return []part{{0, -1, -1}}, errors.Join(err, os.WriteFile(out, file, 0o600))
}

func (f *fake) ask(_ testCase, file, keys, answers string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	set, err := interop.Read(bytes.NewReader(b), interop.Guava, uint64(len(b)))
	if err != nil {
		return err
	}
	all, err := readKeys(keys)
	if err != nil {
		return err
	}
	bits := make([]byte, (len(all)+7)/8)
	for i, k := range all {
		if set.Contains(k) {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	switch {
	case f.fault == "answer" && bits[0]&1 == 1 && !f.done:
		bits[0] &^= 1
		f.done = true
	case f.fault == "short":
		bits = bits[1:]
	}
	return os.WriteFile(answers, bits, 0o600)
}

func (f *fake) again(_ testCase, file, out string) error {
	b, err := os.ReadFile(file)
	if f.fault == "again" {
		b = append(b, 0)
	}
	return errors.Join(err, os.WriteFile(out, b, 0o600))
}

// readKeys reads a file of keys.
func readKeys(path string) (keys [][]byte, err error) {
	b, err := os.ReadFile(path)
	for err == nil && len(b) > 0 {
		n := int(b[0]) | int(b[1])<<8
		keys = append(keys, b[4:4+n])
		b = b[4+n:]
	}
	return keys, err
}

// newFake returns a fake system.
func newFake(fault string) system {
	return system{name: "fake", run: func(t *trial) error {
		return t.exchange(&fake{fault: fault}, exchange{
			format: always(interop.Guava), cases: t.grid(0, []kind{text, long, short, raw}), configs: fakeConfigs,
		})
	}}
}

// try runs the command with these systems.
func try(t *testing.T, all []system, args ...string) (code int, results []result, stderr string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	var out, says bytes.Buffer
	args = append([]string{"--json", "--keys", "1000", "--cache", t.TempDir()}, args...)
	code = command(t.Context(), args, &out, &says, all)
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &results); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "trial-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q %v", left, err)
	}
	return code, results, says.String()
}

// TestEqual checks that a correct system has no differences, and that all cases count.
func TestEqual(t *testing.T) {
	code, results, _ := try(t, []system{newFake("")}, "--system", "fake")
	if code != 0 || len(results) != 1 {
		t.Fatalf("exit code %d, %+v", code, results)
	}
	r := results[0]
	answers := 0
	for _, n := range []int{0, 1, 10, 1000} {
		answers += 4 * 4 * (n + max(n, 1000))
	}
	want := direction{Filters: 64, Answers: answers, EqualFiles: 128, FalsePositives: r.Theirs.FalsePositives}
	if r.Status != equal || r.Cases != 64 || r.Theirs != want || r.Theirs.FalsePositives == 0 {
		t.Errorf("%+v, want %+v", r, want)
	}
	want.EqualFiles, want.FalsePositives = 64, r.Ours.FalsePositives
	if r.Ours != want || r.Version != "fake 1" || r.Differences() != 0 {
		t.Errorf("%+v, want %+v", r.Ours, want)
	}
}

// TestFaults checks that each fault of a system is reported, and that the exit code is not 0.
func TestFaults(t *testing.T) {
	for fault, want := range faults {
		t.Run(fault, func(t *testing.T) {
			code, results, _ := try(t, []system{newFake(fault)}, "--system", "all")
			if code == 0 || len(results) != 1 || results[0].Status == equal {
				t.Fatalf("exit code %d, %+v", code, results)
			}
			r := results[0]
			if text := r.Why + strings.Join(r.Faults, "\n"); !strings.Contains(text, want) {
				t.Errorf("%s, want %q", text, want)
			}
			if fault == "answer" && (code != 1 || r.Differences() != 1) {
				t.Errorf("exit code %d with %d differences, want 1 with 1", code, r.Differences())
			}
			var b bytes.Buffer
			if err := report(&b, results, false); err != nil || !strings.Contains(b.String(), want) {
				t.Errorf("the text does not have %q: %s %v", want, b.String(), err)
			}
		})
	}
}

// TestNotRun checks that without a tool, the systems that need it are skipped and reported, and that the other systems
// run.
func TestNotRun(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	all := slices.DeleteFunc(systems(), func(s system) bool { return s.alone })
	code, results, stderr := try(t, append(all, newFake("")), "--system", "all")
	if code != 0 || len(results) != len(all)+1 {
		t.Fatalf("exit code %d, %d results", code, len(results))
	}
	for _, r := range results[:len(all)] {
		if r.Status != notRun || r.Why == "" || !strings.Contains(stderr, "NOT RUN: "+r.System+": "+r.Why) {
			t.Errorf("%+v, printed %s", r, stderr)
		}
	}
	if r := results[len(all)]; r.Status != equal {
		t.Errorf("%+v", r)
	}
	var b bytes.Buffer
	if err := report(&b, results, false); err != nil || strings.Count(b.String(), "NOT RUN: ") != len(all) {
		t.Errorf("%s %v", b.String(), err)
	}
}

// TestAlone checks that systems that need no tool agree.
func TestAlone(t *testing.T) {
	for _, s := range systems() {
		if !s.alone {
			continue
		}
		code, results, _ := try(t, []system{s}, "--system", s.name)
		if r := results[0]; code != 0 || r.Status != equal || r.Cases == 0 {
			t.Errorf("exit code %d, %+v", code, r)
		}
	}
}

// TestArguments checks that wrong arguments are errors with exit code 2.
func TestArguments(t *testing.T) {
	for _, args := range [][]string{
		{}, {"--system", "none"}, {"--system", "fake", "--keys", "0"}, {"--system", "fake", "--keys", "100000001"}, {"x"},
	} {
		if code, results, stderr := try(t, []system{newFake("")}, args...); code != 2 || results != nil || stderr == "" {
			t.Errorf("%q: exit code %d, %v, %s", args, code, results, stderr)
		}
	}
	var out bytes.Buffer
	if code := command(t.Context(), []string{"--list"}, &out, &out, systems()); code != 0 {
		t.Error(code)
	}
	for _, s := range systems() {
		if !strings.Contains(out.String(), s.name+" ") || s.about == "" {
			t.Errorf("--list does not have %s: %s", s.name, out.String())
		}
	}
}

// TestKeys requires all keys of a kind to be distinct, across two calls too. The first string is empty.
func TestKeys(t *testing.T) {
	for _, k := range []kind{text, raw, long, short, wide, xxh64} {
		seen := map[string]bool{}
		for _, key := range hashed(k, append(generate(k, 3, 0, 5000), generate(k, 3, 5000, 5000)...)) {
			seen[string(key)] = true
		}
		if len(seen) != 10_000 {
			t.Errorf("%s: %d distinct keys of 10000", k, len(seen))
		}
	}
	for _, k := range []kind{text, raw, wide, xxh64} {
		if first := generate(k, 3, 0, 1)[0]; len(first) != 0 {
			t.Errorf("%s: the first key is %q", k, first)
		}
	}
	if got := hashed(wide, [][]byte{[]byte("a😀")})[0]; !bytes.Equal(got, []byte{'a', 0, 0x3d, 0xd8, 0, 0xde}) {
		t.Errorf("%x", got)
	}
}

// TestPart checks that a part outside of a file is an error.
func TestPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	for w, want := range map[part]string{
		{0, -1, -1}: "0123456789", {2, 3, 0}: "234", {10, 0, 0}: "", {10, -1, 0}: "",
		{-1, 3, 0}: "error", {8, 3, 0}: "error", {11, -1, 0}: "error", {1, 1 << 62, 0}: "error",
	} {
		got, err := w.slice(path)
		if err != nil {
			got = []byte("error")
		}
		if string(got) != want {
			t.Errorf("%v: %q, want %q", w, got, want)
		}
	}
}

// TestMain runs as the program of a system if TRIAL_PROGRAM is set: see TestProgram.
func TestMain(m *testing.M) {
	switch os.Getenv("TRIAL_PROGRAM") {
	case "":
		os.Exit(m.Run())
	case "dies":
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(3)
	case "talks":
		fmt.Println("good morning")
	case "refuses":
		fmt.Println("error no such\tthing")
	case "sleeps":
		if path := os.Getenv("TRIAL_CHILD"); path != "" {
			child := exec.Command("sleep", "600")
			_ = child.Start()
			_ = os.WriteFile(path, fmt.Append(nil, child.Process.Pid), 0o600)
		}
		time.Sleep(time.Hour)
	}
}

// TestProgram checks that the error for a program that fails contains its output.
func TestProgram(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for how, want := range map[string]string{
		"dies": "out of luck", "talks": `answered "good morning`, "refuses": "no such\tthing",
	} {
		t.Setenv("TRIAL_PROGRAM", how)
		if _, err := start(t.Context(), "it", []string{self}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", how, err, want)
		}
	}
}

// TestInterrupt checks that ctrl-C ends a program and all processes that it started, and that the exit code is 130.
func TestInterrupt(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := filepath.Join(t.TempDir(), "child")
	t.Setenv("TRIAL_PROGRAM", "sleeps")
	t.Setenv("TRIAL_CHILD", child)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		defer cancel(cli.Signalled{Signal: os.Interrupt})
		for ctx.Err() == nil {
			if b, err := os.ReadFile(child); err == nil && len(b) > 0 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	slow := system{name: "slow", run: func(t *trial) error {
		_, err := start(t.ctx, "it", []string{self})
		return err
	}}
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	code := command(ctx, []string{"--system", "slow", "--cache", t.TempDir()}, &out, &out, []system{slow})
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "trial-*")); code != 130 || err != nil || len(left) > 0 {
		t.Errorf("exit code %d, left behind %q %v, printed %s", code, left, err, out.String())
	}
	waitGone(t, child)
}
