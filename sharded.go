package bloomery

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/retry"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// shards are the shards of a Set that is a folder. A shard is loaded on first use: mapped, or read if it is smaller
// than 1 MiB. It is then checked completely: its checksums, and its size and SHA-256 against the manifest. A load that
// fails is repeated by later queries, after pauses, if the error may pass: see internal/retry.
//
//	Set.Contains ──► Hasher.Sum ──► shard.Route ──► slots[i] ──► Filter.Has of the shard
//	                                                  └ not ready: sets[i], nil: load(i)
type shards struct {
	dir       string
	manifest  *shard.Manifest // of the files that hold the shards that are not changed in memory
	base      *shard.Manifest // in the folder
	was       fs.FileInfo     // of that file
	hasher    filter.Hasher
	options   options
	slots     []slot
	sets      []atomic.Pointer[Set] // nil until the first use
	parts     []part
	spreading spreading
	trimmed   bool // all files have the trimmed form
	version   uint16
	crowded   atomic.Bool   // the process has too many open files: hold none
	locked    bool          // in a Locked: memory is limited
	folder    *shard.Folder // of a Locked until it is closed, else nil
	memory    atomic.Int64  // bytes of shards in memory
	// derive, if not nil, returns shard i of a Set that has no files; origin are the Sets that it reads.
	derive func(i int) (*Set, error)
	origin []*Set
}

// slot is what a query reads of a loaded shard, in one cache line. It is not used in a Locked, whose shards come and
// go.
type slot struct {
	ready  atomic.Bool // the others are set
	mapped bool
	filter filter.Filter
	cold   filter.ColdBatcher // the filter if it is one, else nil
	_      [24]byte
}

// part is what is known about a shard besides its Set.
type part struct {
	mu       sync.Mutex                    // held while it is loaded
	failed   atomic.Pointer[retry.Failure] // of the last load, or nil
	changed  atomic.Bool                   // its Set may differ from its file
	resident atomic.Bool                   // its Set is in memory, not mapped
	file     *os.File                      // held open since Open, so that a replaced shard can still be read; nil once mapped
	sizes
}

// sizes are numbers of filter.Info that a manifest does not have.
type sizes struct{ bits, allowed, exceptions, exceptionBits uint64 }

func sizesOf(i filter.Info) sizes { return sizes{i.Bits, i.Allowed, i.Exceptions, i.ExceptionBits} }

// heldFiles is the number of shards whose files Open keeps open, unless the system allows fewer. Others are opened by
// name on first use. A mapped shard keeps its file open.
const heldFiles = 4096

// get returns the Set of a shard, which it loads on first use.
func (t *shards) get(i int) (*Set, error) {
	if set := t.sets[i].Load(); set != nil {
		return set, nil
	}
	return t.load(i)
}

func (t *shards) load(i int) (*Set, error) {
	set, err := t.loadOne(i)
	if err == nil && t.locked && t.memory.Load() > lockedMemory {
		for j := range t.parts {
			if j != i && t.parts[j].resident.Load() && !t.parts[j].changed.Load() {
				t.drop(j)
			}
		}
	}
	return set, err
}

func (t *shards) loadOne(i int) (*Set, error) {
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
	set, err := t.attempt(i, t.options.inMemory || t.options.concurrent)
	if err != nil {
		return nil, err
	}
	if !t.locked {
		p.release() // it is in memory
	}
	t.publish(i, set)
	return set, nil
}

// loadAll loads all shards.
func (t *shards) loadAll() error {
	return t.parallel(runtime.GOMAXPROCS(0), func(i int) error {
		_, err := t.get(i)
		return err
	})
}

// parallel calls f for every shard, in that many goroutines, and returns the error of the first shard that has one.
func (t *shards) parallel(workers int, f func(i int) error) error {
	errs := make([]error, len(t.parts))
	var next atomic.Int64
	var failed atomic.Bool
	var wg sync.WaitGroup
	for range min(workers, len(t.parts)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(t.parts)) && !failed.Load(); i = next.Add(1) - 1 {
				if errs[i] = f(int(i)); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// visit calls f with the Set of each shard, in order, until f fails. Shards that it loads for this do not stay in
// memory. Afterwards progress, if not nil, is called with the number of bytes visited so far.
func (t *shards) visit(f func(i int, s *Set) error, progress func(bytes uint64)) error {
	done := uint64(0)
	for i := range t.parts {
		if err := t.visitOne(i, f); err != nil {
			return err
		}
		if done += t.manifest.Shards[i].Bytes; progress != nil {
			progress(done)
		}
	}
	return nil
}

func (t *shards) visitOne(i int, f func(i int, s *Set) error) error {
	if set := t.sets[i].Load(); set != nil {
		return f(i, set)
	}
	if t.maps(i) {
		set, err := t.get(i)
		if err == nil {
			err = f(i, set)
			set.releaseAll()
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
	return f(i, set)
}

// maps reports whether a shard is mapped, not read.
func (t *shards) maps(i int) bool {
	return t.derive == nil && !t.options.inMemory && !t.options.concurrent && container.CanMap(t.manifest.Shards[i].Bytes)
}

// attempt is read that keeps the error for Err and for the next attempt. The caller has the lock of the part.
func (t *shards) attempt(i int, inMemory bool) (*Set, error) {
	p := &t.parts[i]
	set, err := t.read(i, inMemory)
	if err == nil {
		p.failed.Store(nil)
		return set, nil
	}
	f := retry.After(p.failed.Load(), t.fail(i, err), time.Now())
	p.failed.Store(f)
	if f.Final() {
		p.release()
	}
	return nil, f.Err
}

// read reads or maps the file of a shard and checks it completely. The caller has the lock of the part.
func (t *shards) read(i int, inMemory bool) (set *Set, err error) {
	if t.derive != nil {
		return t.derive(i)
	}
	in := t.parts[i].file
	if in == nil {
		if in, err = t.open(i); err != nil {
			return nil, err
		}
	}
	if !inMemory && t.maps(i) {
		return t.mapped(i, in)
	}
	if t.parts[i].file == nil {
		defer in.Close()
	}
	if err := t.options.open(in.Name()); err != nil {
		return nil, err
	}
	b, err := t.bytes(i, in)
	if err != nil {
		return nil, err
	}
	f, _, err := container.FromBytes(b, t.reading(i))
	if err == nil {
		err = t.checkSum(i, sha256.Sum256(b))
	}
	if err != nil {
		return nil, err
	}
	return t.options.set(f, nil)
}

// mapped maps the open file of a shard, which it takes over; if it cannot be mapped, a held file stays open.
func (t *shards) mapped(i int, in *os.File) (*Set, error) {
	var f *container.File
	var m *container.Mapping
	err := t.options.open(in.Name())
	if err == nil {
		f, m, err = container.MapFile(in, t.reading(i))
	}
	if err != nil {
		if in != t.parts[i].file {
			err = errors.Join(err, in.Close())
		}
		return nil, err
	}
	t.parts[i].file = nil
	var sum [sha256.Size]byte
	if err = m.Guard(func() { sum = sha256.Sum256(m.Bytes()) }); err == nil {
		err = t.checkSum(i, sum)
	}
	var set *Set
	if err == nil {
		set, err = t.options.set(f, m)
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return set, nil
}

// checkSum compares the SHA-256 of a file with the manifest.
func (t *shards) checkSum(i int, sum [sha256.Size]byte) error {
	if want := t.manifest.Shards[i].SHA256; sum != want {
		return fmt.Errorf("SHA-256 %x..., want %x...: %w%s", sum[:4], want[:4], shard.ErrChanged, adviceCopy)
	}
	return nil
}

// bytes reads the open file of a shard into aligned memory.
func (t *shards) bytes(i int, in *os.File) ([]byte, error) {
	n := t.manifest.Shards[i].Bytes
	words, err := bitvec.Alloc((n + 7) / 8)
	if err != nil {
		return nil, err
	}
	b := bitvec.Bytes(words)[:n]
	if got, err := in.ReadAt(b, 0); err != nil && !(err == io.EOF && got == len(b)) {
		if err == io.EOF {
			err = wrongSize(int64(got), n)
		}
		return nil, err
	}
	st, err := in.Stat()
	if err == nil && uint64(st.Size()) != n {
		err = wrongSize(st.Size(), n)
	}
	return b, err
}

// open opens the file of a shard and checks its size.
func (t *shards) open(i int) (*os.File, error) {
	path := filepath.Join(t.dir, t.manifest.Shards[i].File)
	if err := t.options.open(path); err != nil {
		return nil, err
	}
	in, st, err := untrusted.Open(path)
	if errors.Is(err, syscall.EMFILE) && t.letGo() {
		in, st, err = untrusted.Open(path)
	}
	if err != nil {
		return nil, err
	}
	if uint64(st.Size()) != t.manifest.Shards[i].Bytes {
		return nil, errors.Join(wrongSize(st.Size(), t.manifest.Shards[i].Bytes), in.Close())
	}
	return in, nil
}

// letGo closes the files that are held open, because the process has too many, and reports whether there were any. From
// then on none is held.
func (t *shards) letGo() (any bool) {
	t.crowded.Store(true)
	for i := range t.parts {
		p := &t.parts[i]
		if !p.mu.TryLock() { // it is loaded at this moment
			continue
		}
		if p.file != nil {
			p.release()
			any = true
		}
		p.mu.Unlock()
	}
	return any
}

// reading returns the options of container that check the header of a shard against the manifest.
func (t *shards) reading(i int) container.Options {
	limit := t.options.limit()
	return container.Options{MaxBytes: limit, Check: func(f *container.File, words []uint64) error {
		err := t.manifest.CheckHeader(i, f)
		if bad := (*container.FormatError)(nil); errors.As(err, &bad) {
			bad.Err = fmt.Errorf("%w%s", bad.Err, adviceCopy)
			return bad
		}
		return families.Accept(f.Family, f.Spec, f.Hash, words, limit-f.Bytes)
	}}
}

const adviceCopy = "; copy the folder again, with all of its files, or build the set again"

func wrongSize(have int64, want uint64) error {
	return fmt.Errorf("%d bytes, want %d: %w%s", have, want, shard.ErrChanged, adviceCopy)
}

// fail returns an error of a shard as a *shard.Error with its path.
func (t *shards) fail(i int, err error) error {
	var s *shard.Error
	if errors.As(err, &s) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err // without the path
	}
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("the file is missing: %w%s", err, adviceCopy)
	}
	return &shard.Error{File: filepath.Join(t.dir, t.manifest.Shards[i].File), Err: err}
}

// close closes all files and mappings.
func (t *shards) close() error {
	var all []error
	t.spreading.ready.Store(false)
	for i := range t.parts {
		t.slots[i].ready.Store(false)
		if set := t.sets[i].Swap(nil); set != nil {
			all = append(all, set.Close())
		}
		t.parts[i].release()
	}
	for _, s := range t.origin {
		all = append(all, s.Close())
	}
	return errors.Join(all...)
}
