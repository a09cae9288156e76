package publish

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/publish/transport"
	"github.com/bloomery/bloomery/shard"
)

func (f *Follower) partOf(h shard.Sum) string { return f.target + partSuffix + h.String()[:partDigits] }

// isPart reports whether a name belongs to a part file, or to the folder in which a new set is opened for a trial.
func (f *Follower) isPart(name string) bool {
	digits, ok := strings.CutPrefix(name, filepath.Base(f.target)+partSuffix)
	digits = strings.TrimSuffix(digits, trialSuffix)
	_, err := hex.DecodeString(digits)
	return ok && err == nil && len(digits) == partDigits
}

// removeParts removes all part files except keep, and reports whether it removed one. With spare it also leaves the
// newest other part: a poll that loads a delta must not lose the part of the whole file that an earlier poll loaded.
func (f *Follower) removeParts(keep string, spare bool) (removed bool) {
	all, _ := os.ReadDir(filepath.Dir(f.target))
	var other string
	var newest time.Time
	for _, e := range all {
		path := filepath.Join(filepath.Dir(f.target), e.Name())
		if path == keep || !f.isPart(e.Name()) {
			continue
		}
		// With spare, the newest part seen so far is kept, and the one that it replaces is removed now.
		if st, err := e.Info(); spare && err == nil && st.Mode().IsRegular() && st.ModTime().After(newest) {
			path, other, newest = other, path, st.ModTime()
		}
		if path != "" && f.options.guard.remove(path) == nil {
			removed = true
		}
	}
	return removed
}

// download loads an object into its part file, resuming an earlier download, checks it, and returns the path.
func (p *poll) download(ctx context.Context, o object) (path string, err error) {
	if err := o.check(maxNumber); err != nil {
		return "", err
	}

	path = p.partOf(o.SHA256)
	p.last = path
	// Parts of other releases are removed first, so that failed downloads of many releases do not fill the disk.
	p.removeParts(path, true)
	out, err := p.openPart(path)
	if err != nil {
		return "", err
	}

	resumed, err := p.fillPart(ctx, out, o)
	if resumed && errors.Is(err, ErrObject) { // the resumed part may have been damaged
		_, err = p.fillPart(ctx, out, o)
	}

	err = errors.Join(err, out.Close())
	if errors.Is(err, ErrObject) {
		_ = os.Remove(path)
	}
	return path, err
}

// openPart opens or creates a part file. It resumes a file that only this user or root may have written. It removes
// anything else with that name, such as a link, and returns an error if that fails. WithForeign accepts the files of
// other users.
func (p *poll) openPart(path string) (*os.File, error) {
	g := p.options.guard
	out, st, err := g.openTrusted(path, os.O_RDWR)
	if err == nil {
		// With a second name, or write permission for others, somebody else could change the bytes after the check.
		by, _ := g.owner(path, st)
		if by.links <= 1 && (g.off || !g.shared(path, st)) {
			return out, nil
		}
		err = fmt.Errorf("%s: %w: it has permissions %v and %d names", path, ErrForeign, st.Mode(), by.links)
		_ = out.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		if failed := g.remove(path); failed != nil {
			return nil, errors.Join(err, failed)
		}
	}
	// O_EXCL: a file or link that another user creates in this moment is an error and is not opened.
	out, _, err = untrusted.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, g.newMode(0o666, 0o600))
	return out, err
}

// fillPart is one attempt of download. It reports whether the file already contained bytes, which it then used. If the
// error wraps ErrObject, the file is empty.
func (p *poll) fillPart(ctx context.Context, out *os.File, o object) (resumed bool, err error) {
	at, err := out.Seek(0, io.SeekEnd)
	if err == nil && uint64(at) < o.Bytes {
		err = p.loadRest(ctx, out, at, o)
	}
	if err == nil {
		_, err = out.Seek(0, io.SeekStart)
	}
	if err == nil {
		// The hash is computed from the file, not from the network: the resumed bytes need the check too.
		err = o.copyChecked(ctx, io.Discard, out)
	}
	if errors.Is(err, ErrObject) {
		err = errors.Join(err, out.Truncate(0))
	}
	return at > 0, err
}

// loadRest appends the missing bytes to a file of at bytes.
func (p *poll) loadRest(ctx context.Context, out *os.File, at int64, o object) error {
	name := objectName(o.SHA256)
	got, err := p.request(ctx, name, transport.Request{Offset: at, MaxBytes: int64(o.Bytes)})
	if err != nil {
		return err
	}
	defer got.Body.Close()
	if got.Size >= 0 && uint64(got.Size) != o.Bytes {
		return fmt.Errorf("%w: the server has %d bytes, and the release names %d", ErrObject, got.Size, o.Bytes)
	}
	if got.Offset != at { // the server sends the whole object
		at = 0
		_, err := out.Seek(0, io.SeekStart)
		if err = errors.Join(err, out.Truncate(0)); err != nil {
			return err
		}
	}

	// The resumed bytes are not loaded again, so progress does not wait for them.
	p.expected -= at
	n, err := io.Copy(out, got.Body)
	if err == nil && uint64(at+n) < o.Bytes {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("%s: after %d of %d bytes: %w", name, at+n, o.Bytes, err)
	}
	return nil
}

// copyPart copies the part file of an object, and checks the copied bytes: the file may have changed since download
// checked it.
func (p *poll) copyPart(ctx context.Context, w io.Writer, path string, o object) error {
	in, _, err := p.options.guard.openTrusted(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer in.Close()
	err = o.copyChecked(ctx, w, in)
	if errors.Is(err, ErrObject) {
		err = fmt.Errorf("%s was changed after it was loaded: %w", path, err)
	}
	return err
}

// objectName returns the name of the object with a hash in the folder of a publisher.
func objectName(h shard.Sum) string { return ObjectsName + "/" + h.String() }

// inMemory is the largest object in bytes that is loaded without a part file. A larger one is resumed by the next poll.
const inMemory = 64 << 10

func (p *poll) fetchObject(ctx context.Context, o object) (b []byte, err error) {
	switch {
	case o.Bytes > p.options.maxBytes:
		return nil, fmt.Errorf("an object of %d bytes, and at most %d are allowed: %w", o.Bytes, p.options.maxBytes,
			filter.ErrTooLarge)
	case o.Bytes <= inMemory:
		b, _, err = p.loadWhole(ctx, objectName(o.SHA256), transport.Request{MaxBytes: int64(o.Bytes)})
	default:
		var path string
		if path, err = p.download(ctx, o); err == nil {
			// The part stays until the poll succeeds, so a poll that fails later does not load the object again.
			b, err = untrusted.ReadFile(ctx, path, untrusted.Limit{MaxBytes: o.Bytes})
		}
	}
	if err != nil {
		return nil, err
	}
	return b, o.matches(b)
}

// pace ends a poll whose requests together take longer than patience + bytes / rate, including redirects, headers and
// bodies. Time between requests, spent on local files, does not count. So a slow poll ends even if each part of an
// answer arrives within its own limit, and a large download continues as long as it makes progress.
type pace struct {
	rate    float64 // bytes per second
	timer   *time.Timer
	running bool          // during a request
	left    time.Duration // the remaining time at since
	since   time.Time     // the last step
}

// newPace returns a pace that calls cancel, and is paused.
func newPace(patience time.Duration, rate int64, cancel context.CancelCauseFunc) *pace {
	if rate <= 0 {
		rate = transport.DefaultMinRate
	}
	slow := fmt.Errorf("%w: the requests of this poll take longer than %v + bytes / %d a second",
		transport.ErrStalled, patience, rate)
	p := &pace{rate: float64(rate), left: patience, timer: time.AfterFunc(time.Hour, func() { cancel(slow) })}
	// The timer is created with an arbitrary duration, since AfterFunc starts it; the first request sets the right one.
	p.timer.Stop()
	return p
}

// longest is far longer than any poll, and far below the largest Duration.
const longest = 50 * 365 * 24 * time.Hour

func (p *pace) startClock()  { p.adjust(true, 0) }
func (p *pace) loaded(n int) { p.adjust(true, n) }
func (p *pace) stopClock()   { p.adjust(false, 0) }

// adjust subtracts the time of the request since the last step from the remaining time, and adds the time for n bytes.
func (p *pace) adjust(running bool, n int) {
	now := time.Now()
	if p.running {
		p.left -= now.Sub(p.since)
	}
	// The time for many bytes at a low rate must not overflow the Duration.
	p.left = min(p.left+time.Duration(float64(n)/p.rate*float64(time.Second)), longest)
	p.running, p.since = running, now
	if p.timer.Stop(); running {
		p.timer.Reset(max(p.left, 0))
	}
}

// request is Source.Get, at the pace of the poll. The caller must close the body even if it is empty.
func (p *poll) request(ctx context.Context, name string, r transport.Request) (*transport.Object, error) {
	p.pace.startClock()
	o, err := p.source.Get(ctx, name, r)
	if err != nil {
		p.pace.stopClock()
		if ctx.Err() != nil {
			err = fmt.Errorf("%s: %w", name, context.Cause(ctx))
		}
		return nil, err
	}

	// The Source may keep or share its Object, so the body is replaced in a copy.
	got := *o
	if got.Body == nil {
		got.Body = http.NoBody
	}
	got.Body = &paced{ReadCloser: got.Body, ctx: ctx, p: p}
	return &got, nil
}

// paced is a body that reports its bytes to the pace.
type paced struct {
	io.ReadCloser
	ctx context.Context
	p   *poll
}

func (b *paced) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	if n > 0 {
		b.p.pace.loaded(n)
		b.p.loaded += int64(n)
		b.p.report()
	}
	if err != nil && err != io.EOF && b.ctx.Err() != nil {
		err = context.Cause(b.ctx)
	}
	return n, err
}

func (b *paced) Close() error {
	b.p.pace.stopClock()
	return b.ReadCloser.Close()
}

func (p *poll) report() {
	if p.options.progress != nil && p.expected > 0 {
		p.calls.Lock()
		defer p.calls.Unlock()
		p.options.progress(p.loaded, p.expected)
	}
}
