// Package shardset changes sharded sets in folders. All writers use Folder as their transaction, and Leftover as the
// rule for the files that they remove. The package also contains functions for all writers and readers of manifests,
// and functions that find the set to which a path belongs.
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
// folder makes these steps in this order, so that after a crash at any moment the folder contains the old set or the
// new one:
//
//  1. LockFolder takes the advisory lock of the folder. Read reads the manifest.
//  2. Put and PutFile write shards that differ to files of new names, complete and synced.
//  3. Commit syncs the folder, then replaces the manifest by rename,
//  4. then sweeps: it removes the files that the new manifest does not name; see Leftover. Readers that have opened
//     such files can continue to read them.
//  5. Close removes the files that were put and not committed, and unlocks.
//
// A process that is killed before Commit leaves files that no manifest names. The sweep of a later transaction removes
// them. Put and PutFile are safe for concurrent use.
type Folder struct {
	dir     string
	change  bool
	lock    *os.File
	created bool            // whether LockFolder created the folder
	old     *shard.Manifest // manifest in the folder, or nil
	foreign string          // another program's file in a folder without a manifest, or empty

	mu      sync.Mutex
	written map[string]string // new files that are not committed, by the name without suffix
}

// Locking are the options of LockFolder.
type Locking struct {
	// Change is true if an existing set is changed, not replaced as a whole. Then LockFolder does not create the
	// folder, Put does not write shards with the same content again, and a sweep removes only leftovers with the same
	// number of shards.
	Change  bool
	Wait    time.Duration // the longest time to wait for another process; 0: until ctx ends
	Waiting func()        // if not nil, called before LockFolder waits
	Perm    fs.FileMode   // permissions of a folder that is created; 0: 0o777
}

// Values of Locking.Wait: for a lock that others hold for a whole build, and for a lock that they hold for a moment.
const (
	NoWait    = time.Nanosecond
	ShortWait = 2 * time.Second
)

// LockFolder creates the folder unless it exists, and locks it against other transactions. The error wraps
// filter.ErrLocked if another process still has the lock after Locking.Wait, and is ctx.Err() if ctx ends. Close the
// Folder after use.
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
		if waiting.Err() != nil && ctx.Err() == nil { // the wait has ended, not the caller's context
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
// fs.ErrNotExist if the folder has no manifest.
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

// foreignFile returns the name of a file that no killed writer of a set and no distributed build has left, or "".
func foreignFile(dir string) (string, error) {
	all, err := os.ReadDir(dir)
	for _, e := range all {
		n := e.Name()
		if _, _, work := CutWork(n); !(work && e.IsDir()) && !IsUnfinished(n) && n != shard.ManifestName {
			return n, err
		}
	}
	return "", err
}

// Use sets the manifest that the caller has read since LockFolder, instead of Read. nil means that the folder has no
// manifest, or a manifest that cannot be read.
func (f *Folder) Use(m *shard.Manifest) (err error) {
	if f.old = m; m == nil {
		f.foreign, err = foreignFile(f.dir)
	}
	return err
}

// Manifest returns the manifest of the set in the folder, or nil.
func (f *Folder) Manifest() *shard.Manifest { return f.old }

// Foreign returns the name of a file in a folder without a manifest that no writer of sets leaves, or "".
func (f *Folder) Foreign() string { return f.foreign }

// Put writes shard s of a set with this number of shards and returns the entry of the shard. file must write the same
// bytes at each call. The name is the result of NewName, and is never the name of a shard of the present set with other
// content. Put removes the file of an earlier Put of the same shard.
func (f *Folder) Put(ctx context.Context, s, shards int, info filter.Info, file io.WriterTo) (shard.Entry, error) {
	e, old := EntryOf(info), f.old
	if old == nil || len(old.Shards) != shards { // the name does not depend on the content: write and hash in one pass
		e.File = Name(s, shards, "")
		return e, f.putFile(ctx, e.File, func(w io.Writer) error { return Measure(&e, file, w) })
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
	return e, f.putFile(ctx, e.File, func(w io.Writer) error { _, err := file.WriteTo(w); return err })
}

// PutFile writes a shard under a given name. The error wraps shard.ErrManifest if the set in the folder has a shard of
// this name with another SHA-256.
func (f *Folder) PutFile(ctx context.Context, name string, sum [sha256.Size]byte, write func(io.Writer) error) error {
	if !IsName(name) {
		return fmt.Errorf("%w: new shard %.80q has no name of a shard", shard.ErrManifest, name)
	}
	if was := f.entryOf(name); was != nil && was.SHA256 != sum {
		return fmt.Errorf("%w: new shard %s has the name of an old one with other content", shard.ErrManifest, f.Path(name))
	}
	return f.putFile(ctx, name, write)
}

// PutBytes is PutFile for content in memory.
func (f *Folder) PutBytes(ctx context.Context, name string, b []byte) error {
	return f.PutFile(ctx, name, sha256.Sum256(b), func(w io.Writer) error { _, err := w.Write(b); return err })
}

// entryOf returns the entry of a file in the manifest of the set in the folder, or nil.
func (f *Folder) entryOf(name string) *shard.Entry {
	if s, _, ok := shard.ParseName(name); ok && f.old != nil && s < len(f.old.Shards) && f.old.Shards[s].File == name {
		return &f.old.Shards[s]
	}
	return nil
}

// putFile writes a file of the set, and removes the file that an earlier call has written for the same shard.
func (f *Folder) putFile(ctx context.Context, name string, write func(io.Writer) error) error {
	before := ""
	if f.entryOf(name) == nil {
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
	err := container.WriteAtomic(container.Batch(ctx), f.Path(name), write) // Commit syncs the folder, once for all
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

// Commit makes m the set in the folder and sweeps. text is the bytes of m; if it is nil, WriteTo makes them. If was is
// not nil and another file has replaced the manifest was, the error wraps filter.ErrChanged. On error the old set
// stays.
func (f *Folder) Commit(ctx context.Context, m *shard.Manifest, text []byte, was fs.FileInfo) error {
	write := func(w io.Writer) error { _, err := m.WriteTo(w); return err }
	if text != nil {
		write = func(w io.Writer) error { _, err := w.Write(text); return err }
	}

	step()
	container.SyncFolder(f.dir) // the names of the shards must be on the disk before a manifest that lists them
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
	f.sweepLeftovers(Leftover{All: !f.change, Before: before, Keep: []*shard.Manifest{m}})
	return nil
}

// Sweep removes the leftovers of killed writers; see Leftover. It also keeps the shards of keep.
func (f *Folder) Sweep(keep ...*shard.Manifest) {
	f.sweepLeftovers(Leftover{All: !f.change, Keep: append(keep, f.old)})
}

func (f *Folder) sweepLeftovers(l Leftover) {
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

// Abort removes the files that were put and not committed, except files that the manifest in the folder names now: a
// process that cannot lock may have replaced the set by a set with the same shards.
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
		if f.entryOf(name) == nil {
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
//   - A shard that no manifest of Keep names, if All is true, or if its name states as many shards as a manifest of
//     Keep or Before has. The caller holds the lock of the folder, so no other process writes shards under their final
//     names. A bucket has no lock; its writes are conditional.
//   - In a folder without a manifest that contains files of other programs: no shard.
//   - Temporary files of shards and of the manifest whose writers were killed, which their locks show.
//
// A sweep removes neither files of other names nor working files of a distributed build; package distribute removes
// these when the plan can no longer finish.
type Leftover struct {
	All    bool            // the whole set is replaced, not changed
	Before *shard.Manifest // the set that was replaced, or nil
	Keep   []*shard.Manifest
}

// Func returns a function that reports whether a name belongs to a shard that may be removed. It ignores nil manifests.
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
