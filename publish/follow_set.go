package publish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/delta"
	"github.com/bloomery/bloomery/internal/flock"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// A sharded set is replaced as the root does it: new shards are written beside the old ones, then the manifest is
// replaced, then files are removed that only the old manifest named. The published manifest names each shard by its
// content, so a new shard never has the name of an old one.

// heldSet is the set in the folder that is followed.
type heldSet struct {
	text     []byte          // of the manifest, or nil if there is none
	manifest *shard.Manifest // or nil if it cannot be read
}

// lookSet returns the set in the folder, and the sum of its manifest if all shards are there and undamaged.
func (f *Follower) lookSet(ctx context.Context) (s heldSet, sum Hash, err error) {
	if s.text, err = f.readManifest(ctx); s.text == nil {
		return s, sum, err
	}
	if s.manifest, err = shard.ReadManifest(bytes.NewReader(s.text)); err != nil {
		s.manifest = nil
		return s, sum, nil // it is loaded again
	}
	for _, e := range s.manifest.Shards {
		if ok, err := f.hasShard(ctx, e); err != nil || !ok {
			return s, sum, err
		}
	}
	return s, sha256.Sum256(s.text), nil
}

// readManifest returns the text of the manifest in the folder that is followed, or nil if there is none.
func (f *Follower) readManifest(ctx context.Context) ([]byte, error) {
	text, err := untrusted.ReadFile(ctx, f.inSet(shard.ManifestName), untrusted.Limit{MaxBytes: f.options.maxBytes})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// inSet returns the path of a file of the set.
func (f *Follower) inSet(name string) string { return filepath.Join(f.file, name) }

// hasShard reports whether the folder has a shard.
func (f *Follower) hasShard(ctx context.Context, e shard.Entry) (bool, error) {
	st, err := os.Stat(f.inSet(e.File))
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!st.Mode().IsRegular() || uint64(st.Size()) != e.Bytes) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	k, err := f.sums.of(ctx, f.inSet(e.File))
	return err == nil && k.sum == e.SHA256, err
}

// lockSet makes the folder of the set and takes its lock, which a command that changes the set has. The error wraps
// container.ErrChanged if the set is not the one that was looked at: a manifest that is made from that one would name
// shards that are gone.
func (p *poll) lockSet(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(p.file, p.options.guard.perm(0o777, 0o755)); err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	l, _, err := flock.Lock(waiting, p.file, nil)
	if err != nil {
		if ctx.Err() == nil && waiting.Err() != nil {
			err = fmt.Errorf("%s: %w", p.file, bloomery.ErrLocked)
		}
		return nil, err
	}
	now, err := p.readManifest(ctx)
	if err == nil {
		_, err = p.options.guard.follows(p.file) // another user may have made the folder since
	}
	if err == nil && !bytes.Equal(now, p.held.set.text) {
		err = fmt.Errorf("%s: %w", p.file, container.ErrChanged)
	}
	if err != nil {
		_ = flock.Unlock(l)
		return nil, err
	}
	return func() { _ = flock.Unlock(l) }, nil
}

// patchSet applies the delta of a set. It writes new shards and returns the new manifest.
func (p *poll) patchSet(ctx context.Context, text []byte) (c loaded, err error) {
	unlock, err := p.lockSet(ctx)
	if err != nil {
		return c, err
	}
	defer unlock()
	old := delta.Set{Manifest: p.held.set.text, Shard: func(i int) ([]byte, error) {
		e := p.held.set.manifest.Shards[i]
		return untrusted.ReadFile(ctx, p.inSet(e.File), untrusted.Limit{MaxBytes: e.Bytes})
	}}
	o := delta.Options{MaxBytes: p.options.maxBytes}
	c.bytes, err = delta.PatchSet(ctx, old, text, o, func(name string, shard []byte) error {
		return p.writeShard(ctx, name, func(w io.Writer) error {
			_, err := w.Write(shard)
			return err
		})
	})
	if err == nil {
		err = p.release.Object.match(c.bytes)
	}
	if err != nil {
		p.sweep(p.held.set.manifest)
	}
	return c, err
}

// writeShard writes a shard that the manifest in the folder does not name.
func (p *poll) writeShard(ctx context.Context, name string, write func(io.Writer) error) error {
	m := p.held.set.manifest
	same := func(e shard.Entry) bool { return e.File == name }
	if !shard.IsName(name) || m != nil && slices.ContainsFunc(m.Shards, same) {
		return fmt.Errorf("%w: new shard %.80q has the name of an old one", shard.ErrManifest, name)
	}
	return container.WriteAtomic(container.Batch(ctx), p.inSet(name), write)
}

// wholeSet loads the manifest.
func (p *poll) wholeSet(ctx context.Context) (c loaded, err error) {
	if c.bytes, err = p.object(ctx, p.release.Object); err != nil {
		err = fmt.Errorf("manifest: %w", err)
	}
	return c, err
}

// installSet loads the shards that are still missing, opens the new set, writes the state, and replaces the manifest.
func (p *poll) installSet(ctx context.Context, c loaded) error {
	m, err := shard.ReadManifest(bytes.NewReader(c.bytes))
	if err != nil {
		return lasting{err}
	}
	for _, e := range m.Shards { // so that the sum does not overflow
		if e.Bytes > p.release.Total {
			return lasting{fmt.Errorf("%w: shard %s has %d bytes, and the release %d",
				shard.ErrManifest, e.File, e.Bytes, p.release.Total)}
		}
	}
	if total := m.Bytes() + uint64(len(c.bytes)); total != p.release.Total {
		return lasting{fmt.Errorf("%w: its files have %d bytes, and the release names %d",
			shard.ErrManifest, total, p.release.Total)}
	}
	unlock, err := p.lockSet(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	p.sweep(p.held.set.manifest, m)
	for _, e := range m.Shards {
		if err := p.loadShard(ctx, e); err != nil {
			return fmt.Errorf("shard %s: %w", e.File, err)
		}
	}
	if err := p.opensSet(c.bytes, m); err != nil {
		p.sweep(p.held.set.manifest)
		return err
	}
	if err := p.writeState(ctx, p.was, p.next); err != nil {
		return err
	}
	container.SyncFolder(p.file)
	err = container.WriteAtomic(ctx, p.inSet(shard.ManifestName), func(w io.Writer) error {
		_, err := w.Write(c.bytes)
		return err
	})
	if err == nil {
		p.sweep(m)
	}
	return err
}

// loadShard loads a shard unless the folder has it.
func (p *poll) loadShard(ctx context.Context, e shard.Entry) error {
	if ok, err := p.hasShard(ctx, e); ok || err != nil {
		p.expected -= int64(e.Bytes)
		return err
	}
	part, err := p.download(ctx, Object{e.SHA256, e.Bytes})
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return p.copyPart(w, part, Object{e.SHA256, e.Bytes}) }
	if m := p.held.set.manifest; m != nil && slices.Contains(m.Shards, e) { // it is there, damaged
		err = container.WriteAtomic(container.Batch(ctx), p.inSet(e.File), write)
	} else {
		err = p.writeShard(ctx, e.File, write)
	}
	if err == nil {
		_ = os.Remove(part)
	}
	return err
}

// opensSet returns an error if this program cannot open the set. It opens it in a folder of links to the shards.
func (p *poll) opensSet(manifest []byte, m *shard.Manifest) error {
	trial := p.part(p.release.SHA256) + trialSuffix
	if err := errors.Join(p.options.guard.remove(trial), os.Mkdir(trial, 0o700)); err != nil {
		return err
	}
	defer os.RemoveAll(trial)
	for _, e := range m.Shards {
		if err := link(p.inSet(e.File), filepath.Join(trial, e.File)); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(trial, shard.ManifestName), manifest, 0o600); err != nil {
		return err
	}
	s, err := bloomery.Open(trial, p.options.open...)
	switch {
	case errors.Is(err, container.ErrNoSecret):
		return nil
	case err != nil:
		return cannotOpen(err)
	}
	return s.Close()
}

// link makes a hard link, or where there are none a symbolic one.
func link(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	from, err := filepath.Abs(from)
	if err != nil {
		return err
	}
	return os.Symlink(from, to)
}

// unnamed returns the shards in the folder that none of the manifests names, of which some may be nil. ok is false if
// that cannot be known. Workers of a distributed build in the folder write to a folder of their own.
func (p *poll) unnamed(keep ...*shard.Manifest) (names []string, ok bool) {
	all, err := os.ReadDir(p.file)
	if err != nil {
		return nil, false
	}
	named := map[string]bool{}
	for _, m := range keep {
		if m == nil {
			continue
		}
		for _, e := range m.Shards {
			named[e.File] = true
		}
	}
	for _, e := range all {
		if shard.IsName(e.Name()) && !named[e.Name()] {
			names = append(names, e.Name())
		}
	}
	return names, true
}

// sweep removes the shards of unnamed, and the temporary files of killed writers.
func (p *poll) sweep(keep ...*shard.Manifest) {
	names, ok := p.unnamed(keep...)
	if !ok {
		return
	}
	for _, name := range names {
		_ = os.Remove(p.inSet(name))
		delete(p.sums, p.inSet(name))
	}
	container.RemoveAbandoned(p.file, nil)
}

// tidySet is tidy in the folder of a set. It takes the lock only if there is something to remove, and does not wait.
func (p *poll) tidySet(ctx context.Context) {
	m := p.held.set.manifest
	if names, _ := p.unnamed(m); m == nil || len(names) == 0 {
		return
	}
	once, cancel := context.WithTimeout(ctx, 0)
	defer cancel()
	lock, _, err := flock.Lock(once, p.file, nil)
	if err != nil {
		return
	}
	defer flock.Unlock(lock)
	if now, err := p.readManifest(ctx); err == nil && bytes.Equal(now, p.held.set.text) {
		p.sweep(m)
	}
}
