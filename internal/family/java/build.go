package java

import (
	"cmp"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/probe"
)

// Config describes a filter to make. Kind is required. Other zero fields take the default noted beside them.
type Config struct {
	Kind  *Kind
	Keys  uint64        // distinct keys that will be added; required unless Words or Size.Bytes is set
	Size  family.Sizing // default: FPR = probe.DefaultFPR, see probe.Double; whole words, Bytes rounded down
	Words uint64        // 64-bit words, at most MaxWords; instead of Size
	K     int           // probes per key, 1 to MaxK; default: the best for Keys and the size
	Sums  Sums          // Sum32 or Kind.Of; default: Kind.Default
}

// ConfigFromSpec reads bits_per_key=, fpr=, bytes=, capacity=, words=, k= and the parameter of the kind. The size is
// for capacity or keys distinct keys, whichever is more. Errors wrap filter.ErrConfig.
func (kind *Kind) ConfigFromSpec(s filter.Spec, keys uint64) (c Config, err error) {
	r := family.Reader(s)
	c = Config{
		Kind: kind, Keys: max(keys, r.Uint("capacity")), Size: family.ReadSizing(r),
		Words: r.Count("words", math.MaxUint64), K: int(r.Count("k", MaxK)),
	}

	value := r.Uint(kind.Parameter)
	if err := r.Err(); err != nil {
		return Config{}, err
	}

	if family.Given(s, kind.Parameter) {
		if c.Sums, err = kind.sumsOf(value); err != nil {
			return Config{}, err
		}
	}
	return c, nil
}

// chosenSums returns Sums or its default.
func (c Config) chosenSums() Sums { return cmp.Or(c.Sums, c.Kind.Default) }

// Geometry returns the number of 64-bit words and of probes per key of the filter that New makes. It does not allocate.
// Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Geometry() (words uint64, k int, err error) {
	if err := c.validate(); err != nil {
		return 0, 0, err
	}

	words, k = c.Words, c.K
	if words == 0 {
		var m uint64
		m, k, err = probe.Config{Keys: c.Keys, Size: c.Size, K: k, MaxK: MaxK, Width: 1}.Resolve()
		if err != nil {
			return 0, 0, err
		}
		words = (m + 63) / 64
		if c.Size.Bytes != 0 {
			words = max(m/64, 1)
		}
		if byRate := c.Size.BitsPerKey == 0 && c.Size.Bytes == 0; byRate && c.Keys > 0 {
			if words, err = c.wordsForRate(m, words, k); err != nil {
				return 0, 0, err
			}
		}
	}

	if err := c.checkWords(words); err != nil {
		return 0, 0, err
	}

	if k == 0 {
		k = probe.OptimalK(max(c.Keys, 1), 64*words)
	}
	return words, k, nil
}

// validate returns an error if a field is out of range or contradicts another one.
func (c Config) validate() error {
	switch {
	case c.Words != 0 && !c.Size.IsZero():
		return family.Invalid("words", c.Words, "give only one of words, bits_per_key, fpr and bytes")
	case c.K < 0 || c.K > MaxK:
		return family.Invalid("k", c.K, "want 1 to %d", MaxK)
	}
	return nil
}

// checkWords returns an error if a filter has more words than the format of the system allows.
func (c Config) checkWords(words uint64) error {
	if words > MaxWords {
		return fmt.Errorf("words=%d, the limit of %s is %d: %w", words, c.Kind.System, MaxWords, filter.ErrTooLarge)
	}
	return nil
}

// wordsForRate returns the number of words, at least words, with which a filter with k probes keeps the rate. m is the
// number of bits that independent probes would need.
func (c Config) wordsForRate(m, words uint64, k int) (uint64, error) {
	kind, sums, rate, most := c.Kind, c.chosenSums(), cmp.Or(c.Size.FPR, probe.DefaultFPR), Reach(MaxWords, c.chosenSums())
	switch {
	case m > most && sums != Sum32:
		return words, nil // more than MaxWords: checkWords returns the error
	case m <= most:
		bits, err := doubleHashing(64*words, k, sums).Fit(kind.Family, c.Keys, rate, 64, most)
		if err != nil {
			return 0, err
		}
		for ; bits <= most; bits += (bits/64/32 + 1) * 64 { // in steps of about 3%, rounded to whole words
			if !isUneven(bits, sums) || priorRate(bits, k, sums, c.Keys) <= 1.02*rate {
				return bits / 64, nil
			}
		}
	}

	const reason = "it reaches 2^31 bits, too few to keep the rate for %d keys; use %s=%d"
	return 0, family.Invalid(kind.Parameter, kind.parameterValue(sums), reason, c.Keys, kind.Parameter, kind.Wide)
}

// New returns an empty filter. It returns the errors of Geometry, and an error wrapping filter.ErrTooLarge if the
// memory does not suffice.
func New(c Config) (*Filter, error) {
	n, k, err := c.Geometry()
	if err != nil {
		return nil, err
	}
	f := c.filterOf(n, k)
	f.Bits, err = f.Empty(64 * n)
	return f, err
}

// Builder fills a filter from many goroutines at once; see parallel.Filler.
type Builder struct{ *parallel.Filler[*Filter] }

// NewBuilder returns a builder of the filter that New makes. It returns the errors of New.
func NewBuilder(c Config) (*Builder, error) {
	f, err := New(c)
	if err != nil {
		return nil, err
	}

	return &Builder{parallel.NewFiller(f, len(f.Words), parallel.FillConfig[*Filter]{
		Add:   func(f *Filter, hs []filter.Hash) { f.set(hs, false) },
		Share: func(hs []filter.Hash) { f.set(hs, true) },
		Count: func(f *Filter, keys uint64) { f.Keys = keys },
		Empty: func() (*Filter, error) {
			b, err := f.Empty(f.bitCount())
			return &Filter{b, f.sums, f.kind}, err
		},
	})}, nil
}

// set sets the bits of keys and does not count the keys. If shared, other goroutines do the same meanwhile.
func (f *Filter) set(hs []filter.Hash, shared bool) {
	for _, h := range hs {
		x, by := f.startAndStep(h)
		for range f.K {
			at := f.position(x)
			w, bit := &f.Words[at/64], uint64(1)<<(at%64)
			switch {
			case !shared:
				*w |= bit
			case atomic.LoadUint64(w)&bit == 0: // a load leaves the cache line shared; a write takes it from other cores
				atomic.OrUint64(w, bit)
			}
			x += by
		}
	}
}

// can are the abilities of both families that do not follow from the interfaces of their filters.
const can = family.CanStartEmpty | family.CanCapacity

// aboutKind describes a family; own is the parameter that only this family has.
func aboutKind(summary string, own family.Parameter) family.About {
	return family.About{
		Summary: summary,
		Default: "a false-positive rate of 1%", DefaultFPR: 0.01, Sizes: []string{"words"},
		Parameters: []family.Parameter{
			family.CapacityParameter,
			{Name: "k", Value: "1..255", Help: "probes per key"},
			{Name: "words", Value: "N", Help: "number of 64-bit words, instead of a size"},
			own,
		},
	}
}

// Forecast returns the size in bits of the filter that New makes, and its predicted false-positive rate, in [0, 1],
// after keys distinct keys were added. It does not allocate a filter. It returns the errors of Geometry.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	words, k, err := c.Geometry()
	if err != nil {
		return 0, 0, err
	}
	return 64 * words, priorRate(Reach(words, c.chosenSums()), k, c.chosenSums(), keys), nil
}
