package ribbon

import "github.com/bloomery/bloomery/filter"

// Layers returns how many of the keys each layer answers and, as the last number, how many the tail answers. For the
// keys of the filter these are the numbers of keys that the layers and the tail hold.
func (f *Filter) Layers(hs []filter.Hash) []uint64 {
	counts := make([]uint64, len(f.layers)+1)
	for _, h := range hs {
		at := 0
		for hi := keyOf(h, f.valueBits).hi; at < len(f.layers); at++ {
			l := &f.layers[at]
			start := l.start(hi)
			if class := f.class(l.bucket + start>>l.shift); start&(1<<l.shift-1) >= l.limits[class] {
				break
			}
		}
		counts[at]++
	}
	return counts
}
