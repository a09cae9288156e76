package ribbon

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/kernel"
)

// prepare makes the kernels, one for each layer, which keep the words of the filter. Decode and Build call it last.
func (f *Filter) prepare() {
	if len(f.layers) == 0 { // a kernel to which no key belongs
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

// columnKernels returns kernels for count columns from first on, and the one of wide blocks after these.
func (f *Filter) columnKernels(first, count uint64) []kernel.Ribbon {
	kernels := make([]kernel.Ribbon, len(f.layers))
	low := ^uint64(0)
	if f.valueBits > 0 {
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

// hasTail is Has for a key that all layers have bumped.
func (f *Filter) hasTail(hi, lo uint64) bool {
	if f.keys == 0 {
		return f.r == 0
	}
	k := keyOf(filter.Hash{Hi: hi, Lo: lo}, f.valueBits)
	print := k.print()
	for c := f.valueBits; c < f.tailColumns(); c++ { // two columns tell most absent keys
		if f.tailResult(k, uint64(c)) != print&1 {
			return false
		}
		print >>= 1
	}
	return true
}
