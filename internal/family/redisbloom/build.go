package redisbloom

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/probe"
)

// defaultGrowth is the default expansion of BF.RESERVE.
const defaultGrowth = 2

// Config describes a chain to make, like the arguments of BF.RESERVE. Zero fields take the default noted beside them.
type Config struct {
	Keys     uint64 // distinct keys that will be added
	Capacity uint64 // keys that the first link is sized for; default: Keys, or more if an FPR needs it; see probe.Double
	// Size is the size of the first link, at least one word. Its FPR is the rate of the whole chain; default:
	// probe.DefaultFPR.
	Size   family.Sizing
	Growth uint32  // capacity of a link over the capacity of the link before, at most 32768; default: defaultGrowth
	Fixed  bool    // the chain does not grow: NONSCALING
	From   *Filter // if not nil, the chain begins like this one, and the other fields are not used
}

// ConfigFromSpec reads redisbloom(bits_per_key=, fpr=, bytes=, capacity=, expansion=). An expansion of 0 is
// NONSCALING. Errors wrap filter.ErrConfig.
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := family.Reader(s)
	c := Config{Keys: keys, Size: family.ReadSizing(r), Capacity: r.Count("capacity", math.MaxUint64)}
	growth := r.Uint("expansion")
	if err := r.Err(); err != nil {
		return Config{}, err
	}
	if growth > maxGrowth {
		return Config{}, badGrowth(growth)
	}
	c.Growth, c.Fixed = uint32(growth), family.Given(s, "expansion") && growth == 0
	return c, nil
}

// maxGrowth is the largest expansion that BF.RESERVE accepts.
const maxGrowth = 32768

func badGrowth(growth uint64) error {
	return family.Invalid("expansion", growth, "want 0 to %d", maxGrowth)
}

// ln 2 and its square, with the digits of RedisBloom's source: more digits would change the sizes of links.
const (
	ln2        = 0.693147180559945
	ln2squared = 0.480453013918201
)

// maxBitsPerKey is the size for 64 probes, the most that other families allow, and a rate of 5e-20.
const maxBitsPerKey = 92

// firstLink returns the first link, without keys.
func (c Config) firstLink() (Link, error) {
	if c.From != nil {
		l := c.From.links[0]
		l.Keys = 0
		return l, nil
	}

	if err := c.Size.Check(); err != nil {
		return Link{}, err
	}

	if c.Growth > maxGrowth {
		return Link{}, badGrowth(uint64(c.Growth))
	}

	capacity := cmp.Or(c.Capacity, max(c.Keys, 1))
	if err := c.Size.AtMost(capacity*maxBitsPerKey, max(c.Keys, c.Capacity), Family); err != nil {
		return Link{}, err
	}

	if c.Size.BitsPerKey != 0 {
		return newLink(capacity, 0, min(c.Size.BitsPerKey, maxBitsPerKey))
	}

	if c.Size.Bytes != 0 {
		bits, err := c.Size.Bits(capacity)
		if err != nil {
			return Link{}, err
		}
		return newLink(capacity, 0, min(float64(max(bits/64, 1)*64)/float64(capacity), maxBitsPerKey))
	}

	rate := cmp.Or(c.Size.FPR, probe.DefaultFPR)
	promised := rate
	if !c.Fixed {
		rate /= 2 // each link has half the rate of the link before it, so the sum is below the rate of the chain
	}

	l, err := newLink(capacity, rate, 0)
	if err != nil || c.Capacity != 0 || c.Keys == 0 { // a chosen capacity gives the same link as in RedisBloom
		return l, err
	}

	bits, err := l.doubleHashing(1).Fit(Family, c.Keys, promised, 64, 1<<53)
	if err != nil || bits == l.Bits {
		return l, err
	}
	return newLink(uint64(math.Ceil(float64(bits)/l.BitsPerKey)), rate, 0)
}

// newLink sizes a link by bitsPerKey, or by its rate if bitsPerKey is 0. Errors wrap filter.ErrConfig or
// filter.ErrTooLarge.
func newLink(capacity uint64, rate, bitsPerKey float64) (Link, error) {
	if bitsPerKey == 0 {
		bitsPerKey = math.Abs(log(rate)) / ln2squared
	} else {
		rate = exp(-bitsPerKey * ln2squared)
	}

	l := Link{Capacity: capacity, Rate: rate, BitsPerKey: bitsPerKey, K: int(math.Ceil(ln2 * bitsPerKey))}
	bits := float64(capacity) * bitsPerKey
	switch {
	case !(rate > 0) || l.K > MaxK:
		return Link{}, family.Invalid("fpr", rate, "the rate of a link of the chain is too low for a 64-bit float")
	case !(bits < 1<<53) || capacity >= 1<<53:
		return Link{}, fmt.Errorf("a link of %.3g bits: %w", bits, filter.ErrTooLarge)
	}

	l.Bits = (max(uint64(bits), 1) + 63) / 64 * 64
	return l, nil
}

// New returns an empty chain of one link. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func New(c Config) (*Filter, error) {
	l, err := c.firstLink()
	if err != nil {
		return nil, err
	}

	words, err := bitvec.Alloc(l.Bits / 64)
	if err != nil {
		return nil, err
	}

	f := &Filter{words: words, links: []Link{l}, growth: c.Growth, scales: !c.Fixed}
	switch {
	case c.From != nil:
		f.growth, f.scales = c.From.growth, c.From.scales
	case f.growth == 0 && f.scales:
		f.growth = defaultGrowth
	}
	return f, nil
}

// Builder gathers keys, then adds each key once, in the order of the hashes, so that the same keys give the same chain.
type Builder struct {
	hashes.Intake
	c Config
}

// NewBuilder returns a builder of a chain that begins like a chain from New. If Keys and Capacity are 0, the first link
// is sized for the number of added keys, including duplicates.
func NewBuilder(c Config) (*Builder, error) {
	if _, err := c.firstLink(); err != nil {
		return nil, err
	}
	return &Builder{hashes.NewIntake(hashes.Config{Expect: c.Keys}), c}, nil
}

// Build returns the filter as a *Filter. The error wraps filter.ErrFull if the chain does not grow and has no room for
// all keys, or is ctx.Err() if ctx is done.
func (b *Builder) Build(ctx context.Context) (family.Filter, error) {
	defer b.Keys.Close()
	if _, err := b.Keys.Finish(ctx); err != nil {
		return nil, err
	}

	c := b.c
	c.Keys = cmp.Or(c.Keys, b.Keys.Added())
	f, err := New(c)
	if err != nil {
		return nil, err
	}

	err = b.Keys.Blocks(ctx, func(hs []filter.Hash) error {
		for _, h := range hs {
			if err := f.Add(h); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Traits describes the abilities and the hash functions of the family. Package families lists the Traits of all
// families.
var Traits = family.Traits{
	Name: Family,
	Hash: filter.Murmur64A,
	// BF.ADD adds an integer as its decimal digits.
	KeyType: filter.KeyText,
	Can:     family.CanStartEmpty | family.CanCapacity | family.CanSpill | family.CanCountItself,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary: "chain of filters of RedisBloom",
		Default: "a false-positive rate of 1%", DefaultFPR: 0.01, Sizes: []string{"links"},
		Grows: initialCapacity,
		Parameters: []family.Parameter{
			{Name: "capacity", Value: "KEYS", Help: "capacity of the first filter of the chain"},
			{Name: "expansion", Value: "N", Help: "growth factor of the chain; 0: no growth"},
		},
	}
}

// initialCapacity returns the default capacity of a chain that grows, the same as in RedisBloom, or 0 for a chain that
// does not grow or whose links all have the same capacity: with many keys, such a chain would have many links, and each
// link adds to the rate.
func initialCapacity(s filter.Spec) uint64 {
	if expansion := family.Reader(s).Text("expansion", "2"); expansion == "0" || expansion == "1" {
		return 0
	}
	return 100
}

// Forecast returns the size in bits of the first link of the chain that New makes, and its predicted false-positive
// rate, in [0, 1], after keys distinct keys were added, at most the capacity of that link. It does not allocate a
// filter. It returns the errors of New.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	l, err := c.firstLink()
	if err != nil {
		return 0, 0, err
	}
	return l.Bits, l.doubleHashing(1).FPR(min(keys, l.Capacity)), nil
}

// Like returns a Builder of a chain that begins with the first link of f and grows like f.
func (f *Filter) Like() (family.Builder, error) {
	return family.As[family.Builder](NewBuilder(Config{From: f}))
}
