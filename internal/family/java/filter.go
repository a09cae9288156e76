package java

import (
	"cmp"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// Filter is a Bloom filter. Any number of goroutines may query it at once. Add, Merge and Intersect need exclusive use.
type Filter struct {
	probe.Bits // M: the bits that probes can reach
	sums       Sums
	kind       *Kind
}

// startAndStep returns the start and the step of a key's probes: their positions are position(x), position(x+by),
// position(x+2·by), ...
func (f *Filter) startAndStep(h filter.Hash) (x, by uint64) {
	switch f.sums {
	case Sum63:
		return h.Lo, h.Hi
	case Sum64:
		by = signed(h.Lo >> 32)
		return signed(h.Lo)*math.MaxInt32 + by, by
	}
	by = h.Lo >> 32
	return h.Lo + by, by
}

// signed returns the lower half of x as a signed number.
func signed(x uint64) uint64 { return uint64(int64(int32(x))) }

// position returns the position of the sum x.
func (f *Filter) position(x uint64) uint64 {
	switch f.sums {
	case Sum63:
		return x &^ (1 << 63) % f.bitCount()
	case Sum32:
		x = signed(x)
	}
	// An arithmetic shift gives all ones for a negative sum: the XOR is NOT x, as in Java.
	return (x ^ uint64(int64(x)>>63)) % f.bitCount()
}

func (f *Filter) bitCount() uint64 { return 64 * uint64(len(f.Words)) }

// Has reports whether the key may be in the set. It stops at the first probe whose bit is not set.
func (f *Filter) Has(h filter.Hash) bool {
	x, by := f.startAndStep(h)
	for range f.K {
		if at := f.position(x); f.Words[at/64]>>(at%64)&1 == 0 {
			return false
		}
		x += by
	}
	return true
}

// HasMany sets dst[i] to Has(hs[i]) for every i; see probe.HasMany.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	probe.HasMany(probe.InCache, dst, hs, f.prefetch, probe.HasEach(f))
}

// prefetch prefetches the first two probes of at most probe.BatchSize keys.
func (f *Filter) prefetch(hs []filter.Hash) {
	var at [2 * probe.BatchSize]uint64
	for i, h := range hs {
		x, by := f.startAndStep(h)
		at[2*i], at[2*i+1] = f.position(x), f.position(x+by)
	}
	bitvec.PrefetchBits(f.Words, at[:2*len(hs)])
}

// Add adds the key with hash h. The error is always nil.
func (f *Filter) Add(h filter.Hash) error {
	f.set([]filter.Hash{h}, false)
	f.Keys++
	return nil
}

// Info counts the set bits, which reads the whole filter. Fill is the share of the bits that probes can reach. The
// rates are the rates of probe.Double. In filters of more than about 2^26 bits they account for the uneven positions of
// Sum32.
func (f *Filter) Info() filter.Info {
	ones := f.Ones()
	return filter.Info{
		Spec: f.Spec, Keys: f.Keys, Bits: f.bitCount(), Fill: float64(ones) / float64(f.M),
		FPRPrior: priorRate(f.M, f.K, f.sums, f.Keys), FPRPosterior: posteriorRate(f.Words[:f.M/64], ones, f.K, f.sums),
	}
}

// filterOf returns the sizes of the filter of this number of words, without them.
func (c Config) filterOf(words uint64, k int) *Filter {
	sums := c.chosenSums()
	return &Filter{probe.Bits{M: Reach(words, sums), K: k, Spec: c.Kind.Spec(words, k, sums)}, sums, c.Kind}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if no built filter has this Spec.
func (kind *Kind) SectionWords(s filter.Spec) ([]uint64, error) {
	c, err := kind.builtConfig(s)
	return []uint64{c.Words}, err
}

// Decode returns the filter that Encode stored; see probe.Bits.Decode.
func (kind *Kind) Decode(e family.Encoded) (*Filter, error) {
	c, err := kind.builtConfig(e.Spec)
	if err != nil {
		return nil, err
	}
	f := c.filterOf(c.Words, c.K)
	f.Bits, err = f.Decode(e, 64*c.Words, nil)
	return f, err
}

// builtConfig reads the canonical Spec of a built filter. It rejects any other.
func (kind *Kind) builtConfig(s filter.Spec) (Config, error) {
	c, err := kind.ConfigFromSpec(s, 0)
	if err == nil && (c.Words == 0 || c.K == 0 || c.Sums == 0 || !c.Size.IsZero() || family.Given(s, "capacity")) {
		err = family.Invalid("spec", s, "want %s(k=,%s=,words=)", kind.Family, kind.Parameter)
	}
	if err == nil {
		err = cmp.Or(c.validate(), c.checkWords(c.Words))
	}
	return c, err
}

// doubleHashing returns the double hashing of a filter in which probes reach m bits.
func doubleHashing(m uint64, k int, s Sums) probe.Double {
	switch s {
	case Sum63:
		return probe.Double{Bits: m, K: k, Word: 63, Pairs: 1, Probe: probe63}
	case Sum64:
		return probe.Double{Bits: m, K: k, Word: 62, Pairs: 1, Probe: probe64}
	}
	return probe.Double{Bits: m, K: k, Word: 32, Pairs: 1, Falls: true, Probe: probe32}
}

// probe32 is probe.Probe of Sum32. The position decreases where the sum is negative.
func probe32(start, step *[2]uint64, i int, m uint64) (uint64, int, bool) {
	x := int32(start[0] + uint64(i)*step[0])
	return uint64(x^x>>31) % m, 0, x < 0
}

// probe63 is probe.Probe of Sum63.
func probe63(start, step *[2]uint64, i int, m uint64) (uint64, int, bool) {
	return (start[0] + uint64(i)*step[0]) &^ (1 << 63) % m, 0, false
}

// probe64 is probe.Probe of Sum64. Its sums stay far below 2^63, so they never wrap around. A negative sum is the
// mirror image of a positive sum with the opposite step, which is as likely, so probe64 ignores the sign.
func probe64(start, step *[2]uint64, i int, m uint64) (uint64, int, bool) {
	return (start[0]%m + uint64(i)*(step[0]%m)) % m, 0, false
}

// unevenBits is the number of bits from which the rates account for the uneven positions of Sum32.
const unevenBits = 1 << 20

// isUneven reports whether the rates of a filter in which probes reach m bits account for uneven positions.
func isUneven(m uint64, s Sums) bool { return s == Sum32 && m >= unevenBits }

// valueShares describes how Sum32 maps the 2^31 values of a probe to m positions: each position is the image of values
// of them, and the first few positions are the image of one more.
func valueShares(m uint64) (few, values uint64) { return (1 << 31) % m, (1 << 31) / m }

// priorRate returns the predicted false-positive rate, in [0, 1], after n distinct keys.
func priorRate(m uint64, k int, s Sums, n uint64) float64 {
	rate := doubleHashing(m, k, s).FPR(n)
	if !isUneven(m, s) {
		return rate
	}
	few, values := valueShares(m)
	// part returns the share of the probes of an absent key that hit a set bit at one of these positions.
	part := func(positions, values uint64) float64 {
		p := float64(values) / (1 << 31)
		return float64(float64(positions)*p) * -math.Expm1(-float64(n)*float64(k)*p)
	}
	return max(rate, math.Pow(part(few, values+1)+part(m-few, values), float64(k)))
}

// posteriorRate returns the false-positive rate, in [0, 1], of a filter whose probes reach the bits in words, of which
// ones are set.
func posteriorRate(words []uint64, ones uint64, k int, s Sums) float64 {
	m := 64 * uint64(len(words))
	rate := doubleHashing(m, k, s).Posterior(words, ones)
	if !isUneven(m, s) {
		return rate
	}
	few, values := valueShares(m)
	hits := values*ones + bitvec.OnesBelow(words, few) // at most 2^31
	return max(rate, math.Pow(float64(hits)/(1<<31), float64(k)))
}
