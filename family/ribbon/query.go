package ribbon

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/kernel"
)

// prepare makes the kernels, one for each layer, which keep the words of the filter. Decode and Build call it last.
func (f *Filter) prepare() {
	f.kernels = make([]kernel.Ribbon, len(f.layers))
	low := ^uint64(0)
	if f.valueBits > 0 {
		low = ^uint64(valueMask)
	}
	for i := range f.layers {
		l := &f.layers[i]
		f.kernels[i] = kernel.Ribbon{
			Words: f.words[l.word+uint64(f.valueBits):], Classes: f.classes, Bucket: l.bucket,
			Low: low, Turn: uint64(l.turn), Factor: l.factor, Starts: l.starts,
			Shift: uint64(l.shift), Within: 1<<l.shift - 1, Limits: l.limits,
			Columns: l.columns, Wide: l.wide, Prints: uint64(f.r),
			C: firstFactor, D: secondFactor, F: printFactor, Width: l.width,
		}
		f.kernels[i].Ready()
	}
}

// Has reports whether the key may be in the set. Without fingerprints it is always true.
func (f *Filter) Has(h filter.Hash) bool {
	if len(f.kernels) > 0 {
		if answer := f.kernels[0].Has(h.Hi, h.Lo); answer != kernel.RibbonBumped {
			return answer == kernel.RibbonPresent
		}
	}
	return f.hasFrom(1, h)
}

// hasFrom is Has for a key that the layers before layer have bumped.
func (f *Filter) hasFrom(layer int, h filter.Hash) bool {
	for i := layer; i < len(f.kernels); i++ {
		if answer := f.kernels[i].Has(h.Hi, h.Lo); answer != kernel.RibbonBumped {
			return answer == kernel.RibbonPresent
		}
	}
	return f.hasTail(h)
}

// hasTail is Has for a key that all layers have bumped.
func (f *Filter) hasTail(h filter.Hash) bool {
	if f.keys == 0 {
		return f.r == 0
	}
	k := keyOf(h, f.valueBits)
	print := k.print()
	for c := f.valueBits; c < f.tailColumns(); c++ { // two columns tell most absent keys
		if f.tailResult(k, uint64(c)) != print&1 {
			return false
		}
		print >>= 1
	}
	return true
}
