package ribbon

import (
	"math"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/kernel"
)

// Filter is a bumped ribbon filter. It does not change, so all methods are safe from any number of goroutines.
type Filter struct {
	geometry
	words   []uint64 // section 0: the solution of the layers, see layer.begin
	classes []uint64 // section 1: two bits a bucket
	tail    []uint64 // section 2: columns of geometry.slots bits
	keys    uint64
	kernels []kernel.Ribbon // of the layers
}

// Get returns the value of the key with hash h, below 2^value_bits, and whether the key may be in the set. A key
// that is not in the set has an arbitrary value. Without value_bits the value is 0.
func (f *Filter) Get(h filter.Hash) (value uint64, ok bool) {
	if f.keys == 0 {
		return 0, f.r == 0
	}
	k := keyOf(h, f.valueBits)
	result, columns := f.columns(k)
	want := k.print() & (1<<(columns-f.valueBits) - 1)
	return result & (1<<f.valueBits - 1), result>>f.valueBits == want
}

// ValueBits returns the number of bits of a value, 0 if the filter has none.
func (f *Filter) ValueBits() int { return int(f.valueBits) }

// columns returns the bits of a key's columns, the first one lowest, and how many columns the key has.
func (f *Filter) columns(k key) (result uint64, columns uint) {
	for i := range f.layers {
		l := &f.layers[i]
		start := l.start(k.hi)
		if class := f.class(l.bucket + start>>l.shift); start&(1<<l.shift-1) >= l.limits[class] {
			return l.result(f.words, l.slot(start), k)
		}
	}
	columns = f.tailColumns()
	for c := range columns {
		result |= f.tailResult(k, uint64(c)) << c
	}
	return result, columns
}

// class returns the class of a bucket.
func (f *Filter) class(bucket uint64) uint64 { return f.classes[bucket/32] >> (bucket % 32 * 2) & 3 }

// result returns the columns of a key at a slot.
func (l *layer) result(words []uint64, slot uint64, k key) (result uint64, columns uint) {
	columns = uint(l.columns)
	if l.isWide(slot) {
		columns++
	}
	c, d := l.coefficients(k)
	block, q := slot/64, slot%64
	// The coefficients as three words that begin with the block. In Go a shift by 64 gives 0.
	c, d, e := c<<q, d<<q|c>>(64-q), d>>(64-q)
	first, second := l.begin(block), l.begin(block+1)
	for i := range columns {
		w := c&words[first+uint64(i)] ^ d&words[second+uint64(i)]
		if l.width == 128 {
			w ^= e & words[l.begin(block+2)+uint64(i)]
		}
		result |= uint64(bits.OnesCount64(w)&1) << i
	}
	return result, columns
}

// tailResult returns a column of a key in the tail.
func (f *Filter) tailResult(k key, column uint64) uint64 {
	var sum uint64
	for at := uint64(0); at < f.slots; at += 32 {
		n := min(f.slots-at, 32)
		sum ^= bitvec.Field(f.tail, column*f.slots+at, uint(n)) & (k.tailWord(f.tailSeed, at/64) >> (at % 64))
	}
	return uint64(bits.OnesCount64(sum)) & 1
}

// Info describes the filter. Fill is keys over slots. FPRPosterior is the rate that follows from the classes.
func (f *Filter) Info() filter.Info {
	prior := predict(f.w, min(f.keys, maxStarts), f.r+f.valueBits, uint(f.wide)).rate(f.r)
	info := filter.Info{Spec: f.spec(), Keys: f.keys, Bits: f.bits(), FPRPrior: prior, FPRPosterior: f.rate()}
	if f.keys == 0 && f.r > 0 {
		info.FPRPrior = 0
	}
	if slots := f.allSlots(); slots > 0 {
		info.Fill = float64(f.keys) / float64(slots)
	}
	return info
}

// rate returns the false-positive rate of random keys.
func (f *Filter) rate() float64 {
	if f.keys == 0 && f.r > 0 {
		return 0
	}
	low, rate, reach := math.Ldexp(1, -int(f.r)), 0.0, 1.0 // reach: the share of keys that come to a layer
	for i := range f.layers {
		l := &f.layers[i]
		narrow, wide := f.answered(l)
		starts := float64(l.starts)
		rate += reach * low * (float64(narrow) + float64(wide)/2) / starts
		reach *= float64(l.starts-narrow-wide) / starts
	}
	return rate + reach*math.Ldexp(1, int(f.valueBits)-int(f.tailColumns()))
}

// answered returns how many starts of a layer are not bumped, without and with the additional column.
func (f *Filter) answered(l *layer) (narrow, wide uint64) {
	end := l.wideStarts()
	for b := range l.buckets() {
		from := b<<l.shift + l.limits[f.class(l.bucket+b)]
		to := min((b+1)<<l.shift, l.starts)
		w := max(min(to, end), from) - from
		wide += min(w, max(to, from)-from)
		narrow += max(to, from, end) - max(from, end)
	}
	return narrow, wide
}
