package beam

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery/eval/beam/clusters"
)

const diskRounds = 3 // rounds of TestClusterDiskFull, with and without restarts

// TestClusterDiskFull fills the disk of the output at a random moment of a job. The job must fail with an error that
// names the full disk and a file, or succeed after a restart if space is freed in time. Then space is freed, and the
// repeated command must write the same bytes as the single process.
func TestClusterDiskFull(t *testing.T) {
	onClusters(t, func(t *testing.T, engine string) {
		needRoot(t)
		s := newSite(t)
		inputs := s.texts(t, "keys", 8, 200_000) // 26 MB of run files
		want := s.build(t, "want", inputs, trialSpec, trialShards)
		disk := newDisk(t, s.path("disk"), "64m")
		for i, restarts := range []bool{true, false} {
			t.Run(fmt.Sprintf("restarts=%v", restarts), func(t *testing.T) {
				k := newTrial(t, s, seeded(t, uint64(3+i)), clusters.Config{Engine: engine, Workers: 2}, restarts, inputs, want)
				var took time.Duration
				for range 2 {
					start := time.Now()
					k.complete("disk/calm")
					took = time.Since(start)
					if err := os.RemoveAll(k.path("disk/calm")); err != nil {
						t.Fatal(err)
					}
				}
				for round := range diskRounds {
					out := fmt.Sprint("disk/set-", round)
					c, text := k.command(out)
					over := k.startJob(c)
					moment := time.Duration(k.r.Float64() * float64(took))
					time.Sleep(moment)
					at, room := phase(k.path(out)), disk.fill(t)
					if restarts {
						time.AfterFunc(3*time.Second, room)
					}
					_, err := k.await(c, over)
					room()
					checkManifest(t, k.path(out))
					says := "done"
					if err != nil {
						says = k.full(text.String(), k.path(out))
					}
					t.Logf("round %d: full after %.1f s, %s: %s; then %d runs", round, moment.Seconds(), at, says, k.complete(out))
					if err := os.RemoveAll(k.path(out)); err != nil {
						t.Error(err)
					}
				}
			})
		}
	})
}

// TestClusterDiskFullOne fills the disk of one worker only. The pool of the worker runs in a mount namespace in which
// it writes to a separate disk without free space. It reads the files of the other workers.
func TestClusterDiskFullOne(t *testing.T) {
	onClusters(t, func(t *testing.T, engine string) {
		needRoot(t)
		s := newSite(t)
		inputs := s.texts(t, "keys", 8, 200_000)
		want := s.build(t, "want", inputs, trialSpec, trialShards)
		k := newTrial(t, s, seeded(t, 5), clusters.Config{Engine: engine, Workers: 2}, false, inputs, want)
		kill(k.pools[1])
		disk := newDisk(t, s.path("disk"), "64k")
		shared := s.path("shared")
		for _, dir := range []string{shared, filepath.Join(disk.dir, "upper"), filepath.Join(disk.dir, "work")} {
			if err := os.Mkdir(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		mount := fmt.Sprintf(`mount -t overlay overlay -o "lowerdir=%[1]s,upperdir=%[2]s/upper,workdir=%[2]s/work" "%[1]s"`,
			shared, disk.dir)
		address := clusters.PoolAddress(2)
		pool := exec.Command("unshare", "--mount", "sh", "-c",
			mount+` && exec "$0" worker --host "$1" --port "$2"`, k.program, address, fmt.Sprint(k.port))
		log, err := os.Create(s.path("full.log"))
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		pool.Stdout, pool.Stderr = log, log
		startListening(t, pool, address, k.port)
		room := disk.fill(t)
		defer room()
		c, text := k.command("shared/set")
		if _, err := k.await(c, k.startJob(c)); err == nil {
			t.Fatal("the job succeeds with a worker that cannot write")
		}
		checkManifest(t, s.path("shared/set"))
		t.Logf("%s", k.full(text.String(), s.path("shared/set")))
		kill(pool)
		k.pools[1] = s.pool(t, address, k.port)
		t.Logf("with room: %d runs", k.complete("shared/set"))
		if got := contents(t, s.path("shared/set")); !maps.Equal(got, contents(t, want)) {
			t.Errorf("files %q, or other bytes", names(got))
		}
	})
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: only root may mount a disk")
	}
}

// full returns the error of a job in one line. It fails the test unless the error names the full disk and a file of the
// set.
func (k *trial) full(text, out string) string {
	k.t.Helper()
	says := k.sentence(text)
	if !strings.Contains(says, "no space left on device") || !strings.Contains(says, out+"/") {
		k.t.Errorf("the full disk or the file is not named: %s", text)
	}
	return strings.ReplaceAll(cut(says), k.dir, "")
}

// disk is a file system in memory.
type disk struct{ dir string }

// newDisk mounts a disk of the given size until the test ends.
func newDisk(t *testing.T, dir, size string) disk {
	t.Helper()
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("NOT RUN: mounting a disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return disk{dir}
}

// fill fills the disk with a file, which also takes all space that others free, until room is called.
func (d disk) fill(t *testing.T) (room func()) {
	t.Helper()
	f, err := os.Create(filepath.Join(d.dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	add := func() error {
		for _, size := range []int{1 << 20, 4 << 10} {
			for {
				if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
					break
				} else if err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := add(); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			case <-time.After(10 * time.Millisecond):
				if err := add(); err != nil {
					done <- err
					return
				}
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(stop)
		if err := errors.Join(<-done, f.Close(), os.Remove(f.Name())); err != nil {
			t.Error(err)
		}
	})
}
