// Package shardset changes sharded sets in folders. All writers use Folder as their transaction, and Leftover as the
// rule for the files that they remove. The package also has functions for all writers and readers of manifests, and
// finds the set that a path belongs to.
package shardset

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// Folder is a transaction on the folder of a sharded set. Every writer that builds, replaces or changes a set in a
// folder takes these steps in this order, so that after a crash at any moment the folder has the old set or the new
// one:
//
//  1. LockFolder takes the advisory lock of the folder. Read reads the manifest.
//  2. Put and PutFile write shards that differ to files of new names, complete and synced.
//  3. Commit syncs the folder, then replaces the manifest by rename,
//  4. then sweeps: it removes the files that the new manifest does not name; see Leftover. Readers that hold them open
//     keep them.
//  5. Close removes what was put and not committed, and unlocks.
//
// A process that is killed before Commit leaves files that no manifest names. The sweep of a later transaction removes
// them. Put and PutFile are safe for concurrent use.
type Folder struct {
	dir     string
	change  bool
	lock    *os.File
	created bool            // by LockFolder
	old     *shard.Manifest // in the folder, or nil
	foreign string          // another program's file in a folder without a manifest, or empty

	mu      sync.Mutex
	written map[string]string // new files that are not committed, by the name without suffix
}

// Locking has the options of LockFolder.
type Locking struct {
	// Change is true if an existing set is changed, not replaced as a whole. Then LockFolder does not create the
	// folder, Put does not write shards with the same content again, and a sweep removes only leftovers with the same
	// number of shards.
	Change  bool
	Wait    time.Duration // for another process, at least one attempt; 0: until ctx ends
	Waiting func()        // if not nil, called before LockFolder waits
	Perm    fs.FileMode   // of a folder that is created; 0: 0o777
}

// Values of Locking.Wait: for a lock that others hold for a whole build, and for one that they hold for a moment.
const (
	NoWait    = time.Nanosecond
	ShortWait = 2 * time.Second
)

// LockFolder makes the folder, unless it is there, and locks it for other transactions. The error wraps
// filter.ErrLocked if another process still has the lock after Locking.Wait, and is ctx.Err() when ctx ends. Close the
// Folder when done.
func LockFolder(ctx context.Context, dir string, o Locking) (*Folder, error) {
	f := &Folder{dir: dir, change: o.Change, written: map[string]string{}}
	if !o.Change {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			f.created = true
		}
		if err := os.MkdirAll(dir, cmp.Or(o.Perm, 0o777)); err != nil {
			return nil, err
		}
	}

	waiting := ctx
	if o.Wait > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, o.Wait)
		defer cancel()
	}

	step()
	var err error
	if f.lock, _, err = container.Lock(waiting, dir, o.Waiting); err != nil {
		if waiting.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("%s: %w; wait for it, or name another folder", dir, filter.ErrLocked)
		}
		return nil, err
	}
	return f, nil
}

// step is called before each step of a transaction. Tests kill the process there.
var step = func() {}

// Path returns the path of a file of the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.dir, name) }

// Read reads the manifest in the folder. A missing manifest is not an error; see Foreign.
func (f *Folder) Read() error {
	m, _, err := ReadFolder(f.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; if the set is of no use, remove the folder", err)
	}
	return f.Use(m)
}

// ReadFolder reads the manifest in a folder. It also returns the FileInfo of the manifest. The error wraps
// fs.ErrNotExist if there is none.
func ReadFolder(dir string) (*shard.Manifest, fs.FileInfo, error) {
	in, st, err := untrusted.Open(filepath.Join(dir, shard.ManifestName))
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	m, err := shard.ReadManifest(in)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", in.Name(), err)
	}
	return m, st, nil
}

// foreign returns the name of a file that belongs neither to a killed writer of a set nor to a distributed build, or
// "".
func foreign(dir string) (string, error) {
	all, err := os.ReadDir(dir)
	for _, e := range all {
		n := e.Name()
		if _, _, work := CutWork(n); !(work && e.IsDir()) && !IsUnfinished(n) && n != shard.ManifestName {
			return n, err
		}
	}
	return "", err
}

// Use sets the manifest that the caller has read since LockFolder, in place of Read. nil means that there is none, or
// one that cannot be read.
func (f *Folder) Use(m *shard.Manifest) (err error) {
	if f.old = m; m == nil {
		f.foreign, err = foreign(f.dir)
	}
	return err
}

// Manifest returns the manifest of the set in the folder, or nil.
func (f *Folder) Manifest() *shard.Manifest { return f.old }

// Foreign returns the name of a file in a folder without a manifest that no writer of sets leaves, or "".
func (f *Folder) Foreign() string { return f.foreign }

// Put writes shard s of a set with that number of shards and returns its entry. file must write the same bytes at each
// call. The name comes from NewName and never belongs to a shard of the present set with other content. Put removes the
// file of an earlier Put of the same shard.
func (f *Folder) Put(ctx context.Context, s, shards int, info filter.Info, file io.WriterTo) (shard.Entry, error) {
	e, old := EntryOf(info), f.old
	if old == nil || len(old.Shards) != shards { // the name does not depend on the content
		e.File = Name(s, shards, "")
		return e, f.put(ctx, e.File, func(w io.Writer) error { return Measure(&e, file, w) })
	}
	if err := Measure(&e, file, io.Discard); err != nil {
		return e, err
	}
	if was := old.Shards[s]; was.SHA256 == e.SHA256 {
		if f.change {
			return was, nil
		}
		e.FPRPrior, e.FPRPosterior = was.FPRPrior, was.FPRPosterior // even if this machine rounds differently
	}
	e.File = NewName(old, s, shards, e.SHA256)
	return e, f.put(ctx, e.File, func(w io.Writer) error { _, err := file.WriteTo(w); return err })
}

// PutFile writes a shard under a given name. The error wraps shard.ErrManifest if the set in the folder has a shard of
// that name with another SHA-256.
func (f *Folder) PutFile(ctx context.Context, name string, sum [sha256.Size]byte, write func(io.Writer) error) error {
	if !IsName(name) {
		return fmt.Errorf("%w: new shard %.80q has no name of a shard", shard.ErrManifest, name)
	}
	if was := f.named(name); was != nil && was.SHA256 != sum {
		return fmt.Errorf("%w: new shard %s has the name of an old one with other content", shard.ErrManifest, f.Path(name))
	}
	return f.put(ctx, name, write)
}

// PutBytes is PutFile for content in memory.
func (f *Folder) PutBytes(ctx context.Context, name string, b []byte) error {
	return f.PutFile(ctx, name, sha256.Sum256(b), func(w io.Writer) error { _, err := w.Write(b); return err })
}

// named returns the entry of a file in the manifest of the set in the folder, or nil.
func (f *Folder) named(name string) *shard.Entry {
	if s, _, ok := shard.ParseName(name); ok && f.old != nil && s < len(f.old.Shards) && f.old.Shards[s].File == name {
		return &f.old.Shards[s]
	}
	return nil
}

func (f *Folder) put(ctx context.Context, name string, write func(io.Writer) error) error {
	before := ""
	if f.named(name) == nil {
		stem, _, _ := strings.Cut(name, ".")
		f.mu.Lock()
		before, f.written[stem] = f.written[stem], name
		f.mu.Unlock()
	}
	if s, _, ok := shard.ParseName(name); ok && f.old != nil && len(f.old.Shards) > 0 {
		// Its permissions must not be wider than the permissions of the shard that it replaces.
		ctx = container.Like(ctx, f.Path(f.old.Shards[min(s, len(f.old.Shards)-1)].File))
	}

	step()
	err := container.WriteAtomic(container.Batch(ctx), f.Path(name), write)
	if err == nil && before != "" && before != name {
		f.remove(before)
	}
	return err
}

// remove removes a file. A later sweep removes a file that cannot be removed now because another process has it open.
func (f *Folder) remove(name string) {
	step()
	_ = os.Remove(f.Path(name))
}

// Commit makes m the set in the folder and sweeps. text, unless nil, are the bytes of m; else they come from
// WriteTo. If was is not nil and the manifest is not that file any more, the error wraps filter.ErrChanged. On
// error the old set stays.
func (f *Folder) Commit(ctx context.Context, m *shard.Manifest, text []byte, was fs.FileInfo) error {
	write := func(w io.Writer) error { _, err := m.WriteTo(w); return err }
	if text != nil {
		write = func(w io.Writer) error { _, err := w.Write(text); return err }
	}

	step()
	container.SyncFolder(f.dir)
	var err error
	if was == nil {
		err = container.WriteAtomic(ctx, f.Path(shard.ManifestName), write)
	} else {
		err = container.ReplaceAtomic(ctx, f.Path(shard.ManifestName), was, write)
	}
	if err != nil {
		return err
	}

	before := f.old
	f.old = m
	clear(f.written)
	f.sweep(Leftover{All: !f.change, Before: before, Keep: []*shard.Manifest{m}})
	return nil
}

// Sweep removes the leftovers of killed writers; see Leftover. It also keeps the shards of keep.
func (f *Folder) Sweep(keep ...*shard.Manifest) {
	f.sweep(Leftover{All: !f.change, Keep: append(keep, f.old)})
}

func (f *Folder) sweep(l Leftover) {
	if f.foreign == "" { // else the shards may belong to others
		all, _ := os.ReadDir(f.dir)
		is := l.Func()
		for _, e := range all {
			if is(e.Name()) {
				f.remove(e.Name())
			}
		}
	}
	step()
	container.RemoveAbandoned(f.dir, OfSet)
}

// Abort removes the files that were put and not committed, except those that the manifest in the folder names now: a
// process that cannot lock may have replaced the set by one with the same shards.
func (f *Folder) Abort() {
	if len(f.written) == 0 {
		return
	}

	m, _, err := ReadFolder(f.dir)
	if err == nil {
		f.old = m
	} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, shard.ErrManifest) {
		return // a later sweep removes them
	}

	for _, name := range f.written {
		if f.named(name) == nil {
			f.remove(name)
		}
	}
	clear(f.written)
}

// Close aborts uncommitted changes, removes the folder if LockFolder has created it and it is empty, and unlocks.
func (f *Folder) Close() error {
	f.Abort()
	return f.Unlock()
}

// Unlock is Close without Abort: uncommitted files stay for a later transaction that needs them.
func (f *Folder) Unlock() error {
	if f.lock == nil {
		return nil
	}
	if f.created {
		_ = os.Remove(f.dir) // fails unless it is empty
	}
	step()
	lock := f.lock
	f.lock = nil
	return container.Unlock(lock)
}

// Leftover is the rule of all writers for the files that a sweep may remove, in a folder or a bucket:
//
//   - A shard that no manifest of Keep names, if it has as many shards as one of Keep or Before, and with All every
//     one. The caller holds the lock of the folder, so no other process writes shards under their final names. A
//     bucket has no lock; its writes are conditional.
//   - In a folder without a manifest that has files of others: no shard.
//   - Temporary files of shards and of the manifest whose writers were killed, which their locks show.
//
// A sweep removes no files of other names and no working files of a distributed build; package distribute removes these
// when the plan can no longer finish.
type Leftover struct {
	All    bool            // the whole set is replaced; else it is changed
	Before *shard.Manifest // the set that was replaced, or nil
	Keep   []*shard.Manifest
}

// Func returns a function that reports whether a name belongs to a shard that may be removed. nil manifests do not
// count.
func (l Leftover) Func() func(name string) bool {
	named, counts := map[string]bool{}, []int{}
	for _, m := range l.Keep {
		if m == nil {
			continue
		}
		counts = append(counts, len(m.Shards))
		for _, e := range m.Shards {
			named[e.File] = true
		}
	}
	if l.Before != nil {
		counts = append(counts, len(l.Before.Shards))
	}
	return func(name string) bool {
		_, shards, ok := shard.ParseName(name)
		return ok && !named[name] && (l.All || slices.Contains(counts, shards))
	}
}
