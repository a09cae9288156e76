package hashes

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/parallel"
)

// minRun is the smallest number of hashes of a full array. They take as many bytes as the smallest buffer for a run.
const minRun = minBuffer / hashSize

var (
	errFinished    = fmt.Errorf("the list of keys is complete and %w", filter.ErrClosed)
	errNotFinished = errors.New("hashes: Each, Blocks or Change before Finish")
	errFile        = errors.New("hashes: Change of keys in a file")
)

// Config is the options of a Sorted. The zero value keeps each hash once, and all hashes in memory.
type Config struct {
	// Memory is the number of bytes of hashes, 16 each, to keep in memory; 0 for no limit. The smallest limit is 4 KiB.
	// Sorting takes a sixteenth more, 1 MiB, and 1 MiB for each worker; buffers take up to 3 MiB, and the f of Each may
	// keep hashes.
	Memory int64
	Dir    string // folder of the file; os.TempDir() if empty
	// Expect is the expected number of keys, 0 if unknown. At most 1 MiB is reserved for them; the rest is allocated by
	// the MiB when it is needed and is never moved.
	Expect  uint64
	Workers int // goroutines that sort; GOMAXPROCS if 0
	// Copies keeps duplicates: Finish counts all hashes, and Each returns a hash as often as it was added.
	Copies bool
	// Form, if not nil, is applied to each hash. Its results are sorted, compared and returned. It
	// gives a family another order, or lets it drop the bits that it does not use.
	Form func(filter.Hash) filter.Hash
}

// Sorted gathers hashes: AddMany from any number of goroutines, then one Finish, then any number of Each. Close may be
// called at any time when no other method runs. After an error of AddMany or Finish, every method except Close returns
// that error.
type Sorted struct {
	limit   int // largest number of hashes in array
	reserve int // number of hashes that array first allocates
	workers int
	copies  bool
	form    func(filter.Hash) filter.Hash // or nil

	mu       sync.Mutex
	array    array // empty after Finish if there are runs
	runs     runs
	added    uint64
	finished bool
	err      error // once set, the result of all methods except Close
}

// NewSorted returns an empty Sorted. It makes no file yet.
func NewSorted(c Config) *Sorted {
	k := &Sorted{
		limit:   math.MaxInt,
		reserve: int(min(c.Expect, chunkLen)),
		workers: parallel.Workers(c.Workers),
		copies:  c.Copies,
		form:    c.Form,
		runs:    runs{temp: newTemp(c.Dir), copies: c.Copies},
	}
	if c.Memory > 0 {
		k.limit = limitOf(c.Memory, minRun, math.MaxInt64)
	}
	return k
}

// AddMany adds hashes and keeps no reference to hs. Callers wait for each other while hs is copied, and when the memory
// is full, while it is sorted and written. A write error wraps the error of the system, such as syscall.ENOSPC.
func (k *Sorted) AddMany(hs []filter.Hash) error {
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
		k.array.addHashes(hs[:took], k.reserve)
		if k.form != nil {
			k.array.change(k.array.n-took, k.array.n, k.form)
		}
		k.added += uint64(took)
		hs = hs[took:]
	}
	return k.err
}

// Added returns the number of hashes that AddMany took, duplicates included.
func (k *Sorted) Added() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.added
}

// makeRoom empties at least half of the array.
func (k *Sorted) makeRoom() error {
	ctx := context.Background()
	if err := k.sortArray(ctx); err != nil {
		return err
	}
	// Mostly duplicates: writing the array now would fill the disk with them.
	if k.array.n <= k.limit/2 {
		return nil
	}
	return k.runs.addRun(ctx, &k.array)
}

// sortArray sorts the array and removes duplicates.
func (k *Sorted) sortArray(ctx context.Context) error {
	equal, err := k.array.sortHashes(ctx, k.workers)
	if err != nil {
		return err
	}
	if equal && !k.copies {
		k.array.compact()
	}
	return nil
}

// Finish sorts the hashes and returns the number of distinct hashes, or with Copies the number of all hashes. Without a
// file it sorts in place: the peak is 17 bytes per hash, 1 MiB, and 1 MiB per worker. With a file it writes the last
// run and, unless Copies is set, reads all of them once. If ctx ends first, Finish returns ctx.Err().
func (k *Sorted) Finish(ctx context.Context) (n uint64, err error) {
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

func (k *Sorted) finish(ctx context.Context) (n uint64, err error) {
	if err := k.sortArray(ctx); err != nil {
		return 0, err
	}

	k.array.rooms = nil
	if !k.runs.notEmpty() {
		return uint64(k.array.n), nil
	}
	if err := k.runs.addRun(ctx, &k.array); err != nil {
		return 0, err
	}

	k.array, k.runs.buf = array{}, nil
	if k.copies {
		return k.added, nil
	}

	err = k.runs.mergeRuns(ctx, k.limit, func(hs []filter.Hash) error {
		n += uint64(len(hs))
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// Each calls f once for each part that has hashes, with the hashes of the part in order. part must be monotonic: it
// must not decrease from one hash to the next.
//
// f must not change the hashes, but may keep them and pass them to other goroutines. They are a copy made for this call
// if they come from the file or are not contiguous in memory; otherwise they are a part of the array itself.
//
// Each returns the first error of f, or ctx.Err() if ctx ended before a call of f. Several Each may run at once; with a
// file, each of them takes memory for its own buffers.
func (k *Sorted) Each(
	ctx context.Context, part func(filter.Hash) uint64, f func(part uint64, keys []filter.Hash) error,
) error {
	return k.Parts(ctx, part, func(p Part) error {
		hs, _ := p.array.sliceOf(p.lo, p.hi)
		return f(p.Number, hs)
	})
}

// Change replaces each hash h by form(h), which must be different for each hash, and sorts the hashes again. It may be
// called after Finish when no other method runs, unless there is a file. If ctx ends first, Change returns ctx.Err(),
// and so does every later method except Close. Earlier Parts become invalid.
func (k *Sorted) Change(ctx context.Context, form func(filter.Hash) filter.Hash) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.err != nil:
		return k.err
	case !k.finished:
		return errNotFinished
	case k.runs.notEmpty():
		return errFile
	}

	const step = 1 << 12 // hashes that a worker takes at once
	parallel.Each(k.workers, (k.array.n+step-1)/step, func(_, i int) {
		k.array.change(i*step, min((i+1)*step, k.array.n), form)
	})
	k.err = k.sortArray(ctx)
	k.array.rooms = nil
	return k.err
}

// Blocks calls f with all hashes in order, in blocks of at most 64 KiB, for a family that takes them one by one. f must
// neither change a block nor keep it. It returns the errors of Each.
func (k *Sorted) Blocks(ctx context.Context, f func(hs []filter.Hash) error) error {
	a, r, err := k.content()
	if err != nil {
		return err
	}
	if r.notEmpty() {
		return r.mergeRuns(ctx, k.limit, f)
	}

	for piece := range a.pieces(0, a.n) {
		for hs := range slices.Chunk(piece, blockLen) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := f(hs); err != nil {
				return err
			}
		}
	}
	return nil
}

// content returns the hashes after Finish: those in memory, or the runs if there are any.
func (k *Sorted) content() (array, runs, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil && !k.finished {
		return array{}, runs{}, errNotFinished
	}
	return k.array, k.runs, k.err
}

// Spilled reports whether there is a file.
func (k *Sorted) Spilled() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.runs.file != nil
}

// Close frees the memory and removes the file. Parts that the f of an Each has kept stay valid.
func (k *Sorted) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = errClosed
	}
	k.array = array{}
	k.runs.ends, k.runs.buf = nil, nil
	return k.runs.close()
}

// Part is the hashes of a part. It is safe for concurrent use and stays valid, also after Close.
type Part struct {
	Number uint64 // the result of the function of Parts for these hashes
	array  *array
	lo, hi int
}

// Len returns the number of hashes, at least one.
func (p *Part) Len() int { return p.hi - p.lo }

// Pieces returns the hashes in order, in slices of the memory of the Sorted. They must not be changed.
func (p *Part) Pieces() iter.Seq[[]filter.Hash] { return p.array.pieces(p.lo, p.hi) }

// Parts is Each without copies: f is called once for each part, and may hand it to other goroutines.
func (k *Sorted) Parts(ctx context.Context, part func(filter.Hash) uint64, f func(Part) error) error {
	a, r, err := k.content()
	if err != nil {
		return err
	}

	give := func(p Part) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return f(p)
	}
	if r.notEmpty() {
		return r.eachPart(ctx, k.limit, part, func(part uint64, hs []filter.Hash) error {
			return give(Part{part, &array{few: hs, n: len(hs)}, 0, len(hs)})
		})
	}

	for lo, hi := 0, 0; lo < a.n; lo = hi {
		p := part(*a.at(lo))
		last := lo // the last hash that is known to be of this part

		// Parts have very different lengths: doubling steps find the end of a part in logarithmic time.
		step := 1
		for ; last+step < a.n && part(*a.at(last + step)) == p; step *= 2 {
			last += step
		}
		// The part ends after last, and before last+step if that hash is in another part.
		more := min(last+step, a.n) - last - 1
		hi = last + 1 + sort.Search(more, func(i int) bool { return part(*a.at(last + 1 + i)) != p })
		if err := give(Part{p, &a, lo, hi}); err != nil {
			return err
		}
	}
	return nil
}

// Intake is the part of a builder that gathers keys. A Builder that embeds it is a family.Gatherer.
type Intake struct {
	family.BuildOptions
	Keys   *Sorted
	config Config
}

// NewIntake returns an Intake without keys.
func NewIntake(c Config) Intake {
	o := family.BuildOptions{Memory: c.Memory, Dir: c.Dir, Workers: c.Workers}
	return Intake{BuildOptions: o, Keys: NewSorted(c), config: c}
}

// SetOptions implements family.Gatherer. It drops keys that were added before.
func (b *Intake) SetOptions(o family.BuildOptions) {
	o.Workers = max(o.Workers, 0)
	b.BuildOptions = o
	b.config.Memory, b.config.Dir, b.config.Workers = o.Memory, o.Dir, o.Workers
	b.Keys = NewSorted(b.config)
}

// AddMany adds keys and keeps no reference to hs. It may be called from several goroutines at once. It returns an
// error if keys beyond the memory limit cannot be written.
func (b *Intake) AddMany(hs []filter.Hash) error { return b.Keys.AddMany(hs) }

// Close drops the keys and removes their file. Build calls it. Call it if you do not call Build.
func (b *Intake) Close() error { return b.Keys.Close() }
