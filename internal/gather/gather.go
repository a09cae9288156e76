// Package gather gathers the hashes of keys from many goroutines and gives them back in order, of Hi and then of Lo, each of
// them once, whatever the order and the number of times they came in. Hashes stay in memory as long as they fit; beyond
// a limit they go to a temporary file, in sorted runs that are merged when they are read (external merge sort):
//
//	AddMany ──▶ array of chunks ──────────────── sorted in place, compacted ───────────────▶ Each
//	                   └─ when full: sorted, compacted ─▶ file: run │ run │ run ─▶ merged ─▶ Each
//
// An array that loses half of its hashes or more when it is compacted is not written: keys that come again and again do
// not fill the disk.
package gather

import (
	"context"
	"errors"
	"math"
	"os"
	"runtime"
	"sync"

	"github.com/bloomery/bloomery/filter"
)

const (
	hashSize = 16 // bytes of a hash, in memory and in the file

	// minRun is the least number of hashes of a full array. Their bytes are those of the smallest buffer that reads a run.
	minRun = minBuffer / hashSize
)

var (
	errFinished    = errors.New("gather: no more keys and no second Finish after Finish")
	errNotFinished = errors.New("gather: Each before Finish")
	errClosed      = errors.New("gather: keys are closed")
)

// Config says how much room to take. Its zero value means: all keys in memory.
type Config struct {
	// Memory is the number of bytes of hashes, 16 each, to keep in memory; 0 for no limit. Less than 4 KiB is taken for
	// 4 KiB. On top of it come up to 3 MiB of buffers, and whatever the f of Each holds on to.
	Memory int64
	Dir    string // of the file; os.TempDir() if empty
	// Expect is the number of keys that will come, 0 if not known. It saves the first MiB from growing by steps; no more than
	// that is reserved, and the rest comes by the MiB as it is needed and is never moved.
	Expect  uint64
	Workers int // goroutines that sort; GOMAXPROCS if 0
}

// Keys gathers hashes: AddMany from any number of goroutines, then one Finish, then any number of Each, and Close at any
// time that none of them is at work. After an error of AddMany or Finish it is of no use, and every method but Close
// returns that error.
type Keys struct {
	limit   int // hashes that array takes
	reserve int // hashes that array begins with
	workers int

	mu       sync.Mutex
	array    array // empty after Finish if there are runs
	runs     runs
	finished bool
	err      error // once set, the answer to everything
}

// New returns an empty Keys. It makes no file yet.
func New(c Config) *Keys {
	k := &Keys{
		limit:   math.MaxInt,
		reserve: int(min(c.Expect, chunkLen)),
		workers: c.Workers,
		runs:    runs{dir: c.Dir, create: createTemp},
	}
	if c.Memory > 0 {
		k.limit = int(min(max(c.Memory/hashSize, minRun), math.MaxInt))
	}
	if k.workers <= 0 {
		k.workers = runtime.GOMAXPROCS(0)
	}
	if k.runs.dir == "" {
		k.runs.dir = os.TempDir()
	}
	return k
}

// AddMany takes hashes and keeps no reference to hs. Callers wait for each other as long as it takes to copy hs, and where
// the memory is full, as long as it takes to sort and to write it. An error to write wraps that of the system,
// such as syscall.ENOSPC.
func (k *Keys) AddMany(hs []filter.Hash) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil && k.finished {
		return errFinished
	}
	for len(hs) > 0 && k.err == nil {
		if k.array.n == k.limit {
			k.err = k.makeRoom()
			continue
		}
		took := min(len(hs), k.limit-k.array.n)
		k.array.add(hs[:took], k.reserve)
		hs = hs[took:]
	}
	return k.err
}

// makeRoom empties the array at least by half.
func (k *Keys) makeRoom() error {
	ctx := context.Background()
	if err := k.array.sort(ctx, k.workers); err != nil {
		return err
	}
	if k.array.compact(); k.array.n <= k.limit/2 {
		return nil
	}
	return k.runs.write(ctx, &k.array)
}

// Finish puts the hashes in order and returns how many distinct ones there are. With all of them in memory it sorts them where
// they are: the peak stays at their 16 bytes each. With a file it writes the last run and reads all of them once.
// If ctx ends before, it returns ctx.Err().
func (k *Keys) Finish(ctx context.Context) (n uint64, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err != nil {
		return 0, k.err
	}
	if k.finished {
		return 0, errFinished
	}
	k.finished = true
	n, k.err = k.finish(ctx)
	return n, k.err
}

func (k *Keys) finish(ctx context.Context) (n uint64, err error) {
	if err := k.array.sort(ctx, k.workers); err != nil {
		return 0, err
	}
	k.array.compact()
	if !k.runs.any() {
		return uint64(k.array.n), nil
	}
	if err := k.runs.write(ctx, &k.array); err != nil {
		return 0, err
	}
	k.array, k.runs.buf = array{}, nil
	err = k.runs.merge(ctx, k.limit, func(hs []filter.Hash) error {
		n += uint64(len(hs))
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// Each calls f with all distinct hashes in order, cut where part changes; part of a hash must not be less than that of one
// before it. Each part comes once, and parts without hashes do not come. The hashes are to be read only; f may keep them
// and hand them to other goroutines: hashes that come from the file, or that lie across the end of a MiB of the array,
// are a copy made for this call, the others the array itself. Each stops at the first error of f, which it
// returns, and before the next call of f when ctx has ended, with ctx.Err(). Several Each at once do not
// disturb each other; with a file, each of them needs the memory of its buffers.
func (k *Keys) Each(ctx context.Context, part func(filter.Hash) uint64, f func(part uint64, keys []filter.Hash) error) error {
	k.mu.Lock()
	err, finished, a, r := k.err, k.finished, k.array, k.runs
	k.mu.Unlock()
	if err != nil {
		return err
	}
	if !finished {
		return errNotFinished
	}
	give := func(part uint64, keys []filter.Hash) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return f(part, keys)
	}
	if r.any() {
		return r.each(ctx, k.limit, part, give)
	}
	for lo, hi := 0, 0; lo < a.n; lo = hi {
		p := part(*a.at(lo))
		for hi = lo + 1; hi < a.n && part(*a.at(hi)) == p; {
			hi++
		}
		hs, _ := a.part(lo, hi)
		if err := give(p, hs); err != nil {
			return err
		}
	}
	return nil
}

// Spilled reports whether there is a file.
func (k *Keys) Spilled() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.runs.file != nil
}

// Close frees the memory and removes the file. Parts that f of Each has kept stay valid.
func (k *Keys) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = errClosed
	}
	k.array = array{}
	return k.runs.close()
}
