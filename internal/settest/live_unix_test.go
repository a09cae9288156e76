//go:build unix

package settest_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/untrusted"
)

// TestLivePipe checks that a Live whose file becomes a pipe reports an error, keeps the old Set, and can be closed.
func TestLivePipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	set := settest.Build(t, settest.Names("member", 100), bloomery.Config{Spec: "standard(bytes=1000)"})
	settest.Check(t, set.Save(t.Context(), path))
	l := settest.Must(bloomery.OpenLive(t.Context(), path, bloomery.WithInterval(time.Millisecond)))
	defer l.Close()
	if err := syscall.Mkfifo(path+".pipe", 0o600); err != nil {
		t.Skip(err)
	}
	settest.Check(t, os.Rename(path+".pipe", path))
	settest.Eventually(t, "the error", func() bool { return errors.Is(l.Err(), untrusted.ErrNotRegular) })
	if !l.ContainsString(settest.Names("member", 1)[0]) {
		t.Error("the old Set does not answer")
	}
}
