package ribbon

import (
	"encoding/binary"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// MaxLayers is the largest number of layers of a filter.
const MaxLayers = maxLayers

// View is the geometry of a stored filter without values. It answers queries from the bytes of the filter's sections,
// little endian as in files, without a copy or an allocation. The bytes may lie at any address. Filter is faster on
// words.
//
// The methods need a View for which Valid is true; others may panic. A View is safe for concurrent use.
type View struct {
	R, W           uint   // bits of a fingerprint, width of the coefficients
	Wide           uint64 // share of the blocks with one bit more, in units of 1/1024
	Seed, TailSeed uint64
	Tail           uint64 // slots of the tail
	Layers         int
	Starts         [MaxLayers]uint64 // starts of each layer
}

// ViewOf returns the View of a built filter with this Spec, which must have keys. The error wraps filter.ErrConfig for
// a filter with values or without keys; other errors are the errors of SectionWords.
func ViewOf(s filter.Spec) (View, error) {
	g, err := readGeometry(s)
	if err != nil {
		return View{}, err
	}

	v := View{
		R: g.r, W: g.w, Wide: g.wide, Seed: g.seed, TailSeed: g.tailSeed, Tail: g.slots, Layers: len(g.layers),
	}

	for i := range g.layers {
		v.Starts[i] = g.layers[i].starts
	}

	if g.valueBits > 0 || !v.Valid() {
		return View{}, family.Invalid("spec", s, "want a filter with keys and without values")
	}
	return v, nil
}

// Valid reports whether a filter without values may have this geometry.
func (v *View) Valid() bool {
	if v.R < 1 || v.R > MaxBits || v.W != 64 && v.W != 128 || v.Wide >= wideUnit || v.R == MaxBits && v.Wide > 0 ||
		v.Seed > maxSeed || v.TailSeed > maxSeed || v.Tail > maxTail || v.Layers < 0 || v.Layers > maxLayers ||
		v.Tail == 0 && (v.TailSeed > 0 || v.Layers == 0) || v.Layers == 0 && v.Seed > 0 {
		return false
	}
	for _, t := range v.Starts[:v.Layers] {
		if t == 0 || t%64 != 0 || t > maxStarts {
			return false
		}
	}
	return true
}

// geometry returns the geometry without layers.
func (v *View) geometry() geometry {
	return geometry{r: v.R, w: v.W, wide: v.Wide, seed: v.Seed, slots: v.Tail, tailSeed: v.TailSeed}
}

// Bytes returns the number of bytes of the three sections. Has reads up to 8 bytes more of the last one.
func (v *View) Bytes() (solution, classes, tail uint64) {
	g := v.geometry()
	var words, buckets uint64
	for i, t := range v.Starts[:v.Layers] {
		l := g.layerAt(i, t, words, buckets)
		words, buckets = words+l.wordCount(), buckets+l.bucketCount()
	}
	return 8 * words, (2*buckets + 7) / 8, (g.tailBits() + 7) / 8
}

// Has reports whether the key may be in the set. It panics if a section has fewer bytes than Bytes returns, or the last
// one fewer than 8 more.
func (v *View) Has(solution, classes, tail []byte, h filter.Hash) bool {
	g, k := v.geometry(), keyOf(h, 0)
	var words, buckets uint64
	for i, t := range v.Starts[:v.Layers] {
		l := g.layerAt(i, t, words, buckets)
		start := l.startOf(h.Hi)
		bucket := l.bucket + start>>l.shift
		class := classes[bucket/4] >> (bucket % 4 * 2) & 3
		if start&(1<<l.shift-1) >= l.limits[class] {
			return l.matches(solution, start, k, v.R)
		}
		words, buckets = words+l.wordCount(), buckets+l.bucketCount()
	}

	print := k.fingerprint()
	for c := range uint64(g.tailColumns()) {
		sum := uint64(0)
		for at := uint64(0); at < v.Tail; at += 32 {
			field := c*v.Tail + at
			slots := binary.LittleEndian.Uint64(tail[field/8:]) >> (field % 8) & (1<<min(v.Tail-at, 32) - 1)
			sum ^= slots & (k.tailWord(v.TailSeed, at/64) >> (at % 64))
		}
		if uint64(bits.OnesCount64(sum))&1 != print>>c&1 {
			return false
		}
	}
	return true
}

// matches is Has for a key that the layer has not bumped; start is the start of the key.
func (l *layer) matches(solution []byte, start uint64, k key, r uint) bool {
	slot := l.slotOf(start)
	columns := uint64(r)
	if l.isWide(slot) {
		columns++
	}

	c, d := l.coefficients(k)
	block, q := slot/64, slot%64
	c, d, e := c<<q, d<<q|c>>(64-q), d>>(64-q) // in Go a shift by 64 gives 0
	first, second := solution[8*l.firstWord(block):], solution[8*l.firstWord(block+1):]
	third := second
	if l.width == 128 {
		third = solution[8*l.firstWord(block+2):]
	}

	first, second, third = first[:8*columns], second[:8*columns], third[:8*columns]
	result := uint64(0)
	for i := range columns {
		w := c&binary.LittleEndian.Uint64(first[8*i:]) ^ d&binary.LittleEndian.Uint64(second[8*i:]) ^
			e&binary.LittleEndian.Uint64(third[8*i:])
		result |= uint64(bits.OnesCount64(w)&1) << i
	}
	return (result^k.fingerprint())&(1<<columns-1) == 0
}
