// Package gather collects the hashes of keys from many goroutines and returns them sorted, by Hi and then by Lo,
// without duplicates. The result does not depend on the order or the number of times in which hashes were added.
// Hashes stay in memory up to a limit; beyond it they go to a temporary file in sorted runs, which are merged when
// they are read (external merge sort):
//
//	AddMany ──▶ array of chunks ──────────────── sorted in place, compacted ───────────────▶ Each
//	                   └─ when full: sorted, compacted ─▶ file: run │ run │ run ─▶ merged ─▶ Each
//
// An array that loses at least half of its hashes when it is compacted is not written: repeated keys do not fill the
// disk.
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

	// minRun is the smallest capacity of the array in hashes: one buffer of the smallest size.
	minRun = minBuffer / hashSize
)

var (
	errFinished    = errors.New("gather: AddMany or Finish after Finish")
	errNotFinished = errors.New("gather: Each before Finish")
	errClosed      = errors.New("gather: keys are closed")
)

// Config sets the memory, the directory and the workers of Keys. The zero value keeps all keys in memory.
type Config struct {
	// Memory is the number of bytes of hashes to keep in memory, 16 per hash. 0: no limit. Values below 4 KiB count
	// as 4 KiB. Peak memory: Memory + 3 MiB of buffers + what f of Each keeps.
	Memory int64
	Dir    string // of the temporary file; empty: os.TempDir()
	// Expect is the number of keys expected, 0 if unknown. It avoids growing the first MiB in steps. At most 1 MiB is
	// reserved in advance; the rest is allocated per MiB as needed and never moved.
	Expect  uint64
	Workers int // goroutines that sort; 0: GOMAXPROCS
}

// Keys collects hashes: any number of AddMany, from any goroutines, then one Finish, then any number of Each. Close
// may be called at any time when no other method runs. After an error of AddMany or Finish, all methods but Close
// return that error.
type Keys struct {
	limit   int // capacity of array in hashes
	reserve int // first allocation of array in hashes
	workers int

	mu       sync.Mutex
	array    array // empty after Finish if there are runs
	runs     runs
	finished bool
	err      error // once set, every method but Close returns it
}

// New returns an empty Keys. It creates no file.
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

// AddMany copies hs. Concurrent calls wait for each other: for the time of the copy or, when the memory is full, of
// sorting and writing it. A write error wraps that of the system, such as syscall.ENOSPC.
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

// makeRoom removes at least half of the hashes from the array, by compacting it or writing it to the file.
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

// Finish sorts the hashes and returns the number of distinct ones. In memory it sorts in place, so the peak stays at 16
// bytes per hash. With a file it writes the last run and reads all runs once. If ctx ends first, it returns ctx.Err().
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

// Each calls f with all distinct hashes in order, cut where the value of part changes. part must not decrease from
// one hash to the next. f is called once for each value of part that some hash has.
//
// The slice is read-only; f may keep it and pass it to other goroutines. It is a copy made for this call if it comes
// from the file or crosses a MiB of the array, else the array itself. Each stops at the first error of f and returns
// it. Before each call of f it checks ctx and returns ctx.Err() if that has ended. Several calls of Each may run
// concurrently; with a file, each has buffers of its own.
func (k *Keys) Each(
	ctx context.Context, part func(filter.Hash) uint64, f func(part uint64, keys []filter.Hash) error,
) error {
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

// Spilled reports whether hashes were written to a file.
func (k *Keys) Spilled() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.runs.file != nil
}

// Close frees the memory and removes the file. Slices that f of Each kept stay valid.
func (k *Keys) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = errClosed
	}
	k.array = array{}
	return k.runs.close()
}
