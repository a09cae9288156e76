package except

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

var (
	errOrder  = errors.New("a key of the list after the first member")
	errBuilt  = errors.New("a member after the exceptions were built")
	errLevels = fmt.Errorf("the exceptions do not fit in %d levels: keys have equal or related hashes; take another "+
		"seed or secret: %w", maxLevels, filter.ErrFull)
)

// Builder finds the exceptions of a filter. Call Allow with the keys of the list, then Members with all members, then
// Build. Allow and Members may each be called from several goroutines at once.
//
// Peak memory, besides the filter: about 80 bytes for each exception and its text, and 16 for each member in level 1,
// about 0.7 per exception.
type Builder struct {
	many    func(dst []bool, hs []filter.Hash) // HasMany of the filter
	members float64
	like    []Size

	mu      sync.Mutex
	allowed uint64
	found   map[filter.Hash]string // keys of the list for which main answers true, with their text
	sizes   []Size                 // the sizes of the levels
	words   [][]uint64             // the bits of the levels
	first   *level                 // level 1, or nil without exceptions
	started bool                   // set when no key of the list may follow
	built   bool                   // set when no member may follow
	caught  []filter.Hash          // members that are in level 1
	both    map[filter.Hash]string // members that are also in the list, with their text
	seen    uint64                 // number of members
	missing uint64                 // number of members for which main answers false
}

// NewBuilder returns a Builder for a filter with about members members. like, if not nil, is the level sizes of an
// earlier version of the filter: the new cascade gets the same sizes if it needs about as much room.
func NewBuilder(main family.Filter, members uint64, like []Size) *Builder {
	return &Builder{
		many: batchOf(main), members: float64(max(members, 1)), like: like,
		found: map[filter.Hash]string{}, both: map[filter.Hash]string{},
	}
}

// Allow adds keys of the list by their hashes. text returns key i as text, for errors; it may be nil.
func (b *Builder) Allow(hs []filter.Hash, text func(i int) string) error {
	hits := make([]bool, len(hs))
	b.many(hits, hs)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.started {
		return errOrder
	}

	b.allowed += uint64(len(hs))
	for i, hit := range hits {
		if !hit {
			continue
		}
		if _, ok := b.found[hs[i]]; !ok {
			key := fmt.Sprintf("with hash %016x%016x", hs[i].Hi, hs[i].Lo)
			if text != nil {
				key = text(i)
			}
			b.found[hs[i]] = key
		}
	}
	return nil
}

// Members adds members by their hashes.
func (b *Builder) Members(hs []filter.Hash) error {
	if err := b.beginLevels(); err != nil {
		return err
	}

	hits := make([]bool, len(hs))
	b.many(hits, hs)
	var missing uint64
	var caught []filter.Hash
	for i, h := range hs {
		switch {
		case !hits[i]:
			missing++
		case b.first != nil && b.first.hasKey(h):
			caught = append(caught, h)
		}
	}

	b.mu.Lock()
	defer b.mu.Unlock()
	if b.built {
		return errBuilt
	}

	b.seen += uint64(len(hs))
	b.missing += missing
	for _, h := range caught {
		if key, ok := b.found[h]; ok {
			b.both[h] = key
		} else {
			b.caught = append(b.caught, h)
		}
	}
	return nil
}

// Seen returns the number of members so far, and how many of them the filter does not contain. Missing members show
// that the list is for another filter.
func (b *Builder) Seen() (members, missing uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seen, b.missing
}

// Both returns the members so far that are also in the list, with their text.
func (b *Builder) Both() map[filter.Hash]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.both)
}

// beginLevels makes level 1, unless there are no exceptions.
func (b *Builder) beginLevels() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.started
	if b.started = true; was || len(b.found) == 0 {
		return nil
	}

	n := float64(len(b.found))
	b.sizes = planSizes(n, b.members)
	if fitsPlan(b.like, b.sizes) {
		b.sizes = b.like
	}

	var err error
	b.first, err = b.addLevel(b.sizes[0], maps.Keys(b.found))
	return err
}

// fitsPlan reports whether levels of the sizes like can replace the sizes of a plan: if each of the larger sizes
// differs by less than an eighth.
func fitsPlan(like, plan []Size) bool {
	for i, p := range plan {
		switch {
		case i == len(like):
			return false
		case p.Words < 2*steps:
			return like[i].Words < 4*steps
		}
		if l := like[i]; l.Probes != p.Probes || 8*l.Words < 7*p.Words || 8*l.Words > 9*p.Words {
			return false
		}
	}
	return true
}

// addLevel appends a level of size s with the keys hs.
func (b *Builder) addLevel(s Size, hs iter.Seq[filter.Hash]) (*level, error) {
	words, err := bitvec.Alloc(s.Words)
	if err != nil {
		return nil, err
	}
	l := &level{words, s.Probes, roundOf(len(b.words))}
	b.words = append(b.words, words)
	for h := range hs {
		l.addKey(h)
	}
	return l, nil
}

// Build returns the exceptions. If members are in the list, the error is a *filter.AllowedError. It returns ctx.Err()
// if ctx is done. Call it once, when no other method runs.
func (b *Builder) Build(ctx context.Context) (*Cascade, error) {
	if err := b.beginLevels(); err != nil {
		return nil, err
	}

	if len(b.both) > 0 {
		return nil, &filter.AllowedError{Keys: slices.Sorted(maps.Values(b.both))}
	}

	b.mu.Lock()
	b.built = true
	b.mu.Unlock()
	if err := b.cascade(ctx); err != nil {
		return nil, err
	}

	levels := uint64(len(b.words))
	total := headWords + levels
	for _, w := range b.words {
		total += uint64(len(w))
	}

	words, err := bitvec.Alloc(total)
	if err != nil {
		return nil, err
	}

	words[0], words[1], words[2] = levels, b.allowed, uint64(len(b.found))
	at := words[headWords+levels:]
	for i, w := range b.words {
		words[headWords+i] = uint64(len(w)) | b.sizes[i].Probes<<probeShift
		at = at[copy(at, w):]
	}
	return Decode(words)
}

// cascade makes the levels after the first one.
func (b *Builder) cascade(ctx context.Context) error {
	if b.first == nil {
		return nil
	}

	// Sorted, so that duplicates are neighbours; goroutines added them in any order.
	slices.SortFunc(b.caught, func(a, b filter.Hash) int {
		return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo))
	})
	in := slices.Compact(b.caught) // the keys of the next level
	out := slices.Collect(maps.Keys(b.found))
	for i := 1; len(in) > 0 || i < len(b.sizes); i++ {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case i == maxLevels:
			return errLevels
		case i >= len(b.sizes): // more keys than expected pass the levels: plan the remaining ones anew
			b.sizes = append(b.sizes[:i:i], planSizes(float64(len(in)), float64(len(out)))...)
		}
		l, err := b.addLevel(b.sizes[i], slices.Values(in))
		if err != nil {
			return err
		}
		in, out = slices.DeleteFunc(out, func(h filter.Hash) bool { return !l.hasKey(h) }), in
	}
	return nil
}

const (
	// endOdds is the expected number of keys that pass the last level of a plan, so about one plan in 1024 has too few
	// levels. The section then gets an additional small level.
	endOdds = 1. / 1024
	// spare is the room of the last level, as a multiple of its expected keys. If a cascade has a few percent more keys
	// than planned, each level passes more keys than expected, and the error grows from level to level.
	spare = 2
	// steps is the number of sizes of a level between two powers of two. Sizes are rounded up, 3% on average, so that
	// filters whose numbers of keys differ little mostly have levels of the same sizes.
	steps = 16
)

// planSizes returns the sizes of the levels for expected numbers of exceptions and members, both above 0.
func planSizes(exceptions, members float64) []Size {
	sizes, _ := cheapest(exceptions, members, maxLevels/2)
	return sizes
}

// cheapest returns the sizes of levels and their total bits. The first level holds in keys and is queried with out
// other keys.
//
// A level at rate p costs about 1.44·log2(1/p) bits per key and passes p·out keys to the next one. The optimum is p =
// √½·in/out, at most ½ (Larisch et al., section IV.C). Small levels cost less if they end the cascade, because each
// level takes one word for its length and is rounded up to whole words.
func cheapest(in, out float64, left int) ([]Size, float64) {
	last, lastBits := sizeFor(spare*in, endOdds/max(spare*out, 1))
	if p := min(math.Sqrt(0.5)*in/out, 0.5); left > 0 && p*out >= 1 {
		first, bits := sizeFor(in, p)
		rest, restBits := cheapest(p*out, in, left-1)
		if bits+restBits < lastBits {
			return append([]Size{first}, rest...), bits + restBits
		}
	}
	return []Size{last}, lastBits
}

// sizeFor returns the size of a Bloom filter of n keys with rate p, rounded up, and its bits and the bits of its
// length.
func sizeFor(n, p float64) (Size, float64) {
	probes, bits := 1., math.Inf(1)
	for k := max(math.Floor(-math.Log2(p)), 1); k <= maxProbes; k++ {
		// 1 - e^(-k·n/m) is the share of set bits.
		m := -k * n / math.Log1p(-math.Pow(p, 1/k))
		if m >= bits {
			break
		}
		probes, bits = k, m
	}
	s := Size{Words: rounded(bits / 64), Probes: uint64(probes)}
	return s, 64 * float64(s.Words+1)
}

// rounded returns the smallest valid size of a level that is at least w words; see steps.
func rounded(w float64) uint64 {
	step := max(math.Exp2(math.Floor(math.Log2(max(w, 1))))/steps, 1)
	return uint64(max(math.Ceil(w/step)*step, 1))
}
