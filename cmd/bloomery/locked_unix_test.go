//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOneState starts two runs of dedup at the same time with two names of one state, and checks that no row is printed
// by both.
func TestOneState(t *testing.T) {
	rows := trialKeys("row", 100_000)
	for name, names := range map[string][2]string{
		"one name": {"folder/state", "folder/state"}, "folder": {"folder/state", "linked/state"},
		"link": {"folder/old", "link"}, "long way": {"linked/../link", "folder/old"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			in := func(name string) string { return dir + "/" + name }
			err := errors.Join(os.Mkdir(in("folder"), 0o700), os.Symlink("folder", in("linked")),
				os.Symlink("folder/old", in("link")))
			must(t, err)
			mustProgram(t, "", "dedup", "--state", in("folder/old"))
			var out [2]bytes.Buffer
			var done [2]error
			both := []func() error{}
			for i, name := range names {
				cmd := program(rows, "dedup", "--state", in(name))
				cmd.Stdout = &out[i]
				must(t, cmd.Start())
				both = append(both, cmd.Wait)
			}
			for i, wait := range both {
				done[i] = wait()
			}
			must(t, errors.Join(done[:]...))
			one, two := out[0].Len(), out[1].Len()
			if one*two > 0 || one+two < len(rows)*99/100 {
				t.Errorf("%d and %d bytes of %d", one, two, len(rows))
			}
		})
	}
}

// TestStateOfTwoFiles checks that a state that is not one file is an immediate error.
func TestStateOfTwoFiles(t *testing.T) {
	for name, make := range map[string]func(state string) error{
		"hard link": func(state string) error {
			return errors.Join(os.WriteFile(state, nil, 0o600), os.Link(state, state+".other"))
		},
		"link to nothing": func(state string) error { return os.Symlink("missing", state) },
		"pipe":            func(state string) error { return syscall.Mkfifo(state, 0o600) },
		"empty":           func(state string) error { return os.WriteFile(state, nil, 0o600) },
		"pipe to lock":    func(state string) error { return syscall.Mkfifo(state+".lock", 0o600) },
		"link to lock":    func(state string) error { return os.Symlink("missing", state+".lock") },
		"folder to lock":  func(state string) error { return os.Mkdir(state+".lock", 0o700) },
	} {
		dir := t.TempDir()
		state := filepath.Join(dir, "state")
		must(t, make(state))
		cmd := program("a\n", "dedup", "--state", state)
		ends := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		out, err := cmd.CombinedOutput()
		ends.Stop()
		if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), state) ||
			!strings.Contains(string(out), "remove") && !strings.Contains(string(out), "not a regular file") {
			t.Errorf("%s: %v, %s", name, err, out)
		}
		if _, err := os.Lstat(filepath.Join(dir, "missing")); err == nil {
			t.Errorf("%s: the target was created", name)
		}
	}
}

// TestLockedState checks that SIGTERM ends the wait for a state that another run has locked.
func TestLockedState(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	first := program("", "dedup", "--state", state)
	first.Stdin = nil
	rows, err := first.StdinPipe()
	if err == nil {
		err = first.Start()
	}
	must(t, err)
	for {
		if _, err := os.Lstat(state + ".lock"); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond) // until the state is locked
	second := program("a\n", "dedup", "--state", state)
	must(t, second.Start())
	time.Sleep(300 * time.Millisecond)
	if err := second.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("it did not wait: %v", err)
	}
	ends := time.AfterFunc(time.Minute, func() { _ = second.Process.Kill() })
	defer ends.Stop()
	_ = second.Wait()
	if code := second.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit code %d", code)
	}
	if err := errors.Join(rows.Close(), first.Wait()); err != nil {
		t.Error(err)
	}
}
