// Package shards implements the engine of a sharded set, which is a folder of filters. It finds the shard of a key,
// loads shards on first use, and changes them in memory until they are written.
package shards

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/kernel"
	"github.com/bloomery/bloomery/internal/live"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// Set is a sharded set. A shard is loaded on first use: mapped, or read if it is smaller than 1 MiB. It is then checked
// completely: its checksums, and its size and SHA-256 against the manifest. Later queries repeat a load that failed
// with a transient error, after pauses: see internal/live.
//
//	Set.Contains ──► Hasher.Sum ──► shard.Route ──► slots[i] ──► Filter.Has of the shard
//	                                                  └ not ready: sets[i], nil: load(i)
type Set struct {
	dir       string
	manifest  *shard.Manifest // names the files of all shards, except changes in memory
	base      *shard.Manifest // the manifest in the folder when it was last read or written
	was       fs.FileInfo     // the file of base when Open read it
	hasher    filter.Hasher
	planned   float64
	moves     uint32 // stays 0: see engine.Facts
	options   engine.Options
	slots     []slot
	sets      []atomic.Pointer[one.Set] // nil until the first use
	parts     []part
	spreading spreading
	trimmed   bool // all files have the trimmed form
	crowd     crowd
	locked    bool             // whether the Set belongs to a Locked: memory is then limited
	folder    *shardset.Folder // folder of a Locked until it is closed, else nil
	memory    atomic.Int64     // bytes of shards in memory
	// derive, if not nil, returns shard i of a Set that has no files; origin are the Sets that it reads.
	derive func(i int) (*one.Set, error)
	origin []*Set
}

var _ engine.Engine = (*Set)(nil)

// slot holds the fields of a loaded shard that a query reads, in one cache line. A Locked does not use slots, since it
// also drops shards.
type slot struct {
	ready  atomic.Bool   // the fields below are set
	safe   family.Filter // the filter, or if the filter is mapped its Set, which survives a fault
	filter family.Filter
	cold   family.ColdBatcher // the filter if it is one, else nil
	probe  *kernel.Probe      // the probe of safe; nil: query safe itself
}

// Probe is kernel.Prober. On 32-bit machines a slot has another layout.
func (t *Set) Probe() kernel.Probe {
	if unsafe.Sizeof(slot{}) != kernel.ShardSize || unsafe.Offsetof(slot{}.probe) != kernel.ProbeOffset {
		return kernel.Probe{}
	}
	s := &kernel.Shards{Slots: unsafe.Pointer(unsafe.SliceData(t.slots)), Count: uint64(len(t.slots))}
	return s.Probe()
}

// part is the state of a shard besides its Set.
type part struct {
	mu       sync.Mutex                   // held while the shard is loaded
	failed   atomic.Pointer[live.Failure] // the failure of the last load, or nil
	changed  atomic.Bool                  // whether its Set may differ from its file
	resident atomic.Bool                  // whether its Set is in memory, not mapped
	file     *os.File                     // held open since Open, for a shard that is replaced; nil once mapped
	sizes
}

// holdFile replaces the file that is held open.
func (p *part) holdFile(file *os.File) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.release()
	p.file = file
}

// release closes the file that is held open.
func (p *part) release() {
	if p.file != nil {
		_ = p.file.Close()
		p.file = nil
	}
}

// sizes are the numbers of filter.Info that a manifest lacks.
type sizes struct{ bits, allowed, exceptions, exceptionBits uint64 }

func sizesOf(i filter.Info) sizes { return sizes{i.Bits, i.Allowed, i.Exceptions, i.ExceptionBits} }

// crowd tracks the files that were closed because the process had too many open files.
type crowd struct {
	full  atomic.Bool   // hold no files
	mu    sync.Mutex    // held while files are closed
	turns atomic.Uint64 // the number of times that files were closed
}

// heldFiles is the number of shards whose files Open keeps open, unless the system allows fewer. Others are opened by
// name on first use. A mapped shard keeps its file open.
const heldFiles = 4096

// allocSlots allocates the lists for the shards of the manifest. No shard is loaded yet.
func (t *Set) allocSlots() {
	n := len(t.manifest.Shards)
	t.slots, t.sets, t.parts = make([]slot, n), make([]atomic.Pointer[one.Set], n), make([]part, n)
}

// shardAt returns the Set of a shard, which it loads on first use.
func (t *Set) shardAt(i int) (*one.Set, error) {
	if set := t.sets[i].Load(); set != nil {
		return set, nil
	}
	return t.loadShard(i)
}

func (t *Set) loadShard(i int) (*one.Set, error) {
	set, err := t.loadOne(i)
	if err == nil && t.locked && t.memory.Load() > LockedMemory {
		for j := range t.parts {
			if j != i && t.parts[j].resident.Load() && !t.parts[j].changed.Load() {
				t.dropShard(j)
			}
		}
	}
	return set, err
}

func (t *Set) loadOne(i int) (*one.Set, error) {
	p := &t.parts[i]
	before := p.failed.Load()
	if before == nil {
		p.mu.Lock()
	} else if !before.Due(time.Now()) || !p.mu.TryLock() { // do not wait for the next attempt
		return nil, before.Err
	}
	defer p.mu.Unlock()
	if set := t.sets[i].Load(); set != nil {
		return set, nil
	}
	if now := p.failed.Load(); now != nil && now != before { // another goroutine has tried
		return nil, now.Err
	}

	set, err := t.attempt(i, t.options.InMemory || t.options.Concurrent)
	if err != nil {
		return nil, err
	}
	if !t.locked {
		p.release() // the shard is in memory, or its mapping keeps the file
	}
	t.publish(i, set)
	return set, nil
}

// LockedMemory is the number of bytes of shards that a Locked keeps in memory. Above that it writes changed shards to
// their new files, which the manifest does not name yet. Tests set it.
var LockedMemory = int64(1 << 30)

// publish installs s as a shard.
func (t *Set) publish(i int, s *one.Set) {
	if !s.Mapped() && !t.parts[i].resident.Swap(true) {
		t.memory.Add(int64(t.manifest.Shards[i].Bytes))
	}

	t.sets[i].Store(s)
	if !t.locked {
		p := &t.slots[i]
		if p.filter, p.cold, p.safe = s.Filter(), s.Cold(), s.Filter(); s.Mapped() {
			p.safe = s
		}
		p.probe = kernel.ProbeInShard(p.safe)
		// Stored last: a query that sees it may read the other fields without a lock.
		p.ready.Store(true)
		t.spreading.setShard(i, len(t.parts), s.Filter())
	}
}

// dropShard drops a shard from memory. The file of the shard must be up to date.
func (t *Set) dropShard(i int) {
	p := &t.parts[i]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resident.Swap(false) {
		t.memory.Add(-int64(t.manifest.Shards[i].Bytes))
	}
	t.slots[i].ready.Store(false)
	t.spreading.ready.Store(false)
	t.sets[i].Store(nil)
}

// parallel calls f for every shard, in workers goroutines, and returns the error of the first shard that fails, or the
// cause of ctx if ctx ends.
func (t *Set) parallel(ctx context.Context, workers int, f func(i int) error) error {
	return parallel.Do(ctx, len(t.parts), workers, func(_ context.Context, i int) error { return f(i) })
}

// visitAll calls f with the Set of each shard, in order, until f fails. Shards that it loads for this do not stay in
// memory. Afterwards progress, if not nil, is called with the number of bytes visited so far.
func (t *Set) visitAll(f func(i int, s *one.Set) error, progress func(bytes uint64)) error {
	done := uint64(0)
	for i := range t.parts {
		if err := t.visitOne(i, func(s *one.Set) error { return f(i, s) }); err != nil {
			return err
		}
		if done += t.manifest.Shards[i].Bytes; progress != nil {
			progress(done)
		}
	}
	return nil
}

func (t *Set) visitOne(i int, f func(s *one.Set) error) error {
	if set := t.sets[i].Load(); set != nil {
		return f(set)
	}
	if t.isMapped(i) {
		set, err := t.shardAt(i)
		if err == nil {
			err = f(set)
			set.Release()
		}
		return err
	}

	p := &t.parts[i]
	p.mu.Lock()
	set, err := t.attempt(i, true)
	p.mu.Unlock()
	if err != nil {
		return err
	}
	return f(set)
}

// isMapped reports whether a shard is mapped, not read.
func (t *Set) isMapped(i int) bool {
	return t.derive == nil && !t.options.InMemory && !t.options.Concurrent && container.CanMap(t.manifest.Shards[i].Bytes)
}

// Close closes all files and mappings.
func (t *Set) Close() error {
	var all []error
	t.spreading.ready.Store(false)
	for i := range t.parts {
		t.slots[i].ready.Store(false)
		if set := t.sets[i].Swap(nil); set != nil {
			all = append(all, set.Close())
		}
		t.parts[i].release()
	}
	if t.folder != nil {
		all = append(all, t.folder.Close())
		t.folder = nil
	}

	// The shards of this Set are closed by now, so nothing reads the sets that they were computed from.
	for _, s := range t.origin {
		all = append(all, s.Close())
	}
	return errors.Join(all...)
}
