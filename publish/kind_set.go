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
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// setForm is the form of a sharded set. The published manifest names each shard by its content, so a new shard never
// has the name of an old one.
type setForm struct{}

func (setForm) partsOf(content []byte) (all []part, err error) {
	m, err := shard.ReadManifest(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrObject, err)
	}
	for _, e := range m.Shards {
		all = append(all, part{e.File, objectOf(e)})
	}
	return all, nil
}

func (k setForm) checkContent(content []byte, read reader) error {
	all, err := k.partsOf(content)
	for i := 0; i < len(all) && err == nil; i++ {
		var b []byte
		if b, err = read(all[i]); err == nil {
			_, err = decodeFilter(b, false)
		}
		if err != nil {
			err = &shard.Error{File: all[i].name, Err: err}
		}
	}
	return err
}

// lookSet describes the set in the folder. It sets the sum only if all shards are there and undamaged.
func (f *Follower) lookSet(ctx context.Context, h *held) (err error) {
	if h.text, err = f.readManifest(ctx); h.text == nil {
		return err
	}
	if h.manifest, err = shard.ReadManifest(bytes.NewReader(h.text)); err != nil {
		h.manifest = nil
		return nil // the set is loaded again
	}

	for _, e := range h.manifest.Shards {
		if ok, err := f.hasShard(ctx, e); err != nil || !ok {
			return err
		}
	}
	h.sum = sha256.Sum256(h.text)
	return nil
}

// readManifest returns the text of the manifest in the followed folder, or nil if there is none.
func (f *Follower) readManifest(ctx context.Context) ([]byte, error) {
	text, err := untrusted.ReadFile(ctx, f.pathInSet(shard.ManifestName), untrusted.Limit{MaxBytes: f.options.maxBytes})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

func (f *Follower) pathInSet(name string) string { return filepath.Join(f.file, name) }

// hasShard reports whether the folder has a shard.
func (f *Follower) hasShard(ctx context.Context, e shard.Entry) (bool, error) {
	st, err := os.Stat(f.pathInSet(e.File))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil || !st.Mode().IsRegular() || uint64(st.Size()) != e.Bytes:
		return false, err
	}
	k, err := f.sums.lookUp(ctx, f.pathInSet(e.File))
	return err == nil && k.sum == e.SHA256, err
}

// lockSet begins to replace the set. The error wraps filter.ErrChanged if the set has changed since lookAtFile: a
// manifest made from the old set would name shards that no longer exist.
func (p *poll) lockSet(ctx context.Context, wait time.Duration) (*shardset.Folder, error) {
	to, err := shardset.LockFolder(ctx, p.file, shardset.Locking{Wait: wait, Perm: p.options.guard.newMode(0o777, 0o755)})
	if err != nil {
		return nil, err
	}

	now, err := p.readManifest(ctx)
	if err == nil {
		_, err = p.options.guard.follows(p.file) // another user may have created the folder meanwhile
	}
	if err == nil && !bytes.Equal(now, p.held.text) {
		err = fmt.Errorf("%s: %w", p.file, filter.ErrChanged)
	}
	if err == nil {
		err = to.Use(p.held.manifest)
	}
	if err != nil {
		return nil, errors.Join(err, to.Unlock())
	}
	return to, nil
}

// setWait is the time for which a poll waits for a command that is changing the set.
const setWait = 10 * time.Second

func (setForm) holdCurrent(ctx context.Context, p *poll, c *loaded) (manifest []byte, err error) {
	c.to, err = p.lockSet(ctx, setWait)
	return p.held.text, err
}

func (setForm) loadAll(ctx context.Context, p *poll) (c loaded, err error) {
	if c.bytes, err = p.fetchObject(ctx, p.release.object()); err != nil {
		err = fmt.Errorf("manifest: %w", err)
	}
	return c, err
}

// checkSet returns the manifest of a release, or an error if its size differs from the release.
func (p *poll) checkSet(text []byte) (*shard.Manifest, error) {
	m, err := shard.ReadManifest(bytes.NewReader(text))
	if err != nil {
		return nil, lasting{err}
	}
	// The sizes come from a server. Without the first check, their sum could overflow and match.
	more := func(e shard.Entry) bool { return e.Bytes > p.release.Total }
	if slices.ContainsFunc(m.Shards, more) || m.Bytes()+uint64(len(text)) != p.release.Total {
		return nil, lasting{fmt.Errorf("%w: its files have %d bytes, and the release names %d", shard.ErrManifest,
			m.Bytes()+uint64(len(text)), p.release.Total)}
	}
	return m, nil
}

// install also loads the shards that are still missing. If it fails, they stay for the next poll.
func (setForm) install(ctx context.Context, p *poll, c loaded) error {
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

	// Shards of an earlier attempt for another release would only take space; the shards of m stay.
	c.to.Sweep(m)
	for _, e := range m.Shards {
		if err := p.loadShard(ctx, c.to, e); err != nil {
			return fmt.Errorf("shard %s: %w", e.File, err)
		}
	}

	if err := p.opensSet(m, c.bytes); err != nil {
		c.to.Sweep()
		return err
	}
	// The state comes first: after a crash between the two, the follower refuses older releases and installs this one
	// again.
	if err := p.writeState(ctx); err != nil {
		return err
	}

	if err := c.to.Commit(ctx, m, c.bytes, nil); err != nil {
		return err
	}

	named := map[string]bool{}
	for _, e := range m.Shards {
		named[p.pathInSet(e.File)] = true
	}
	// Hashes of removed shards would fill the memory of a program that runs for months.
	maps.DeleteFunc(p.sums, func(path string, _ known) bool { return !named[path] })
	return nil
}

// loadShard loads a shard unless the folder has it.
func (p *poll) loadShard(ctx context.Context, to *shardset.Folder, e shard.Entry) error {
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
		_ = os.Remove(part) // the next successful poll removes it otherwise
	}
	return err
}

// opensSet returns an error if this program cannot open a set whose shards are in the folder. It opens it in a folder
// of links to them.
func (p *poll) opensSet(m *shard.Manifest, text []byte) error {
	trial := p.partOf(p.release.SHA256) + trialSuffix
	if err := errors.Join(p.options.guard.remove(trial), os.Mkdir(trial, 0o700)); err != nil {
		return err
	}
	// Links instead of copies: the shards may be larger than the free space.
	defer os.RemoveAll(trial)
	for _, e := range m.Shards {
		if err := linkFile(p.pathInSet(e.File), filepath.Join(trial, e.File)); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(trial, shard.ManifestName), text, 0o600); err != nil {
		return err
	}
	return opened(bloomery.Open(context.Background(), trial, p.options.open...))
}

// linkFile makes a hard link, or a symbolic link if hard links are not supported.
func linkFile(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	from, err := filepath.Abs(from)
	if err != nil {
		return err
	}
	return os.Symlink(from, to)
}

// removeLeftShards is removeLeftovers in the folder of a set. It takes the lock only if there is something to remove,
// and does not wait.
func (p *poll) removeLeftShards(ctx context.Context) {
	m := p.held.manifest
	all, _ := os.ReadDir(p.file)
	leftover := shardset.Leftover{All: true, Keep: []*shard.Manifest{m}}.Func()
	if m == nil || !slices.ContainsFunc(all, func(e fs.DirEntry) bool { return leftover(e.Name()) }) {
		return
	}
	if to, err := p.lockSet(ctx, shardset.NoWait); err == nil {
		to.Sweep()
		_ = to.Unlock()
	}
}
