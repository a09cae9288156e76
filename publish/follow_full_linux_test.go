package publish

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// diskEnv makes a process started by TestFullDisk follow a file on a small disk, in its own mount namespace.
const diskEnv = "BLOOMERY_TEST_DISK"

// TestFullDisk checks that the part file of a release that never fits on the disk is removed to make room for the next,
// smaller one.
func TestFullDisk(t *testing.T) {
	if os.Getenv(diskEnv) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), diskEnv+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.EPERM) || strings.Contains(string(out), "--- SKIP") {
			t.Skipf("NO MOUNTS HERE: %v\n%s", err, out)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	s := newSite(t)
	web := s.serve()
	f := s.follower(web.URL)
	err := errors.Join(syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount("tmpfs", filepath.Dir(f.file), "tmpfs", 0, "size=1m,mode=0755"))
	if err != nil {
		t.Skip(err)
	}
	defer syscall.Unmount(filepath.Dir(f.file), 0)
	s.publish(filterOf(t, 1000, 0))
	mustPoll(t, f)
	s.publish(filterOf(t, 2_000_000, 0)) // 2.5 MB
	if _, err := f.Poll(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("a release that does not fit: %v", err)
	}
	left := filepath.Join(filepath.Dir(f.file), ".f.bloom.tmp-0123456789abcdef") // left by a killed follower
	want := filterOf(t, 300_000, 0)                                              // 375 kB, twice while it is installed
	s.publish(want)
	write(t, left, nil, 0o600)
	mustPoll(t, f)
	holds(t, f, want)
	if names := around(t, f); len(names) != 3 {
		t.Errorf("left behind: %q", names)
	}
}
