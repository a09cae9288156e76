//go:build unix

package container

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family/standard"
)

// skipEmulated skips a test that starts its own program again if err shows that the system cannot run it, because the
// program runs in an emulator of another processor.
func skipEmulated(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skip("the system starts no programs for this processor, only an emulator does:", err)
	}
}

// crashEnv names the file that a process started by TestKilledWriter keeps replacing.
const crashEnv = "BLOOMERY_TEST_REPLACE"

// generation returns the i-th filter that the killed writer writes: 2 MiB with i keys.
func generation(t testing.TB, i uint64) *standard.Filter {
	f, err := standard.New(standard.Config{Bits: 1 << 24, K: 5})
	if err != nil {
		t.Fatal(err)
	}
	for key := range i {
		_ = f.Add(filter.NewHasher(7).SumUint64(key))
	}
	return f
}

// TestKilledWriter kills a process that replaces a file again and again, at random moments. The file must be complete
// each time and contain all its keys. The next writer must remove the temporary file of the killed one.
func TestKilledWriter(t *testing.T) {
	if path := os.Getenv(crashEnv); path != "" {
		for i := uint64(1); ; i++ {
			if err := writeFilterFile(t.Context(), path, generation(t, i%50), filter.NewHasher(7)); err != nil {
				t.Fatal(err)
			}
			if i == 1 {
				fmt.Println("written")
			}
		}
	}
	path := filepath.Join(t.TempDir(), "f.bloom")
	if err := writeFilterFile(t.Context(), path, generation(t, 1), filter.NewHasher(7)); err != nil {
		t.Fatal(err)
	}
	kills := 30
	if testing.Short() {
		kills = 5
	}
	for round := range kills {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWriter$")
		cmd.Env = append(os.Environ(), crashEnv+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		err = cmd.Start()
		skipEmulated(t, err)
		if err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "written\n" {
			t.Fatalf("the writer said %q: %v", line, err)
		}
		time.Sleep(time.Duration(rand.Int64N(int64(60 * time.Millisecond))))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
			t.Fatalf("the writer ended by itself: %v", err)
		}
		s, err := readFilterFile(path, reading{})
		if err != nil {
			t.Fatalf("kill %d: %v", round, err)
		}
		n := s.Filter.Info().Keys
		for key := range n {
			if !s.Filter.Has(s.Hasher.SumUint64(key)) {
				t.Fatalf("kill %d: key %d of %d is lost", round, key, n)
			}
		}
	}
	if err := writeFilterFile(t.Context(), path, generation(t, 1), filter.NewHasher(7)); err != nil {
		t.Fatal(err)
	}
	if left := entries(t, filepath.Dir(path)); canLock && len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
}
