//go:build linux || darwin

package settest_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/live"
	"github.com/bloomery/bloomery/internal/settest"
)

// TestTooManyFiles uses up all file descriptors in a separate process while a Live and a sharded Set need some.
func TestTooManyFiles(t *testing.T) {
	const child = "BLOOMERY_TEST_TOO_MANY_FILES"
	if os.Getenv(child) == "" {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTooManyFiles$", "-test.v")
		c.Env = append(os.Environ(), child+"=1")
		out, err := c.CombinedOutput()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip("an emulator runs this test; it cannot start a second process")
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	path, dir := filepath.Join(t.TempDir(), "f.bloom"), t.TempDir()
	settest.Large(t, path, 0)
	keys := settest.Names("member", 1000)
	c := bloomery.Config{Spec: "standard(fpr=0.01)", Sharding: bloomery.Sharding{Shards: 100}}
	settest.Must(settest.BuildShards(t.Context(), slices.Values(keys), dir, c))
	l := settest.Must(bloomery.OpenLive(t.Context(), path, bloomery.WithInterval(time.Millisecond)))
	defer l.Close()
	few := syscall.Rlimit{Cur: 40, Max: 40}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Skip(err)
	}
	set, err := bloomery.Open(t.Context(), dir) // holds no files open
	settest.Check(t, err)
	defer set.Close()
	settest.Large(t, path+".new", 500)
	var all []*os.File
	for err == nil {
		var f *os.File
		if f, err = os.Open(path); err == nil {
			all = append(all, f)
		}
	}
	if !errors.Is(err, syscall.EMFILE) {
		t.Fatal(err)
	}
	settest.Check(t, os.Rename(path+".new", path))
	settest.Eventually(t, "the error", func() bool { return errors.Is(l.Err(), syscall.EMFILE) })
	for _, k := range settest.Names("absent", 100) {
		if !set.ContainsString(k) {
			t.Errorf("%s is absent, and no shard can be opened", k)
		}
	}
	if err := set.Err(); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("Err of the set: %v", err)
	}
	for _, f := range all {
		_ = f.Close()
	}
	settest.Eventually(t, "the new file", func() bool { return settest.HasUint64(l, 1499) })
	time.Sleep(live.FirstPause)
	hits := 0
	settest.Eventually(t, "the shards", func() bool {
		hits = 0
		for _, k := range settest.Names("absent", 100) {
			if set.ContainsString(k) {
				hits++
			}
		}
		return hits < 50
	})
	for _, k := range keys {
		if !set.ContainsString(k) {
			t.Fatalf("%s is missing", k)
		}
	}
	if err := errors.Join(l.Err(), set.Err()); err != nil {
		t.Error(err)
	}
}
