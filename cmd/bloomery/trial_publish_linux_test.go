package main

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bloomery/bloomery/publish"
)

// TestTrialPublishFullDisk publishes on a disk without free pages, and then with an increasing number of free pages
// until it succeeds. Until then, each attempt must fail with an error that names the full disk, and leave only the old
// release. The test needs the permission to mount a file system; TestTrialPublishLimit does not.
func TestTrialPublishFullDisk(t *testing.T) {
	dir, disk := t.TempDir(), t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=2m"); err != nil {
		t.Logf("not tested: mount: %v", err)
		return
	}
	defer func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	}()
	files, site := versions(t, dir, 4, 40_000, false), filepath.Join(disk, "site")
	for _, file := range files[:3] {
		mustProgram(t, "", "publish", site, file)
	}
	const page = 4096
	before, ballast := treeOf(t, site), filepath.Join(disk, "ballast")
	for free := 0; ; free++ {
		fill(t, ballast, disk, uint64(free))
		out, err := program("", "publish", site, files[3]).CombinedOutput()
		if err == nil {
			if _, err := publish.Check(t.Context(), site, nil, nil); err != nil || maps.Equal(treeOf(t, site), before) {
				t.Error(err)
			}
			if free < 40_000/page {
				t.Errorf("it fits in %d pages", free)
			}
			t.Logf("%d attempts on a full disk", free)
			return
		}
		var exit *exec.ExitError
		said := string(out)
		if !errors.As(err, &exit) || exit.ExitCode() != exitError ||
			!strings.Contains(said, "no space left on device") || !strings.Contains(said, site) ||
			strings.Contains(said, "tmp-") || free > 100 {
			t.Fatalf("%d free pages: %v, %s", free, err, said)
		}
		if now := treeOf(t, site); !maps.Equal(now, before) {
			t.Fatalf("%d free pages: %s, want %s", free, now, before)
		}
	}
}

// fill makes the file ballast so large that the disk has the given number of free pages.
func fill(t *testing.T, ballast, disk string, pages uint64) {
	t.Helper()
	if err := os.Remove(ballast); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var st syscall.Statfs_t
	must(t, syscall.Statfs(disk, &st))
	mustWrite(t, ballast, bytes.Repeat([]byte{1}, int(st.Bsize)*int(st.Bfree-pages)))
}
