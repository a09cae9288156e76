// Package ribbon implements the bumped ribbon retrieval filter (Dillinger, Hübschle-Schneider, Sanders and Walzer,
// "Fast Succinct Retrieval and Approximate Membership using Ribbon", SEA 2022). It is static. A key's fingerprint of r
// bits, together with its value if the filter has values, is the XOR of some of the slots. A filter of many keys takes
// 1.003·r bits per key. The false-positive rate is 2^-r.
//
// The slots of a key are within 64 or 128 slots from a start, chosen by random coefficients of 64 or 128 bits. The
// linear system of all keys is solved by elimination, in order of the starts, so that only nearby rows meet. It has
// fewer slots than keys. If the equation of a key contradicts earlier ones, the key is bumped to the next layer,
// together with all keys of its bucket whose offset in the bucket is below a threshold. Two bits per bucket select the
// threshold:
//
//	layer 0    ┌──bucket──┬──bucket──┬──bucket──┬─ ... ─┐  6% of the keys are bumped, 4% with w=128
//	           │▒▒        │          │▒▒▒▒▒     │       │  ▒ offsets below the threshold of the bucket
//	           └──────────┴──────────┴──────────┴─ ... ─┘
//	layer 1    ┌──bucket──┬─ ...┐                         6% of those
//	...
//	tail       ┌─────┐                                    at most 256 keys, coefficients for all slots
//
// docs/format/ribbon.md has the formulas and the layout. We differ from the paper in the tail, in layers of another
// shape for few keys, and in segments of 2^18 starts, which are solved in parallel.
package ribbon

import (
	"math"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/kernel"
)

// Filter is a bumped ribbon filter. It does not change, so all methods are safe from any number of goroutines.
type Filter struct {
	geometry
	words   []uint64 // section 0: the solution of the layers, see layer.begin
	classes []uint64 // section 1: two bits per bucket
	tail    []uint64 // section 2: columns of geometry.slots bits
	keys    uint64
	kernels []kernel.Ribbon // kernels of the layers, for the fingerprints
	whole   []kernel.Ribbon // of the layers, for values and fingerprints
}

// Get returns the value of the key with hash h, below 2^value_bits, and whether the key may be in the set. A key
// that is not in the set has an arbitrary value. Without value_bits the value is 0.
func (f *Filter) Get(h filter.Hash) (value uint64, ok bool) {
	result, columns := f.whole[0].Get(h.Hi, h.Lo)
	if columns == kernel.RibbonBumped {
		if f.keys == 0 {
			return 0, f.r == 0
		}
		result, columns = f.laterColumns(h, 1)
	}
	value, prints := result&(1<<f.valueBits-1), columns-uint64(f.valueBits)
	return value, prints == 0 || (result>>f.valueBits^keyOf(h, f.valueBits).fingerprint())&(1<<prints-1) == 0
}

// ValueBits returns the number of bits of a value, 0 if the filter has none.
func (f *Filter) ValueBits() int { return int(f.valueBits) }

// laterColumns returns the bits of the columns of a key that the layers before layer have bumped, the first one lowest,
// and the number of these columns.
func (f *Filter) laterColumns(h filter.Hash, layer int) (result, columns uint64) {
	for i := layer; i < len(f.whole); i++ {
		if result, columns = f.whole[i].Get(h.Hi, h.Lo); columns != kernel.RibbonBumped {
			return result, columns
		}
	}
	k := keyOf(h, f.valueBits)
	result, columns = 0, uint64(f.tailColumns())
	for c := range columns {
		result |= f.tailResult(k, c) << c
	}
	return result, columns
}

// classOf returns the class of a bucket.
func (f *Filter) classOf(bucket uint64) uint64 { return f.classes[bucket/32] >> (bucket % 32 * 2) & 3 }

// tailResult returns a column of a key in the tail.
func (f *Filter) tailResult(k key, column uint64) uint64 {
	var sum uint64
	for at := uint64(0); at < f.slots; at += 32 {
		n := min(f.slots-at, 32)
		sum ^= bitvec.Field(f.tail, column*f.slots+at, uint(n)) & (k.tailWord(f.tailSeed, at/64) >> (at % 64))
	}
	return uint64(bits.OnesCount64(sum)) & 1
}

// Info describes the filter. Fill is keys over slots. FPRPosterior is computed from the classes.
func (f *Filter) Info() filter.Info {
	sizes := geometry{w: f.w, r: f.r, wide: f.wide, valueBits: f.valueBits}
	info := filter.Info{Spec: f.builtSpec(), Keys: f.keys, Bits: f.totalBits(), FPRPosterior: f.posteriorRate()}
	info.FPRPrior = predict(sizes, min(f.keys, maxStarts)).expectedRate() // a file may state any number of keys
	if f.keys == 0 && f.r > 0 {
		info.FPRPrior = 0
	}
	if slots := f.allSlots(); slots > 0 {
		info.Fill = float64(f.keys) / float64(slots)
	}
	return info
}

// posteriorRate returns the false-positive rate of random keys.
func (f *Filter) posteriorRate() float64 {
	if f.keys == 0 && f.r > 0 {
		return 0
	}

	low, rate, reach := math.Ldexp(1, -int(f.r)), 0.0, 1.0 // reach: the share of keys that reach a layer
	for i := range f.layers {
		l := &f.layers[i]
		narrow, wide := f.answeredStarts(l)
		starts := float64(l.starts)
		rate += reach * low * (float64(narrow) + float64(wide)/2) / starts
		reach *= float64(l.starts-narrow-wide) / starts
	}
	return rate + reach*math.Ldexp(1, int(f.valueBits)-int(f.tailColumns()))
}

// answeredStarts returns the number of starts of a layer that are not bumped, without and with the additional column.
func (f *Filter) answeredStarts(l *layer) (narrow, wide uint64) {
	end := l.wideStarts()
	for b := range l.bucketCount() {
		from := b<<l.shift + l.limits[f.classOf(l.bucket+b)]
		to := min((b+1)<<l.shift, l.starts)
		w := max(min(to, end), from) - from
		wide += min(w, max(to, from)-from)
		narrow += max(to, from, end) - max(from, end)
	}
	return narrow, wide
}

// makeKernels makes the kernels, one for each layer, which keep the words of the filter. Decode and Build call it last.
func (f *Filter) makeKernels() {
	if len(f.layers) == 0 { // a kernel that bumps every key, so that the tail answers
		f.kernels = []kernel.Ribbon{{Classes: []uint64{3}, Limits: [4]uint64{3: 1}, Rest: f.hasTail}}
		f.whole = f.kernels
		return
	}

	f.kernels = f.columnKernels(uint64(f.valueBits), uint64(f.r))
	for i := range f.kernels {
		f.kernels[i].Rest = f.hasTail
		if i > 0 {
			f.kernels[i-1].Next = &f.kernels[i]
		}
	}

	f.whole = f.kernels
	if f.valueBits > 0 {
		f.whole = f.columnKernels(0, uint64(f.valueBits+f.r))
	}
}

// columnKernels returns kernels for count columns from first on, followed by the column of wide blocks.
func (f *Filter) columnKernels(first, count uint64) []kernel.Ribbon {
	kernels := make([]kernel.Ribbon, len(f.layers))
	low := ^uint64(0)
	if f.valueBits > 0 { // the builder stores the value of a key in these bits of its hash; see keyOf
		low = ^uint64(hashes.ValueMask)
	}

	for i := range f.layers {
		l := &f.layers[i]
		kernels[i] = kernel.Ribbon{
			Words: f.words[l.word+first:], Classes: f.classes, Bucket: l.bucket,
			Low: low, Turn: uint64(l.turn), Factor: l.factor, Starts: l.starts,
			Shift: uint64(l.shift), Within: 1<<l.shift - 1, Limits: l.limits,
			Columns: l.columns, Wide: l.wide, Prints: count,
			C: firstFactor, D: secondFactor, F: printFactor, Width: l.width,
		}
		kernels[i].Ready()
	}
	return kernels
}

// Has reports whether the key may be in the set. Without fingerprints it is always true.
func (f *Filter) Has(h filter.Hash) bool { return f.kernels[0].Has(h.Hi, h.Lo) }

// Probe is kernel.Prober.
func (f *Filter) Probe() kernel.Probe { return f.kernels[0].Probe() }

// batch is the largest number of keys that are queried together.
const batch = 256

// inCache is the largest number of words (2 MiB) of a filter that stays in the caches, so that prefetching gains
// nothing.
const inCache = 1 << 18

// HasMany sets dst[i] to Has(hs[i]). In filters larger than the caches it prefetches the blocks of later keys. It
// panics if dst and hs differ in length.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) { f.hasMany(dst, hs, len(f.words) > inCache) }

// HasManyCold is HasMany with prefetching in a filter of any size.
func (f *Filter) HasManyCold(dst []bool, hs []filter.Hash) { f.hasMany(dst, hs, true) }

func (f *Filter) hasMany(dst []bool, hs []filter.Hash, cold bool) {
	family.CheckBatch(dst, hs)
	first := &f.kernels[0]
	var list [batch]uint16
	for len(hs) > 0 {
		n := min(len(hs), batch)
		for _, i := range first.HasMany(dst[:n], hs[:n], list[:], cold) {
			dst[i] = first.HasFurther(hs[i].Hi, hs[i].Lo)
		}
		dst, hs = dst[n:], hs[n:]
	}
}

// Prefetch prefetches the blocks of the keys in the first layer.
func (f *Filter) Prefetch(hs []filter.Hash) { f.kernels[0].Prefetch(hs) }

// hasTail is Has for a key that all layers have bumped.
func (f *Filter) hasTail(hi, lo uint64) bool {
	if f.keys == 0 { // an empty tail gives 0, which is the fingerprint of some keys
		return f.r == 0
	}

	k := keyOf(filter.Hash{Hi: hi, Lo: lo}, f.valueBits)
	print := k.fingerprint()
	for c := f.valueBits; c < f.tailColumns(); c++ { // two columns reject most absent keys
		if f.tailResult(k, uint64(c)) != print&1 {
			return false
		}
		print >>= 1
	}
	return true
}

// Layers returns the number of keys that each layer answers; the last element is the number that the tail answers.
func (f *Filter) Layers(hs []filter.Hash) []uint64 {
	counts := make([]uint64, len(f.layers)+1)
	for _, h := range hs {
		at := 0
		for bumped := true; bumped && at < len(f.layers); {
			_, columns := f.whole[at].Get(h.Hi, h.Lo)
			if bumped = columns == kernel.RibbonBumped; bumped {
				at++
			}
		}
		counts[at]++
	}
	return counts
}

// Family is the name in a Spec: ribbon(r=8,starts=944896-51968-2752,tail=96,tail_seed=3,w=64).
const Family = "ribbon"

// wholeFile is the warning of all forms.
const wholeFile = "a change of one key changes the whole file, so updates by diff and publish are as large as it"

// Traits describes the abilities and the hash functions of the family. Package families lists the Traits of all
// families.
var Traits = family.Traits{
	Name: Family,
	Can:  family.CanSpill | family.CanCountItself | family.CanBuildValues,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary:   "static, smallest: 0.3% over the bound at a rate of 0.1%, 1.5% at 1%",
		FileBytes: 230,
		Default:   "8 bits per fingerprint: about 8.03 bits per key", Sizes: []string{"r"},
		Parameters: []family.Parameter{
			{Name: "r", Value: "1..32", Help: "bits per fingerprint, instead of a size; 0: values only"},
			{Name: "w", Value: "64|128", Help: "128: smaller and slower, the default for rates above 1/16"},
			{Name: "value_bits", Value: "1..32", Help: "bits of a value that is stored with each key"},
			{Name: "wide", Value: "1..1023", Help: "share of the blocks, of 1024, with fingerprints of r+1 bits"},
		},
		// No form has values, because the planner only chooses filters whose values change.
		Forms: []family.Form{
			{
				Spec: family.NewSpec(Family), Can: family.CanSpill, Default: 1,
				Reason:  "static, {size}",
				Warning: wholeFile,
			},
			{
				Spec: family.NewSpec(Family, "w", 128), Can: family.CanSpill,
				Reason:  "static, {size}; slower queries and builds",
				Warning: wholeFile,
			},
		},
	}
}
