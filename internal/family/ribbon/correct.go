package ribbon

import "sort"

// correct reports whether a filter keeps the rate or the size of the Config. If not, it returns the geometry to try
// next: the one that would keep it if the layers and the classes stayed as they are.
func (c Config) correct(f *Filter) (next geometry, kept bool) {
	// Geometries are ordered by the bits of their fingerprints, in units of a 1024th.
	have := int(f.r)*wideUnit + int(f.wide)
	if c.Size.FPR != 0 {
		if f.rate() <= c.Size.FPR {
			return f.geometry, true
		}
		more := sort.Search(2*wideUnit, func(i int) bool { return f.with(have+1+i).rate() <= c.Size.FPR })
		return f.with(min(have+1+more, MaxBits*wideUnit)).geometry, false
	}
	total, err := c.Size.Bits(f.keys)
	if err != nil || total == 0 || f.bits() <= total {
		return f.geometry, true
	}
	least := wideUnit
	if f.valueBits > 0 {
		least = 0
	}
	fewer := sort.Search(have-least, func(i int) bool { return f.with(have-1-i).bits() <= total })
	return f.with(max(have-1-fewer, least)).geometry, have == least
}

// with returns the filter with fingerprints of that many 1024ths of a bit, with the same classes and without a
// solution.
func (f *Filter) with(bits int) *Filter {
	o := &Filter{geometry: f.geometry, classes: f.classes, keys: f.keys}
	o.r, o.wide, o.layers = uint(bits/wideUnit), uint64(bits%wideUnit), nil
	for i := range f.layers {
		o.addLayer(f.layers[i].starts)
	}
	return o
}
