package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/publish/transport"
	"github.com/bloomery/bloomery/shard"
)

// Poll makes the file current. It requests release.json. If that has changed, Poll checks its signature, format, name,
// number and expiry. It then loads the delta from the current file if there is one and it is smaller than the new file,
// else the whole file, compares the result with its hash, opens it, and replaces the file.
//
// It returns Updated or Unchanged, with an error wrapping ErrExpired if the release has expired. On any other error the
// Event is zero and the file is unchanged and complete. Poll returns soon after ctx ends. Its requests together take at
// most 2 × Stall + bytes / MinRate of transport.Config; the next poll resumes a download that takes longer. It waits at
// most 2 × Stall for the lock of other followers. After these times the error wraps transport.ErrStalled.
func (f *Follower) Poll(ctx context.Context) (Event, error) {
	target, err := f.options.guard.follows(f.file)
	if err != nil {
		return Event{}, absent(err)
	}

	ctx = container.NoLinks(ctx)
	unlock, err := f.lockTarget(ctx, target)
	if err != nil {
		return Event{}, absent(err)
	}
	defer unlock()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := &poll{Follower: f, pace: newPace(f.patience(), f.options.transport.MinRate, cancel)}
	if p.was, err = f.readState(ctx, target); err != nil {
		return Event{}, err
	}
	if p.held, err = f.lookAtFile(ctx); err != nil {
		return Event{}, err
	}

	event, err := p.makeCurrent(ctx)
	if err != nil {
		return Event{}, err
	}
	f.newest.Store(p.next)
	return event, f.expired(p.next)
}

type poll struct {
	*Follower
	was, next *state // the states before and after the poll; was.Release is 0 for a new file
	held      held
	release   *record
	pace      *pace
	last      string // the part file of the last download
	loaded    int64  // bytes of all bodies
	expected  int64  // expected bytes of all bodies
	unused    error  // the reason why a delta was not used, or nil
}

// makeCurrent requests the release, and replaces the file unless it already is that release.
func (p *poll) makeCurrent(ctx context.Context) (Event, error) {
	request := transport.Request{MaxBytes: maxRelease}
	// "Not modified" is useful only if the file is the release that the validators belong to, and this server sent
	// them.
	if s := p.was; p.held.sum == s.SHA256 && s.URL == p.source.String() && p.stands(s) {
		request.Have = s.Validators
	}

	text, o, err := p.loadWhole(ctx, ReleaseName, request)
	switch {
	case err != nil:
		return Event{}, absent(err)
	case !o.NotModified:
		if p.release, p.next, err = p.accept(text, p.was); err != nil {
			return Event{}, fmt.Errorf("%s: %w", p.source, err)
		}
		p.next.Validators = o.Validators
	case request.Have == (transport.Validators{}):
		return Event{}, fmt.Errorf("%s: the server answers that %s has not changed, without being asked", p.source,
			ReleaseName)
	default:
		p.next = p.was
	}

	if p.next.SHA256 == p.held.sum {
		p.removeLeftovers(ctx)
		return Event{Kind: Unchanged, Release: Release{Number: p.next.Release}, Bytes: p.loaded}, p.writeState(ctx)
	}
	if err := p.mayReplace(); err != nil {
		return Event{}, err
	}

	event := Event{Kind: Updated, Release: p.release.Release}
	p.removeAbandoned()
	event.Delta, event.From, err = p.update(ctx)

	// removeParts below spares the part of this release, so the second attempt resumes it.
	if container.DiskFull(err) && p.removeParts(p.last, false) { // disk full: remove the parts of other releases and retry
		event.Delta, event.From, err = p.update(ctx)
	}
	if err != nil {
		return Event{}, fmt.Errorf("%s: release %d: %w", p.source, p.release.Number, err)
	}

	p.removeParts("", false)
	event.Bytes, event.Unused = p.loaded, p.unused
	return event, nil
}

// removeLeftovers removes the files that a killed follower has left, once the file is current.
func (p *poll) removeLeftovers(ctx context.Context) {
	p.removeParts("", false)
	p.removeAbandoned()
	if p.held.folder {
		p.removeLeftShards(ctx)
	}
}

// removeAbandoned removes the temporary files of a killed follower.
func (p *poll) removeAbandoned() {
	own := filepath.Base(p.target)
	container.RemoveAbandoned(filepath.Dir(p.target), func(name string) bool {
		return name == own || name == own+stateSuffix
	})
}

// mayReplace returns an error if the release is too large, if the path has content of another kind, or if it was never
// followed and is not a filter, since the path may be a mistake.
func (p *poll) mayReplace() error {
	folder := p.releaseKind().folder
	h := p.held
	switch {
	case p.release.Total > p.options.maxBytes:
		return fmt.Errorf("release %d of %d bytes, and at most %d are allowed: %w", p.release.Number, p.release.Total,
			p.options.maxBytes, filter.ErrTooLarge)
	case h.exists && h.folder && !folder:
		return lasting{fmt.Errorf("%s is a folder, and one file is published; name a file", p.file)}
	case h.exists && !h.folder && folder:
		return lasting{fmt.Errorf("%s is a file, and a sharded set is published; name a folder", p.file)}
	case p.was.Release != 0 || !h.exists || h.folder:
		return nil
	}

	// A mistyped path must not cost the user another file: the first poll replaces only filters and empty files.
	in, st, err := untrusted.Open(p.file)
	if err != nil {
		return err
	}
	defer in.Close()
	head := func() io.Reader { return io.NewSectionReader(in, 0, 16) }
	if st.Size() == 0 || container.HasMagic(head()) || container.HasExactMagic(head()) {
		return nil
	}
	return lasting{fmt.Errorf("%s exists and is no filter; remove it first or name another file", p.file)}
}

// update replaces the file by the release. It uses the delta from the previous release if it is smaller and usable,
// else the whole file. It also returns the number of the previous release, or 0 if it is not known.
func (p *poll) update(ctx context.Context) (byDelta bool, from uint64, err error) {
	d, from := p.findDelta(ctx)
	var content loaded
	if byDelta = d != nil && d.Bytes < p.release.Total; byDelta {
		p.expected = p.loaded + int64(d.Bytes)
		content, p.unused = p.patchCurrent(ctx, d)
		if byDelta = p.unused == nil; !byDelta && ctx.Err() != nil {
			// The context has ended, so the whole file cannot be loaded either.
			return false, from, p.unused
		}
	}

	if !byDelta {
		p.expected = p.loaded + int64(p.release.Total)
		if content, err = p.releaseKind().loadAll(ctx, p); err != nil && p.unused != nil {
			err = fmt.Errorf("%w; the delta was not used: %v", err, p.unused) // callers check the error of the whole
		}
	}

	if err == nil {
		err = p.releaseKind().install(ctx, p, content)
	}
	return byDelta, from, err
}

func (p *poll) releaseKind() kind { return kinds[p.release.Kind] }

// patchCurrent makes the release from the current file and a delta.
func (p *poll) patchCurrent(ctx context.Context, d *object) (c loaded, err error) {
	text, err := p.fetchObject(ctx, *d)
	if err != nil {
		return c, fmt.Errorf("delta: %w", err)
	}

	old, err := p.releaseKind().holdCurrent(ctx, p, &c)
	if err != nil {
		return c, err
	}

	read := func(e part) ([]byte, error) {
		return untrusted.ReadFile(ctx, p.pathInSet(e.name), untrusted.Limit{MaxBytes: e.Bytes})
	}

	put := func(name string, content []byte) error { return c.to.PutBytes(ctx, name, content) }
	c.bytes, err = p.releaseKind().applyDelta(ctx, old, text, p.options.maxBytes, read, put)
	if err == nil {
		err = p.release.object().matches(c.bytes)
	}
	if err != nil && c.to != nil {
		err = errors.Join(err, c.to.Close())
	}
	return c, err
}

// findDelta returns the delta from the current file to the release, or nil, and the number of the current release, or
// 0.
func (p *poll) findDelta(ctx context.Context) (d *object, from uint64) {
	if p.was.SHA256 == p.held.sum {
		from = p.was.Release
	}
	if p.held.sum == (shard.Sum{}) {
		return nil, 0
	}
	if r := p.release.Previous; r != nil && r.SHA256 == p.held.sum {
		return r.Delta, r.Number
	}

	h := p.release.History
	// A history that is larger than the filter cannot save anything.
	if h == nil || h.Bytes >= p.release.Total {
		return nil, from
	}

	text, err := p.fetchObject(ctx, *h)
	if err != nil {
		p.unused = fmt.Errorf("history: %w", err)
		return nil, from
	}

	all, err := parseHistory(text)
	if err != nil {
		p.unused = err
		return nil, from
	}

	for _, s := range all {
		if s.SHA256 == p.held.sum {
			return s.Delta, s.Number
		}
	}
	return nil, from
}

// held describes the content at the path of the file.
type held struct {
	exists, folder bool
	sum            shard.Sum // sum of the file or of the manifest of a complete set, or zero
	file           fs.FileInfo
	text           []byte          // text of the manifest of a set, or nil if there is none
	manifest       *shard.Manifest // or nil if it cannot be read
}

// lookAtFile returns a description of the content at the path of the file.
func (f *Follower) lookAtFile(ctx context.Context) (h held, err error) {
	st, err := os.Stat(f.file)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, err
	}

	h.exists, h.folder, h.file = true, st.IsDir(), st
	switch {
	case h.folder:
		err = f.lookSet(ctx, &h)
	case !st.Mode().IsRegular():
		err = f.notRegular()
	case uint64(st.Size()) <= f.options.maxBytes: // a longer file cannot be an installed release
		var k known
		k, err = f.sums.lookUp(ctx, f.file)
		h.sum, h.file = k.sum, k.info
	}
	return h, err
}

// notRegular is the error if the path is a pipe, a device or a socket, which must not be opened.
func (f *Follower) notRegular() error {
	return fmt.Errorf("%s: %w; name another", f.file, untrusted.ErrNotRegular)
}

// loadWhole reads a whole object into memory.
func (p *poll) loadWhole(ctx context.Context, name string, r transport.Request) ([]byte, *transport.Object, error) {
	o, err := p.request(ctx, name, r)
	if err != nil {
		return nil, nil, err
	}
	defer o.Body.Close()
	if o.NotModified {
		return nil, o, nil
	}

	b, err := io.ReadAll(o.Body)
	// Some servers close the connection early without an error.
	if err == nil && o.Size >= 0 && int64(len(b)) != o.Size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: after %d bytes: %w", name, len(b), err)
	}
	return b, o, nil
}
