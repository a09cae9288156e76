package live

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/shard"
)

func TestPassing(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{&fs.PathError{Op: "open", Path: "f", Err: syscall.EMFILE}, true},
		{fmt.Errorf("f: %w", syscall.ENOMEM), true},
		{&shard.Error{File: "f", Err: syscall.EIO}, true},
		{os.ErrNotExist, true},
		{fmt.Errorf("f: %w", filter.ErrFile), true}, // a mapped page that could not be read
		{errors.New("something else"), true},
		{&container.FormatError{Err: syscall.EIO}, true},
		{&container.FormatError{Err: filter.ErrChecksum}, false},
		{fmt.Errorf("f: %w", filter.ErrExact), false},
		{filter.ErrNoSecret, false},
		{&shard.Error{File: "f", Err: shard.ErrChanged}, false},
		{filter.ErrTooLarge, false},
		{io.ErrUnexpectedEOF, false},
	} {
		if got := Passing(c.err); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}

// TestPauses checks that pauses double up to LongestPause and start again after a different error, and that damage is
// not retried.
func TestPauses(t *testing.T) {
	now := time.Unix(1000, 0)
	var f *Failure
	if !f.Due(now) || f.Cause() != nil || f.Wait(now, time.Hour) != time.Hour || f.Final() {
		t.Error("no failure is not due")
	}
	for want := FirstPause; want < 4*LongestPause; want *= 2 {
		pause := min(want, LongestPause)
		f = After(f, syscall.EMFILE, now)
		if f.Due(now) || f.Due(now.Add(pause-1)) || !f.Due(now.Add(pause)) || f.Final() {
			t.Errorf("after a pause of %v", pause)
		}
		if f.Wait(now, time.Hour) != pause || f.Wait(now, 1) != 1 || f.Wait(now.Add(time.Hour), 1) != 0 {
			t.Errorf("wait %v", f.Wait(now, time.Hour))
		}
	}
	f = After(f, filter.ErrChecksum, now)
	if f.Due(now.Add(1e6*time.Hour)) || !f.Final() || f.Wait(now, time.Hour) != time.Hour || f.Cause() == nil {
		t.Error("damage is tried again")
	}
	if f = After(f, syscall.EIO, now); !f.Due(now.Add(FirstPause)) {
		t.Error("the first pause after damage is longer")
	}
}
