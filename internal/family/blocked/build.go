package blocked

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/kernel"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/probe"
)

// Config describes a filter. Zero fields take the default noted beside them.
type Config struct {
	Keys   uint64        // number of distinct keys that will be added; needed unless Blocks or Size.Bytes is set
	Size   family.Sizing // default: FPR = 0.01; for an FPR, the fewest blocks that keep it; see scatter
	Blocks uint64        // number of blocks, instead of Size
	K      int           // probes per key, line layout only, 1 to MaxK; default: the best for Keys and the blocks
	Layout Layout        // default: Line
}

// ConfigFromSpec reads blocked(bits_per_key=, fpr=, bytes=, capacity=, blocks=, k=, layout=line|split). A capacity
// larger than keys replaces keys. Errors wrap filter.ErrConfig.
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := family.Reader(s)
	c := Config{
		Keys: max(keys, r.Uint("capacity")), Size: family.ReadSizing(r),
		Blocks: r.Count("blocks", math.MaxUint64), Layout: Layout(r.Text("layout", string(Line))),
		K: int(r.Count("k", MaxK)),
	}
	return c, r.Err()
}

// Geometry returns the number of blocks and of probes per key of the filter that New makes. It allocates no filter.
// Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Geometry() (blocks uint64, k int, err error) {
	x := newFormula()
	defer x.remember()
	return c.geometry(x)
}

// Foldable returns the Spec of a filter from which the filter that New makes, and smaller ones, are folded; see
// family.Foldable. It returns the errors of Geometry.
func (c Config) Foldable() (filter.Spec, error) {
	blocks, k, err := c.Geometry()
	if err != nil {
		return filter.Spec{}, err
	}
	return sized(family.Foldable(blocks, c.Layout.BlockBits()), k, c.Layout).Spec, nil
}

// geometry is Geometry.
func (c Config) geometry(x *formula) (blocks uint64, k int, err error) {
	if err := c.validate(); err != nil {
		return 0, 0, err
	}

	size, n := c.Layout.BlockBits(), max(c.Keys, 1)
	blocks = c.Blocks
	switch {
	case blocks != 0:
	case c.Size.BitsPerKey != 0 || c.Size.Bytes != 0:
		var total uint64
		total, err = c.Size.Bits(n)
		blocks = total / size // rounded down: Bytes is a limit
		if c.Size.BitsPerKey != 0 {
			blocks = (total + size - 1) / size
		}
	default:
		blocks, err = c.blocksForRate(x, n)
	}

	if err == nil {
		err = checkBlocks(blocks)
	}
	if err != nil {
		return 0, 0, err
	}

	blocks = max(blocks, 1)
	return blocks, c.probes(x, n, blocks), nil
}

// checkBlocks returns an error if a filter has too many blocks.
func checkBlocks(blocks uint64) error {
	if blocks >= 1<<53 { // 2^62 bits, which family.BitsFor also refuses
		return fmt.Errorf("blocks=%d: %w", blocks, filter.ErrTooLarge)
	}
	return nil
}

func (c Config) validate() error {
	if err := c.Size.Check(); err != nil {
		return err
	}

	switch {
	case c.Layout != Line && c.Layout != Split && c.Layout != "":
		return family.Invalid("layout", c.Layout, "want line or split")
	case c.K < 0 || c.K > MaxK:
		return family.Invalid("k", c.K, "want 1 to %d", MaxK)
	case c.Layout == Split && c.K != 0 && c.K != splitK:
		return family.Invalid("k", c.K, "the split layout has 8 probes")
	case c.Blocks != 0 && !c.Size.IsZero():
		return family.Invalid("blocks", c.Blocks, "give blocks or one of bits_per_key, fpr and bytes")
	}
	return nil
}

// probes returns the number of probes per key for n keys in blocks blocks.
func (c Config) probes(x *formula, n, blocks uint64) int {
	switch {
	case c.Layout == Split:
		return splitK
	case c.K != 0:
		return c.K
	}
	return x.optimalK(n, blocks)
}

// blocksForRate returns the smallest number of blocks, or up to 0.1% more, with which the rate of nearly every filter
// is at most 1% above the planned rate; see firmBlocks. It bisects, since the predicted rate falls as blocks are added.
func (c Config) blocksForRate(x *formula, n uint64) (uint64, error) {
	p := cmp.Or(c.Size.FPR, probe.DefaultFPR)
	size := float64(c.Layout.BlockBits())
	kept := func(blocks uint64) bool {
		return leastFPR(n, float64(blocks)*size) <= p && x.predictFPR(n, blocks, c.probes(x, n, blocks), c.Layout) <= p
	}

	// Half of the size of a standard filter is a lower bound. Beyond 4096 bits per key the rate hardly falls any more.
	lo := uint64(max(1, 1.44*math.Log2(1/p)*float64(n)/size*0.5))
	hi := lo
	for !kept(hi) {
		if float64(hi)*size > 4096*max(float64(n), 64) || hi > 1<<52 {
			const reason = "a blocked filter needs more than 4096 bits per key for this rate; take standard or fuse"
			return 0, family.Invalid("fpr", p, reason)
		}
		lo, hi = hi, hi+hi/2+1
	}

	return c.firmBlocks(x, n, leastKept(lo, hi, kept), p), nil
}

// New returns an empty filter. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func New(c Config) (*Filter, error) {
	blocks, k, err := c.Geometry()
	if err != nil {
		return nil, err
	}
	f := sized(blocks, k, c.Layout)
	if f.Bits, err = f.Empty(f.M); err != nil {
		return nil, err
	}
	f.setWords(f.Words)
	return f, nil
}

// Builder fills a filter from many goroutines at once; see parallel.Filler.
type Builder struct{ *parallel.Filler[*Filter] }

// NewBuilder returns a builder of the filter that New would return.
func NewBuilder(c Config) (*Builder, error) {
	f, err := New(c)
	if err != nil {
		return nil, err
	}
	return &Builder{parallel.NewFiller(f, len(f.Words), parallel.FillConfig[*Filter]{
		Add: (*Filter).addMany, Share: newRegions(f).addMany,
		Empty: func() (*Filter, error) { return New(Config{Blocks: f.blocks, K: f.K, Layout: f.layout()}) },
		Count: func(f *Filter, keys uint64) { f.Keys = keys },
	})}, nil
}

// addMany adds keys and does not count them. In filters larger than the caches it prefetches the blocks of a batch of
// keys before it writes to any of them.
func (f *Filter) addMany(hs []filter.Hash) {
	if f.query.AddMany(hs) {
		return
	}

	var at [probe.BatchSize]uint64
	for len(hs) > 0 {
		group := hs[:min(probe.BatchSize, len(hs))]
		hs = hs[len(group):]
		for i, h := range group {
			at[i&(probe.BatchSize-1)] = f.firstWord(h) // for the compiler: no bounds check
		}
		if len(f.Words) > parallel.SmallFilter {
			bitvec.Prefetch(f.Words, at[:len(group)])
		}
		f.setGroup(at[:len(group)], group)
	}
}

// setGroup sets the bits of keys whose blocks begin at these words.
func (f *Filter) setGroup(at []uint64, group []filter.Hash) {
	at = at[:len(group)]
	switch {
	case f.split:
		for i, h := range group {
			setSplit((*[4]uint64)(f.Words[at[i]:]), h.Lo)
		}
	case f.K <= kernel.LineProbes:
		for i, h := range group {
			setProbes((*[8]uint64)(f.Words[at[i]:]), h.Lo, f.K)
		}
	default:
		for i, h := range group {
			setLine((*[8]uint64)(f.Words[at[i]:]), h.Lo, f.K)
		}
	}
}

// regions divides the blocks of a filter into 64 regions, each with a lock, so that many goroutines can add keys with
// plain writes. A call of addMany sorts its keys by region and adds the keys of each region together, which touches a
// part of the filter that fits a second-level cache. Building from a file on two cores takes half as long as with
// atomic writes.
type regions struct {
	f     *Filter
	shift int // a block is in region block >> shift
	locks [regionCount]region
	sorts sync.Pool // pool of *sorted
}

const regionCount = 64

type region struct {
	sync.Mutex
	_ [56]byte // so that each lock has its own cache line
}

// sorted is the memory in which a call sorts keys.
type sorted struct {
	keys [4096]filter.Hash
	ends [regionCount + 1]int // the keys of region s are keys[ends[s]:ends[s+1]]
}

func newRegions(f *Filter) *regions {
	return &regions{
		f:     f,
		shift: max(0, bits.Len64(f.blocks-1)-bits.Len64(regionCount-1)),
		sorts: sync.Pool{New: func() any { return new(sorted) }},
	}
}

// addMany adds keys and does not count them. Any number of goroutines may call it at once.
func (r *regions) addMany(hs []filter.Hash) {
	s := r.sorts.Get().(*sorted)
	defer r.sorts.Put(s)
	for part := range slices.Chunk(hs, len(s.keys)) {
		r.addSorted(s, part)
	}
}

// addSorted sorts keys by counting and adds them region by region. s must have room for them.
func (r *regions) addSorted(s *sorted, hs []filter.Hash) {
	blocks, shift := r.f.blocks, r.shift&63
	var next [regionCount + 1]int
	for _, h := range hs {
		block, _ := bits.Mul64(h.Hi, blocks)
		next[block>>shift+1]++
	}

	for i := range regionCount {
		next[i+1] += next[i]
	}

	s.ends = next
	for _, h := range hs {
		block, _ := bits.Mul64(h.Hi, blocks)
		to := &next[block>>shift]
		s.keys[*to] = h
		*to++
	}

	for i := range regionCount {
		if part := s.keys[s.ends[i]:s.ends[i+1]]; len(part) > 0 {
			r.locks[i].Lock()
			r.f.addMany(part)
			r.locks[i].Unlock()
		}
	}
}

// Traits describes the abilities and the hash functions of the family. Package families lists the Traits of all
// families.
var Traits = family.Traits{
	Name: Family,
	Also: family.Also{Spec: family.NewSpec(Family, "layout", string(Split)), Hash: filter.XXH64}, // a filter of Parquet
	Can:  family.CanStartEmpty | family.CanCapacity | family.CanOneLine,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary:   "one cache line per query; keys at any time, union",
		FileBytes: 128,
		Default:   "a false-positive rate of 1%", DefaultFPR: 0.01, Sizes: []string{"blocks"},
		Parameters: []family.Parameter{
			family.CapacityParameter, {Name: "k", Value: "1..32", Help: "probes per key (layout=line)"},
			{Name: "blocks", Value: "N", Help: "number of blocks, instead of a size"},
			{Name: "layout", Value: "line|split", Help: "512-bit lines, or the 256-bit split blocks of Parquet"},
		},
		Forms: []family.Form{
			{
				Spec: family.NewSpec(Family), Can: formCan, Default: 4,
				Reason:  "one cache line per query, keys at any time, union",
				Warning: "grows fast as the rate falls: below 0.01% others are smaller",
			},
			{
				Spec: family.NewSpec(Family, "layout", string(Split)), Can: formCan,
				Reason:  "one cache line and eight bits per query, as in Parquet",
				Warning: "grows fast as the rate falls: below 0.1% others are smaller",
			},
		},
	}
}

const formCan = family.CanAdd | family.CanMerge | family.CanConcurrent | family.CanCapacity | family.CanOneLine

// Forecast returns the size in bits of the filter that the Config makes for its Keys, and the predicted false-positive
// rate in [0, 1] after keys distinct keys were added. It allocates no filter. It returns the errors of Geometry.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	x := newFormula()
	defer x.remember()
	blocks, k, err := c.geometry(x)
	if err != nil {
		return 0, 0, err
	}
	return blocks * c.Layout.BlockBits(), x.predictFPR(keys, blocks, k, c.Layout), nil
}
