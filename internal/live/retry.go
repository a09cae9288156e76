package live

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// damage lists errors caused by the content of a file, the options or this program. Another attempt with the same file
// returns the same error.
var damage = []error{
	filter.ErrMagic, filter.ErrVersion, filter.ErrHash, filter.ErrChecksum, filter.ErrCorrupt,
	filter.ErrSecret, io.ErrUnexpectedEOF,
	filter.ErrFamily, filter.ErrTooLarge, filter.ErrConfig, filter.ErrSpec, filter.ErrUnsupported,
	shard.ErrManifest, shard.ErrForeign, shard.ErrChanged,
}

// Passing reports whether err is transient: another attempt may succeed although the file stays the same. It is true
// for errors of the operating system, such as too many open files, no memory, a missing file or an I/O error, and for
// unknown errors. It is false for damage, such as a wrong checksum, secret or size, and for nil.
func Passing(err error) bool {
	if err == nil {
		return false
	}
	var number syscall.Errno
	var path *fs.PathError
	var call *os.SyscallError
	if errors.As(err, &number) || errors.As(err, &path) || errors.As(err, &call) {
		return true
	}
	return !slices.ContainsFunc(damage, func(d error) bool { return errors.Is(err, d) })
}

// The pause after a failed attempt is FirstPause, doubles with each further failure, and is at most LongestPause.
const (
	FirstPause   = 100 * time.Millisecond
	LongestPause = 30 * time.Second
)

// Failure is the error of the last attempt and the time of the next one. It does not change, so goroutines may share
// it. A nil Failure means no failure.
type Failure struct {
	Err   error
	again time.Time // zero: never
	pause time.Duration
}

// After returns the Failure of an attempt that returned err at the time now. before is the Failure of the previous
// attempt, or nil if that succeeded or was for another file.
func After(before *Failure, err error, now time.Time) *Failure {
	f := &Failure{Err: err}
	if Passing(err) {
		f.pause = FirstPause
		if before != nil && before.pause > 0 {
			f.pause = min(2*before.pause, LongestPause)
		}
		f.again = now.Add(f.pause)
	}
	return f
}

// Final reports whether there is no next attempt.
func (f *Failure) Final() bool { return f != nil && f.again.IsZero() }

// Due reports whether it is time for the next attempt.
func (f *Failure) Due(now time.Time) bool { return f == nil || !f.Final() && !now.Before(f.again) }

// Wait returns the time from now until the next attempt, at most longest.
func (f *Failure) Wait(now time.Time, longest time.Duration) time.Duration {
	if f == nil || f.Final() {
		return longest
	}
	return min(longest, max(0, f.again.Sub(now)))
}

// Cause returns Err, or nil if there is no failure.
func (f *Failure) Cause() error {
	if f == nil {
		return nil
	}
	return f.Err
}
