package ribbon

import (
	"fmt"
	"math"
	"sort"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// defaultR is the default number of bits of a fingerprint.
const defaultR = 8

// Config contains the parameters of a filter. A zero field means the default noted beside the field.
type Config struct {
	Keys uint64        // expected number of keys, to reserve memory; 0 if unknown
	Size family.Sizing // chooses R and the share of blocks with one bit more
	R    uint          // bits of a fingerprint, 1 to MaxBits, instead of Size; default: defaultR
	// Wide is the share of blocks with fingerprints of R+1 bits, in units of 1/1024, 0 to 1023. R must then be below
	// MaxBits.
	Wide      uint
	ValueBits uint // bits of a value, 0 to MaxBits; 0 for a filter without values
	// Static makes a static function: values without fingerprints. It needs ValueBits, and neither Size nor R.
	Static bool
	// Seed selects a variant of the layers, 0 to 65535, in which the keys have other positions.
	Seed uint
	// W is the width of the coefficients in large layers, 64 or 128. With 128 the filter is smaller, and slower to
	// query and to build. Default: 64; 128 for an FPR above 1/16 or fewer than 4 BitsPerKey, where the thresholds are a
	// large part of the size.
	W uint
}

// ConfigFromSpec reads ribbon(bits_per_key=, fpr=, bytes=, r=, seed=, value_bits=, w=, wide=). It accepts and ignores
// the other parameters of the Spec of a built filter.
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := family.Reader(s)
	small := func(name string) uint { return uint(min(r.Uint(name), math.MaxUint32)) }
	c := Config{
		Keys: keys, Size: family.ReadSizing(r), R: small("r"), ValueBits: small("value_bits"), W: small("w"),
		Wide: small("wide"), Seed: small("seed"),
	}

	r.Uint("tail")
	r.Uint("tail_seed")
	r.Text("starts", "")
	if err := r.Err(); err != nil {
		return Config{}, err
	}

	c.Static = c.R == 0 && family.Given(s, "r")
	if family.Given(s, "w") && c.W == 0 {
		return Config{}, family.Invalid("w", c.W, "want 64 or 128")
	}
	return c, c.Check()
}

// Check returns an error wrapping filter.ErrConfig if the Config is invalid for every number of keys.
func (c Config) Check() error {
	if err := c.Size.Check(); err != nil {
		return err
	}

	switch {
	case c.R > MaxBits:
		return family.Invalid("r", c.R, "want 1 to %d, or 0 with value_bits", MaxBits)
	case c.ValueBits > MaxBits:
		return family.Invalid("value_bits", c.ValueBits, "want 0 to %d", MaxBits)
	case c.Size.FPR != 0 && c.Size.FPR < math.Ldexp(1, -MaxBits):
		return family.Invalid("fpr", c.Size.FPR, "the lowest rate of ribbon is %.2g; take family standard",
			math.Ldexp(1, -MaxBits))
	case c.W != 0 && c.W != 64 && c.W != 128:
		return family.Invalid("w", c.W, "want 64 or 128")
	case c.Seed > maxSeed:
		return family.Invalid("seed", c.Seed, "want 0 to %d", maxSeed)
	case c.Static && c.ValueBits == 0:
		return family.Invalid("r", 0, "without a fingerprint a filter needs value_bits")
	case c.Static && c.R != 0:
		return family.Invalid("r", c.R, "a static function has no fingerprint")
	case (c.R != 0 || c.Static) && !c.Size.IsZero():
		return family.Invalid("r", c.R, "give r or one of bits_per_key, fpr and bytes")
	case c.Wide >= wideUnit:
		return family.Invalid("wide", c.Wide, "want less than %d", wideUnit)
	case c.Wide != 0 && !c.Size.IsZero():
		return family.Invalid("wide", c.Wide, "it follows from bits_per_key, fpr or bytes; leave it out")
	case c.Wide != 0 && c.R == MaxBits:
		return family.Invalid("wide", c.Wide, "want none with r=%d", MaxBits)
	}
	return nil
}

// highRate is the rate above which filters with a size have a width of 128 by default: with few bits per key, the bits
// of the thresholds matter.
const highRate = 1. / 16

// coefficientWidth returns W or its default.
func (c Config) coefficientWidth() uint {
	switch {
	case c.W != 0:
		return c.W
	case c.Size.FPR > highRate, c.Size.BitsPerKey > 0 && c.Size.BitsPerKey < -math.Log2(highRate):
		return 128
	}
	return 64
}

// Geometry returns the bits of a fingerprint, and the share of blocks with one bit more in units of 1/1024, for n
// distinct keys. With BitsPerKey or Bytes these are the largest values with which the expected number of slots fits the
// size; with FPR they are the smallest values that keep the rate. Errors wrap filter.ErrConfig if the size is too
// small, or filter.ErrTooLarge.
func (c Config) Geometry(n uint64) (r, wide uint, err error) {
	if err := c.Check(); err != nil {
		return 0, 0, err
	}

	switch {
	case c.R != 0 || c.Static:
		return c.R, c.Wide, nil
	case c.Size.IsZero():
		return defaultR, c.Wide, nil
	case n > maxStarts:
		return 0, 0, fmt.Errorf("%d keys: %w", n, filter.ErrTooLarge)
	case c.Size.FPR != 0:
		return c.forRate(n)
	}
	return c.forSize(n)
}

// forRate returns the smallest geometry that keeps the rate of Size.
func (c Config) forRate(n uint64) (r, wide uint, err error) {
	rate := c.Size.FPR
	for r = 1; math.Ldexp(1, -int(r+1)) >= rate; {
		r++
	}

	if math.Ldexp(1, -int(r)) <= rate && r <= MaxBits {
		return r, 0, nil
	}

	if n <= maxTail { // without layers, a single wide block would make all fingerprints longer
		return r + 1, 0, nil
	}

	// The rate falls as the share of wide blocks rises. Add 1/1024 to the expected share to allow for chance.
	share := 2 * (1 - rate*math.Ldexp(1, int(r)))
	for wide = min(uint(share*wideUnit)+1, wideUnit); wide < wideUnit; wide++ {
		if c.predict(n, r, wide).expectedRate() <= rate {
			break
		}
	}

	if wide++; wide >= wideUnit {
		return r + 1, 0, nil
	}
	return r, wide, nil
}

// forSize returns the largest geometry within the size.
func (c Config) forSize(keys uint64) (r, wide uint, err error) {
	n := max(keys, 1)
	total, err := c.Size.Bits(n)
	if err != nil {
		return 0, 0, err
	}

	p := c.predict(n, 0, 0)
	slots, classes := float64(p.allSlots()), 2*float64(p.bucketCount())
	columns := (float64(total)-classes)/slots - float64(c.ValueBits)
	least := float64(p.leastPrintUnits()) / wideUnit
	if columns < least {
		needs := math.Ceil((least+float64(c.ValueBits))*slots + classes)
		return 0, 0, c.Size.Invalid("ribbon needs %.0f bits or more for %d keys", needs, n)
	}

	if columns >= MaxBits {
		most := uint64(float64(MaxBits+c.ValueBits)*slots + classes)
		return MaxBits, 0, c.Size.AtMost(most, keys, Family)
	}

	r = uint(columns)
	if n <= maxTail {
		return r, 0, nil
	}
	return r, uint((columns - float64(r)) * wideUnit), nil
}

// leastPrintUnits returns the smallest mean length of fingerprints in units of 1/1024 bit. This is one bit, or 0 if the
// filter has values.
func (g *geometry) leastPrintUnits() int {
	if g.valueBits > 0 {
		return 0
	}
	return wideUnit
}

// printUnits returns the mean length of fingerprints in units of 1/1024 bit. Geometries are ordered by it.
func (g *geometry) printUnits() int { return int(g.r)*wideUnit + int(g.wide) }

// withPrintUnits returns the geometry with the same layers and another mean length of fingerprints, in units of 1/1024
// bit.
func (g *geometry) withPrintUnits(bits int) geometry {
	o := *g
	o.r, o.wide, o.layers = uint(bits/wideUnit), uint64(bits%wideUnit), nil
	for i := range g.layers {
		o.addLayer(g.layers[i].starts)
	}
	return o
}

// largestWithin returns the geometry with the longest fingerprints, at most as long as the fingerprints of g, whose
// size is at most total bits; if even the shortest are too long, it returns these. It is needed because forSize ignores
// that the number of wide blocks is rounded up and that a filter with wide blocks has a wide tail: some hundred bits.
func (g *geometry) largestWithin(total uint64) geometry {
	have := g.printUnits()
	fits := func(fewer int) bool {
		smaller := g.withPrintUnits(have - fewer)
		return smaller.totalBits() <= total
	}
	return g.withPrintUnits(have - sort.Search(have-g.leastPrintUnits(), fits))
}

// Forecast returns the expected size in bits of the filter that the Config makes for its Keys, and the predicted
// false-positive rate in [0, 1] after keys distinct keys were added. It allocates no filter. It returns the errors of
// Geometry.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	if keys > maxStarts {
		return 0, 0, fmt.Errorf("%d keys: %w", keys, filter.ErrTooLarge)
	}

	r, wide, err := c.Geometry(keys)
	if err != nil {
		return 0, 0, err
	}

	p := c.predict(keys, r, wide)
	if total, err := c.Size.Bits(max(keys, 1)); err == nil && total > 0 {
		p.geometry = p.largestWithin(total) // a build corrects a geometry that is too large in the same way
	}

	if c.Static {
		return p.totalBits(), 1, nil
	}
	return p.totalBits(), p.expectedRate(), nil
}

// correctGeometry reports whether a filter keeps the rate or the size of the Config. If not, it returns the geometry to
// try next: the geometry that would keep them if the layers and the classes stayed the same.
func (c Config) correctGeometry(f *Filter) (next geometry, kept bool) {
	if c.Size.FPR != 0 {
		if f.posteriorRate() <= c.Size.FPR {
			return f.geometry, true
		}
		have := f.printUnits()
		more := sort.Search(2*wideUnit, func(i int) bool {
			o := Filter{geometry: f.withPrintUnits(have + 1 + i), classes: f.classes, keys: f.keys}
			return o.posteriorRate() <= c.Size.FPR
		})
		return f.withPrintUnits(min(have+1+more, MaxBits*wideUnit)), false
	}

	total, err := c.Size.Bits(f.keys)
	if err != nil || total == 0 || f.totalBits() <= total {
		return f.geometry, true
	}
	return f.largestWithin(total), f.printUnits() == f.leastPrintUnits() // the smallest geometry stays, even if too large
}

// The overload of a layer: the number of keys in 1024 for which it has no slot.
const (
	fastOverload = 62 // width 64
	wideOverload = 38 // width 128
)

// startsFor returns the number of starts of a layer for n keys, more than maxTail.
func startsFor(w uint, n uint64) uint64 {
	overload := uint64(fastOverload)
	if w == 128 && n >= smallLayer {
		overload = wideOverload
	}

	slots := (n - n/1024*overload - n%1024*overload/1024) / 64 * 64
	segments := (slots + segmentStart - 1) >> segmentBits
	starts := slots - 64*segments
	if profileOf(w, starts).width == 64 {
		return starts
	}

	// A number of slots may have starts for both profiles, or for neither.
	return max(slots-128*segments, smallLayer)
}

// prediction is the expected geometry of a filter.
type prediction struct {
	geometry
	bumped []float64 // the share of its keys that a layer bumps
}

// predict returns the expected geometry for n keys, at most maxStarts, with fingerprints of r bits in most blocks and a
// share of wide ones.
func (c Config) predict(n uint64, r, wide uint) prediction {
	return predict(geometry{w: c.coefficientWidth(), r: r, wide: uint64(wide), valueBits: c.ValueBits}, n)
}

// predict adds the expected layers and tail for n keys, at most maxStarts, to a geometry without them.
func predict(g geometry, n uint64) prediction {
	p := prediction{geometry: g}
	left := n
	for left > maxTail && len(p.layers) < maxLayers {
		l := p.addLayer(startsFor(g.w, left))
		slots := l.blocks * 64
		next := left - slots + slots/l.empty
		p.bumped = append(p.bumped, float64(next)/float64(left))
		left = next
	}
	p.slots = left
	return p
}

// expectedRate returns the expected false-positive rate.
func (p prediction) expectedRate() float64 {
	wide, reach := 0.0, 1.0
	for i, bumped := range p.bumped {
		l := &p.layers[i]
		wide += reach * (1 - bumped) * float64(l.wideStarts()) / float64(l.starts)
		reach *= bumped
	}
	if p.wide > 0 {
		wide += reach
	}
	return math.Ldexp(1-wide/2, -int(p.r))
}
