package publish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/delta"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// setKind is the kind of a sharded set. The published manifest names each shard by its content, so a new shard never
// has the name of an old one.
type setKind struct{}

func (setKind) folder() bool { return true }

func (setKind) members() string { return "keys" }

func (setKind) rated() bool { return true }

func (setKind) parts(content []byte) (all []part, err error) {
	m, err := manifestOf(content)
	if err != nil {
		return nil, err
	}
	for _, e := range m.Shards {
		all = append(all, part{e.File, objectOf(e)})
	}
	return all, nil
}

// manifestOf returns the manifest that is an object.
func manifestOf(content []byte) (*shard.Manifest, error) {
	m, err := shard.ReadManifest(bytes.NewReader(content))
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrObject, err)
	}
	return m, err
}

func (k setKind) check(ctx context.Context, s *objects, content []byte) error {
	all, err := k.parts(content)
	for i := 0; i < len(all) && err == nil; i++ {
		var b []byte
		if b, err = s.read(ctx, all[i].Object, maxNumber); err == nil {
			_, err = decodeFilter(b, false)
		}
		if err != nil {
			err = &shard.Error{File: all[i].name, Err: err}
		}
	}
	return err
}

// set returns a sharded set of objects of at most so many bytes each.
func (s *objects) set(ctx context.Context, manifest []byte, most uint64) (delta.Set, error) {
	m, err := manifestOf(manifest)
	return delta.Set{Manifest: manifest, Shard: func(i int) ([]byte, error) {
		return s.read(ctx, objectOf(m.Shards[i]), most)
	}}, err
}

func (setKind) diff(ctx context.Context, s *objects, old, new []byte, most uint64) ([]byte, error) {
	a, err := s.set(ctx, old, most)
	if err != nil {
		return nil, err
	}
	b, err := s.set(ctx, new, most)
	if err != nil {
		return nil, err
	}
	return delta.DiffSet(ctx, a, b)
}

func (setKind) apply(ctx context.Context, s *objects, old, d []byte, sums map[string]Hash) ([]byte, error) {
	was, err := s.set(ctx, old, maxNumber)
	if err != nil {
		return nil, err
	}
	return delta.PatchSet(ctx, was, d, delta.Options{MaxBytes: 1 << 62}, func(name string, content []byte) error {
		if sums[name] != sha256.Sum256(content) {
			return fmt.Errorf("%w: shard %s", ErrObject, name)
		}
		return nil
	})
}

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

// lockSet begins to replace the set. The error wraps container.ErrChanged if the set is not the one that was looked at:
// a manifest that is made from that one would name shards that are gone.
func (p *poll) lockSet(ctx context.Context, wait time.Duration) (*shard.Folder, error) {
	to, err := shard.LockFolder(ctx, p.file, shard.Locking{Wait: wait, Perm: p.options.guard.perm(0o777, 0o755)})
	if err != nil {
		return nil, err
	}
	now, err := p.readManifest(ctx)
	if err == nil {
		_, err = p.options.guard.follows(p.file) // another user may have made the folder since
	}
	if err == nil && !bytes.Equal(now, p.held.set.text) {
		err = fmt.Errorf("%s: %w", p.file, container.ErrChanged)
	}
	if err == nil {
		err = to.Use(p.held.set.manifest)
	}
	if err != nil {
		return nil, errors.Join(err, to.Unlock())
	}
	return to, nil
}

// setWait is the time for which a poll waits for a command that changes the set.
const setWait = 10 * time.Second

// patch writes the new shards.
func (setKind) patch(ctx context.Context, p *poll, text []byte) (c loaded, err error) {
	if c.to, err = p.lockSet(ctx, setWait); err != nil {
		return c, err
	}
	old := delta.Set{Manifest: p.held.set.text, Shard: func(i int) ([]byte, error) {
		e := p.held.set.manifest.Shards[i]
		return untrusted.ReadFile(ctx, p.inSet(e.File), untrusted.Limit{MaxBytes: e.Bytes})
	}}
	o := delta.Options{MaxBytes: p.options.maxBytes}
	c.bytes, err = delta.PatchSet(ctx, old, text, o, func(name string, content []byte) error {
		return c.to.PutBytes(ctx, name, content)
	})
	if err == nil {
		err = p.release.Object.match(c.bytes)
	}
	if err != nil {
		err = errors.Join(err, c.to.Close())
	}
	return c, err
}

// whole loads the manifest.
func (setKind) whole(ctx context.Context, p *poll) (c loaded, err error) {
	if c.bytes, err = p.object(ctx, p.release.Object); err != nil {
		err = fmt.Errorf("manifest: %w", err)
	}
	return c, err
}

// checkSet returns the manifest of a release, if it has as many bytes as that says.
func (p *poll) checkSet(text []byte) (*shard.Manifest, error) {
	m, err := shard.ReadManifest(bytes.NewReader(text))
	if err != nil {
		return nil, lasting{err}
	}
	for _, e := range m.Shards { // so that the sum does not overflow
		if e.Bytes > p.release.Total {
			return nil, lasting{fmt.Errorf("%w: shard %s has %d bytes, and the release %d",
				shard.ErrManifest, e.File, e.Bytes, p.release.Total)}
		}
	}
	if total := m.Bytes() + uint64(len(text)); total != p.release.Total {
		return nil, lasting{fmt.Errorf("%w: its files have %d bytes, and the release names %d",
			shard.ErrManifest, total, p.release.Total)}
	}
	return m, nil
}

// install loads the shards that are still missing, too. If it fails, they stay for the next poll.
func (k setKind) install(ctx context.Context, p *poll, c loaded) error {
	m, err := p.checkSet(c.bytes)
	if err == nil && c.to == nil {
		c.to, err = p.lockSet(ctx, setWait)
	}
	if c.to != nil {
		defer c.to.Unlock()
	}
	if err != nil {
		return err
	}
	c.to.Sweep(m)
	for _, e := range m.Shards {
		if err := p.loadShard(ctx, c.to, e); err != nil {
			return fmt.Errorf("shard %s: %w", e.File, err)
		}
	}
	if err := k.opens(ctx, p, c); err != nil {
		c.to.Sweep()
		return err
	}
	if err := p.writeState(ctx, p.was, p.next); err != nil {
		return err
	}
	if err := c.to.Commit(ctx, m, c.bytes, nil); err != nil {
		return err
	}
	named := map[string]bool{}
	for _, e := range m.Shards {
		named[p.inSet(e.File)] = true
	}
	maps.DeleteFunc(p.sums, func(path string, _ known) bool { return !named[path] })
	return nil
}

// loadShard loads a shard unless the folder has it.
func (p *poll) loadShard(ctx context.Context, to *shard.Folder, e shard.Entry) error {
	if ok, err := p.hasShard(ctx, e); ok || err != nil {
		p.expected -= int64(e.Bytes)
		return err
	}
	part, err := p.download(ctx, objectOf(e))
	if err != nil {
		return err
	}
	err = to.PutFile(ctx, e.File, e.SHA256, func(w io.Writer) error {
		return p.copyPart(ctx, w, part, objectOf(e))
	})
	if err == nil {
		_ = os.Remove(part)
	}
	return err
}

// opens opens the set in a folder of links to the shards.
func (setKind) opens(_ context.Context, p *poll, c loaded) error {
	m, err := shard.ReadManifest(bytes.NewReader(c.bytes))
	if err != nil {
		return err
	}
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
	if err := os.WriteFile(filepath.Join(trial, shard.ManifestName), c.bytes, 0o600); err != nil {
		return err
	}
	return opened(bloomery.Open(trial, p.options.open...))
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

// tidySet is tidy in the folder of a set. It takes the lock only if there is something to remove, and does not wait.
func (p *poll) tidySet(ctx context.Context) {
	m := p.held.set.manifest
	all, _ := os.ReadDir(p.file)
	leftover := shard.Leftover{All: true, Keep: []*shard.Manifest{m}}.Func()
	if m == nil || !slices.ContainsFunc(all, func(e fs.DirEntry) bool { return leftover(e.Name()) }) {
		return
	}
	if to, err := p.lockSet(ctx, shard.NoWait); err == nil {
		to.Sweep()
		_ = to.Unlock()
	}
}
