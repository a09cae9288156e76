package ribbon

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/parallel"
)

// errHashes is wrapped by build errors that occur only if the hashes are not random.
var errHashes = errors.New("the hashes of the keys are not random; hash the keys with another seed")

// Builder gathers keys and solves for the slots at the end. Besides the filter, or two filters if it tries several
// variants, Build takes 17 bytes per key, or at most twice the limit of memory, and 16 MiB per worker.
type Builder struct {
	hashes.Intake
	c    Config
	done progress
	turn uint64 // the factor of Hi of Keys, or 0 for 1
}

// NewBuilder returns an empty builder. If a size in bytes is too small for the keys, Build returns the error, since
// only Build knows the number of distinct keys. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func NewBuilder(c Config) (*Builder, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if _, _, err := c.Geometry(c.Keys); c.Keys > 0 && c.Size.Bytes == 0 && err != nil {
		return nil, err
	}
	return &Builder{Intake: hashes.NewIntake(hashes.Config{Expect: c.Keys}), c: c}, nil
}

// Build solves for the slots and returns a *Filter. The result depends only on the set of keys, not on their order, on
// duplicates or on the number of workers. Errors wrap filter.ErrConfig if the size does not suit the number of keys.
// Build fails if the hashes of the keys are not random.
func (b *Builder) Build(ctx context.Context) (family.Filter, error) {
	f, err := b.buildFilter(ctx)
	if err = errors.Join(err, b.Close()); err != nil {
		return nil, err
	}
	f.makeKernels()
	return f, nil
}

func (b *Builder) buildFilter(ctx context.Context) (*Filter, error) {
	n, err := b.Keys.Finish(ctx)
	if err != nil {
		return nil, err
	}

	r, wide, err := b.c.Geometry(n)
	if err != nil {
		return nil, err
	}

	g := geometry{r: r, wide: uint64(wide), valueBits: b.c.ValueBits, w: b.c.coefficientWidth()}
	if n > maxTail { // the seed selects a variant of the layers, and a filter of fewer keys has only a tail
		g.seed = uint64(b.c.Seed)
	}

	for range maxTries {
		b.done = progress{give: b.Progress, keys: n, start: time.Now()}
		f, err := b.buildSmallest(ctx, n, g)
		if err != nil {
			return nil, err
		}
		next, kept := b.c.correctGeometry(f)
		if kept {
			return f, nil
		}
		g.r, g.wide = next.r, next.wide
	}
	return nil, fmt.Errorf("ribbon: no filter of %d keys keeps %+v: %w", n, b.c.Size, errHashes)
}

// maxTries is the largest number of filters that a build tries until one keeps the rate or the size. The second filter
// almost always does.
const maxTries = 8

// maxVariants returns the largest number of variants of the layers that a build with the columns of g tries. With few
// keys chance decides the size of a filter; a build with this number of variants takes at most about three times as
// long as a build of family fuse. With w=128 and one column, where a slot is the largest part of a key's bits, chance
// decides the last 0.02%.
func (b *Builder) maxVariants(n uint64, g geometry) uint64 {
	switch {
	case n <= maxTail || b.c.Seed != 0:
		return 1
	case n < 4096:
		return 3
	case n < manyKeys:
		return 2
	case g.w == 128 && g.r+g.valueBits == 1 && g.wide == 0:
		return 4
	}
	return 1
}

// manyKeys is the number of keys from which most builds try only one variant.
const manyKeys = 20_000

// enoughSlots returns the number of slots at which a build of n keys stops trying variants. With w=128, one column and
// many keys, about three of four variants need no more slots; with 100,000 keys, nine of ten. They have about 25 slots
// more than keys and 72 for each segment, with a standard deviation of about 40 times the root of the segments
// (measured with 100,000 to 10 million keys). With more columns variants have more slots, because fewer redundant
// equations agree with the others.
func enoughSlots(n uint64) uint64 {
	if n < manyKeys {
		return n + 8 + n/320
	}
	segments := (startsFor(128, n) + segmentStart - 1) >> segmentBits
	return n + 25 + 72*segments + uint64(math.Sqrt(float64(28*28*segments)))
}

// buildSmallest builds a filter of n keys with the columns of g. It tries variants until one has at most enoughSlots
// slots, and returns the smallest one.
func (b *Builder) buildSmallest(ctx context.Context, n uint64, g geometry) (*Filter, error) {
	best, tail, err := b.buildLayers(ctx, n, g)
	for g.seed = 1; err == nil && g.seed < b.maxVariants(n, g) && best.allSlots() > enoughSlots(n); g.seed++ {
		var f *Filter
		var left []filter.Hash
		if f, left, err = b.buildLayers(ctx, n, g); err == nil && f.totalBits() < best.totalBits() {
			best, tail = f, left
		}
	}

	if err != nil {
		return nil, err
	}
	return best, best.solveTail(tail) // last, because the size does not depend on the solution
}

// buildLayers builds the layers of a filter of n keys with the seed and the columns of g, and returns the keys of the
// tail.
func (b *Builder) buildLayers(ctx context.Context, n uint64, g geometry) (f *Filter, tail []filter.Hash, err error) {
	f = &Filter{geometry: g, keys: n}
	keys, own := b.Keys, false // own: keys were made here, not by the builder, and must be closed
	defer func() {
		if own {
			err = errors.Join(err, keys.Close())
		}
	}()
	if turn, have := layerFactor(maxLayers*g.seed), max(b.turn, 1); turn != have {
		if !b.Keys.Spilled() { // multiply the keys in place; turn/have undoes the factor of the variant before
			err = b.Keys.Change(ctx, turned(turn*inverse(have)))
			b.turn = turn
		} else { // keys in files cannot be changed: write a second set
			keys, own = b.newKeys(turned(turn)), true
			if err = b.Keys.Blocks(ctx, keys.AddMany); err == nil {
				_, err = keys.Finish(ctx)
			}
		}
		if err != nil {
			return nil, nil, err
		}
	}

	var classes []uint8
	solvers := make([]solver, parallel.Workers(b.Workers))
	for left := n; left > maxTail; {
		if len(f.layers) == maxLayers {
			return nil, nil, fmt.Errorf("ribbon: %d of %d keys are left after %d layers: %w",
				left, n, maxLayers, errHashes)
		}
		l := f.addLayer(startsFor(g.w, left))
		if err := f.reserveWords(); err != nil {
			return nil, nil, err
		}
		next := b.newKeys(nil)
		of := make([]uint8, l.bucketCount())
		err := b.solveLayer(ctx, f, solvers, of, keys, next)
		if own { // these keys are solved or bumped: at most two sets exist at a time
			err = errors.Join(err, keys.Close())
		}
		keys, own, classes = next, true, append(classes, of...)
		if err != nil {
			return nil, nil, err
		}
		if left, err = next.Finish(ctx); err != nil {
			return nil, nil, err
		}
	}

	f.classes = make([]uint64, (2*f.bucketCount()+63)/64)
	for i, class := range classes {
		f.classes[i/32] |= uint64(class) << (i % 32 * 2)
	}

	back := inverse(layerFactor(uint64(len(f.layers)) + maxLayers*g.seed))
	err = keys.Blocks(ctx, func(hs []filter.Hash) error {
		for _, h := range hs {
			tail = append(tail, filter.Hash{Hi: h.Hi * back, Lo: h.Lo})
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}

	if len(f.layers) == 0 && f.valueBits > 0 {
		if err := checkValues(slices.Values([][]filter.Hash{tail}), 1); err != nil {
			return nil, nil, err
		}
	}

	f.slots = uint64(len(tail))
	return f, tail, nil
}

// turned returns the function that multiplies Hi by a factor.
func turned(factor uint64) func(filter.Hash) filter.Hash {
	return func(h filter.Hash) filter.Hash { return filter.Hash{Hi: h.Hi * factor, Lo: h.Lo} }
}

// newKeys returns an empty Keys within the memory limit. It applies form, if not nil, to its keys.
func (b *Builder) newKeys(form func(filter.Hash) filter.Hash) *hashes.Sorted {
	return hashes.NewSorted(hashes.Config{Memory: b.Memory, Dir: b.Dir, Workers: b.Workers, Form: form})
}

// reserveWords makes room for the words of the last layer. With the first layer it also reserves room for the later
// layers, which need about a sixteenth of its words. Reserved memory that stays unused is never touched.
func (f *Filter) reserveWords() error {
	words := f.geometry.wordCount()
	if words <= uint64(cap(f.words)) {
		f.words = f.words[:words]
		return nil
	}

	room, err := bitvec.Alloc(words + words/12 + 512)
	if err != nil {
		return err
	}

	f.words = room[:copy(room, f.words)]
	f.words = f.words[:words]
	return nil
}

// AddMany adds keys and keeps no reference to hs. It may be called from several goroutines at once. The error wraps
// filter.ErrConfig if the filter is to have values, or reports that keys beyond the memory limit cannot be written.
func (b *Builder) AddMany(hs []filter.Hash) error {
	if b.c.ValueBits > 0 {
		return family.Invalid("value_bits", b.c.ValueBits, "every key needs a value, and some came without one")
	}
	return b.Intake.AddMany(hs)
}

// AddValues adds the keys hs[i] with values[i], below 2^ValueBits, and keeps no reference to either. It may be called
// from several goroutines at once. Keys are distinguished by 96 bits: all of Hi and the high half of Lo. The error
// wraps filter.ErrConfig if the filter is to have no values, the two slices differ in length, or a value has too many
// bits; then it has added nothing. Any other error means that keys beyond the memory limit cannot be written.
func (b *Builder) AddValues(hs []filter.Hash, values []uint64) error {
	return hashes.AddValues(hs, values, int(b.c.ValueBits), func(_, valued []filter.Hash) error {
		return b.Keys.AddMany(valued)
	})
}

// checkValues returns a *family.ValueError if two of the keys, which are in order, differ only in their values. The
// product of a key's Hi and back is the Hi of its hash.
func checkValues(pieces iter.Seq[[]filter.Hash], back uint64) error {
	var one hashes.OneValue
	for hs := range pieces {
		if err := one.Check(hs, back); err != nil {
			return err
		}
	}
	return nil
}
