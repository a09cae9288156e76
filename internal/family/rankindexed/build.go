package rankindexed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/kernel"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/probe"
)

// DefaultFPR is the false-positive rate at the capacity if the Config has no size.
const DefaultFPR = 0.01

// Config describes the filter to make. Zero fields take the default noted beside them.
type Config struct {
	Keys uint64 // the number of keys that will be added; a Builder that drops duplicates counts them itself
	// Capacity is the number of keys to make room for, including keys added later. Default, and minimum: Keys.
	Capacity uint64
	Size     family.Sizing // at the capacity; default: FPR = DefaultFPR
	// Overflow is the probability, 1e-15 to 0.1, that the filter is full before it reaches its capacity. Default:
	// DefaultOverflow.
	Overflow float64
	// Counting makes each cell count up to four additions of its key. A key that is added more than four times takes
	// further cells.
	Counting bool
	// ValueBits is the number of bits of the value of each key, 0 to MaxValueBits. It must be 0 with Counting.
	ValueBits int
	// Growth is the number of times that the filter may double when it reaches its capacity, 0 to maxGrowth. The filter
	// keeps its false-positive rate up to the last capacity. Each remaining doubling costs one bit per key.
	Growth int
	// Bucket is the size of a bucket in bits, a multiple of 64 up to 16384, or if the keys are too few for it a half, a
	// quarter and so on, at least 512. Default: the size that makes the smallest filter whose index fits a cache line,
	// usually 1500 to 4000. With 512, a cache line, most queries cause one cache miss; the filter is about 8% larger at
	// a rate of 1%, and 23% larger at 1e-6. With 16384 the filter is 5% smaller; a build takes as long, a query up to
	// three times and an Add up to four times as long.
	Bucket int
	// Fast selects short chains, of at most 0.3 keys on average, and buckets of at most two cache lines, of which at
	// most 3% have an extension. Most queries then end at the first bit or cell that they read. The filter is 20% to
	// 50% larger.
	Fast bool
	// Geometry, if set, overrides Keys and Capacity. Size, Overflow, Bucket and Fast must then be zero.
	Geometry *Geometry
}

// ConfigFromSpec reads rankindexed(bits_per_key=, fpr=, bytes=, capacity=, counting=1, value_bits=, growth=, bucket=,
// overflow=, fast=1), or a geometry, which has buckets=.
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := family.Reader(s)
	c := Config{Keys: keys, Size: family.ReadSizing(r), Overflow: r.Float("overflow"), Capacity: r.Uint("capacity")}
	number := func(name string) int { return int(min(r.Uint(name), math.MaxInt32)) } // an int may have 32 bits
	c.Counting, c.Fast, c.ValueBits = r.Flag("counting"), r.Flag("fast"), number("value_bits")
	c.Growth, c.Bucket = number("growth"), number("bucket")
	if family.Given(s, "buckets") {
		c.Geometry = &Geometry{
			Capacity: c.Capacity, Buckets: r.Uint("buckets"), Chains: number("chains"), Remainder: number("remainder"),
			Cells:  [levels]int{number("cells"), number("cells2"), number("cells3")},
			Pools:  [levels]uint64{0, r.Uint("pool2"), r.Uint("pool3")},
			Growth: c.Growth, Counting: c.Counting, ValueBits: c.ValueBits,
		}
	}

	if err := r.Err(); err != nil {
		return Config{}, err
	}

	if family.Given(s, "overflow") && c.Overflow == 0 { // in the Config, 0 means the default
		return Config{}, family.Invalid("overflow", 0, "want more than 0")
	}
	return c, c.Check()
}

// Check returns an error wrapping filter.ErrConfig or filter.ErrTooLarge if the Config is invalid whatever the number
// of keys.
func (c Config) Check() error {
	if g := c.Geometry; g != nil {
		if c.Size != (family.Sizing{}) || c.Overflow != 0 || c.Bucket != 0 || c.Fast {
			return family.Invalid("buckets", g.Buckets, "a geometry takes no size, overflow, bucket or fast")
		}
		return g.validate()
	}

	switch {
	case c.Overflow != 0 && !(c.Overflow >= minOverflow && c.Overflow <= maxOverflow):
		return family.Invalid("overflow", c.Overflow,
			"want a probability from %g to %g, such as 1e-10", minOverflow, maxOverflow)
	case c.ValueBits < 0 || c.ValueBits > MaxValueBits:
		return family.Invalid("value_bits", c.ValueBits, "want 0 to %d", MaxValueBits)
	case c.Counting && c.ValueBits > 0:
		return family.Invalid("value_bits", c.ValueBits, "a filter has counters or values, not both")
	case c.Growth < 0 || c.Growth > maxGrowth:
		return family.Invalid("growth", c.Growth, "want 0 to %d", maxGrowth)
	case c.Bucket < 0 || c.Bucket%64 != 0 || c.Bucket > maxBucket:
		return family.Invalid("bucket", c.Bucket, "want a multiple of 64 up to %d", maxBucket)
	}
	return c.Size.Check()
}

// Limits of Config.Overflow.
const (
	minOverflow = 1e-15
	maxOverflow = 0.1
)

// maxBucket is the largest Config.Bucket, in bits.
const maxBucket = 1 << 14

// Plan returns the geometry of the filter that New makes, after a search of about a millisecond. Errors wrap
// filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Plan() (Geometry, error) {
	if err := c.Check(); err != nil {
		return Geometry{}, err
	}

	if c.Geometry != nil {
		return *c.Geometry, nil
	}

	p := plans.Get(c, func() (p planned) {
		p.Geometry, p.err = c.planGeometry()
		return p
	})
	return p.Geometry, p.err
}

// plans caches the results of Plan, because a build, its forecast and its report need the same geometry.
var plans parallel.Memo[Config, planned]

type planned struct {
	Geometry
	err error
}

// planGeometry is Plan without a Geometry.
func (c Config) planGeometry() (Geometry, error) {
	n := max(c.Keys, c.Capacity, 1)
	if n > maxKeys>>c.Growth { // the last capacity, n<<Growth, must not exceed maxKeys
		return Geometry{}, fmt.Errorf("%d keys with growth=%d: %w", n, c.Growth, filter.ErrTooLarge)
	}

	o := order{
		form: Geometry{Capacity: n, Growth: c.Growth, Counting: c.Counting, ValueBits: c.ValueBits}, fpr: c.Size.FPR,
		overflow: cmp.Or(c.Overflow, DefaultOverflow), words: lines, index: lineBits, lambda: longChain,
	}

	if c.Fast {
		o.words, o.lambda, o.extended = fastLines, fastChain, fastExtended
	}

	if c.Bucket != 0 {
		o.words, o.index = []int{c.Bucket / 64}, 64*c.Bucket
	}

	if c.Size.IsZero() {
		o.fpr = DefaultFPR
	}

	g, err := o.fit(c.Size, max(c.Keys, c.Capacity))
	for small := c.Bucket / 128; err != nil && small >= leastBits/64; small /= 2 {
		o.words = []int{small} // few keys do not fill a large bucket
		if fitting, e := o.fit(c.Size, max(c.Keys, c.Capacity)); e == nil {
			return fitting, nil
		}
	}
	return g, err
}

// fit returns the smallest geometry of the order's rate, or without a rate the one of the size.
func (o order) fit(size family.Sizing, keys uint64) (Geometry, error) {
	if o.fpr == 0 {
		return o.lowestRateWithin(size, keys)
	}

	g, ok := o.search(math.Inf(1))
	if !ok {
		return g, family.Invalid("fpr", o.fpr,
			"no remainder of at most 48 bits and no bucket of an allowed size reaches it")
	}
	return g, nil
}

// longChain is the largest mean number of keys of a chain without Config.Fast.
const longChain = 3

// The limits of Config.Fast: mean keys of a chain, share of the buckets with an extension, words of a bucket.
const (
	fastChain    = 0.3
	fastExtended = 0.03
)

var fastLines = []int{8, 16, 1, 2, 3, 4, 5, 6, 7}

// maxKeys is the largest capacity. It keeps sums of bits below 2^63.
const maxKeys = 1 << 50

// leastBits is the smallest size limit of a filter in bits: a cache line.
const leastBits = 512

// mostFPR is the highest rate that an error about too few bits mentions.
const mostFPR = 0.9

// lowestRateWithin returns the geometry with the lowest rate that fits the size. keys is 0 if the number of keys is
// unknown.
func (o order) lowestRateWithin(size family.Sizing, keys uint64) (Geometry, error) {
	bits, err := size.Bits(o.form.Capacity)
	if err != nil {
		return Geometry{}, err
	}

	bits = max(bits, leastBits)
	var best Geometry
	// -log2 of the rate is at most about four below the bits per key, and more in filters of few keys.
	perKey := float64(bits) / float64(o.form.Capacity)
	low, high := -min(perKey, MaxRemainder), min(0, 6+float64(o.form.payloadBits()+o.form.Growth)-perKey)
	o.fpr = math.Exp2(high)
	if _, ok := o.search(float64(bits)); !ok { // the estimate is too low: allow every rate
		high = 0
	}

	least := low
	for range 16 { // bisect until the logarithm of the rate is known to (high-low)/2^16
		middle := (low + high) / 2
		o.fpr = math.Exp2(middle)
		if g, ok := o.search(float64(bits)); ok {
			best, high = g, middle
		} else {
			low = middle
		}
	}

	if best.Buckets == 0 {
		reason := fmt.Sprintf("too few for %d keys in this form", o.form.Capacity)
		for _, o.fpr = range []float64{mostFPR, 0.5, 0.25} { // not every form has a filter at the highest rate
			if g, ok := o.search(math.Inf(1)); ok {
				reason = fmt.Sprintf("%s: a rate of %g needs %d", reason, o.fpr, g.Bits()/8)
				break
			}
		}
		return Geometry{}, family.Invalid("bytes", bits/8, "%s", reason)
	}

	o.fpr = math.Exp2(low)
	larger := false // whether a filter of a lower rate exists, of any size
	if low > least {
		_, larger = o.search(math.Inf(1))
	}

	// If no size has a lower rate, best is the largest filter. Report a size that the filter uses by far less than nine
	// tenths, instead of returning a filter that is smaller than the caller asked for.
	if !larger || 10*(best.Bits()/9+leastBits) < bits {
		return best, size.AtMost(best.Bits(), keys, Family)
	}
	return best, nil
}

// New returns an empty filter.
func New(c Config) (*Filter, error) {
	g, err := c.Plan()
	if err != nil {
		return nil, err
	}
	return newFilter(g)
}

// newFilter returns an empty filter of a geometry.
func newFilter(g Geometry) (*Filter, error) {
	if err := g.validate(); err != nil {
		return nil, err
	}
	var sections [levels][]uint64
	for i, n := range g.sections() {
		var err error
		if sections[i], err = bitvec.Alloc(n); err != nil {
			return nil, err
		}
	}
	return filterOver(g, sections), nil
}

// filterOver returns a filter whose words are the sections.
func filterOver(g Geometry, sections [levels][]uint64) *Filter {
	f := &Filter{arrays: arrays{sizes: newSizes(g), table: sections[0]}}
	f.walk = kernel.NewChains(f.table, f.layout())
	for level := 1; level < levels; level++ {
		f.pools[level] = newPool(g, level, sections[level])
	}
	return f
}

// NewBuilder returns a builder. In the counting form every addition of a key counts, and Config.Keys gives the size. In
// the other forms a key that is added several times is one key, and the number of distinct keys gives the size. With
// values it is a family.ValueBuilder; a key that is added without one has the value 0.
func NewBuilder(c Config) (family.Builder, error) {
	if c.Counting || c.Geometry != nil && c.Geometry.Counting {
		f, err := New(c)
		if err != nil {
			return nil, err
		}
		return &countingBuilder{c: newConcurrent(f)}, nil
	}
	keys, values := hashes.NewIntake(hashes.Config{Expect: c.Keys}), hashes.NewSorted(hashes.Config{})
	return &Builder{Intake: keys, values: values, config: c}, c.Check()
}

// Builder gathers hashes, 16 bytes each, and fills the buckets of a filter one after the other.
type Builder struct {
	hashes.Intake
	// values are the values of the keys that were added with one. Each is the hash of its key with the value in the low
	// half of Lo; the other 96 bits distinguish the keys.
	values *hashes.Sorted
	config Config
}

// Build returns a *Filter. The error wraps filter.ErrFull with the probability Config.Overflow.
func (b *Builder) Build(ctx context.Context) (family.Filter, error) {
	f, err := b.buildFilter(ctx)
	return family.As[family.Filter](f, errors.Join(err, b.Close()))
}

func (b *Builder) buildFilter(ctx context.Context) (*Filter, error) {
	n, err := b.Keys.Finish(ctx)
	if err != nil {
		return nil, err
	}

	c := b.config
	c.Keys = n
	f, err := New(c)
	if err != nil {
		return nil, err
	}

	for n > f.g.Capacity && f.g.Growth > 0 { // only with Config.Geometry: New makes room for all keys
		if err := f.Grow(); err != nil {
			return nil, err
		}
	}

	together := f.buckets/(n>>16+1) + 1 // buckets of a part, with at most about 65,536 keys: 1 MiB of hashes
	done := uint64(0)
	part := func(h filter.Hash) uint64 { return probe.Position(h.Hi, f.buckets) / together }
	report := func(keys int) error {
		if done += uint64(keys); b.Progress != nil {
			b.Progress(filter.Progress{Done: float64(done) / float64(n)})
		}
		return ctx.Err()
	}

	fill := &filler{f: f}
	if b.values.Added() > 0 {
		return f, b.addValued(ctx, fill, part, report)
	}

	return f, b.Keys.Each(ctx, part, func(_ uint64, hs []filter.Hash) error {
		if err := fill.fillBuckets(hs, nil); err != nil {
			return err
		}
		return report(len(hs))
	})
}

// countingBuilder adds keys to a filter at once, without gathering them.
type countingBuilder struct {
	c     *Concurrent
	built atomic.Bool
}

var errBuilt = errors.New("rankindexed: the Builder has built its filter, and takes no more keys")

// AddMany adds keys.
func (b *countingBuilder) AddMany(hs []filter.Hash) error {
	if b.built.Load() {
		return errBuilt
	}
	for _, h := range hs {
		if err := b.c.Add(h); err != nil {
			return err
		}
	}
	return nil
}

// Build returns a *Filter.
func (b *countingBuilder) Build(ctx context.Context) (family.Filter, error) {
	if b.built.Swap(true) {
		return nil, errBuilt
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return b.c.filter().renumberExtensions()
}
