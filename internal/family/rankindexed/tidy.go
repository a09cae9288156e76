package rankindexed

import "github.com/bloomery/bloomery/internal/bitvec"

// tidy renumbers the extensions in the order of their buckets, so that the same keys make the same filter whatever
// their order. It returns the filter.
func (f *Filter) tidy() (*Filter, error) {
	for level := 1; level < levels; level++ {
		old := f.pools[level]
		words, err := bitvec.Alloc(uint64(len(old.words)))
		if err != nil {
			return nil, err
		}
		fresh := newPool(f.g, level, words)
		for b := range f.buckets {
			u := f.bucket(b)
			if u.n <= level {
				continue
			}
			record, _, err := fresh.take(false)
			if err != nil {
				return nil, err
			}
			from := old.words[u.parts[level].record*old.stride/64:][:old.stride/64]
			copy(words[record*fresh.stride/64:], from)
			to, at := u.pointerAt(level)
			bitvec.SetField(to, at, uint(f.g.pointer(level)), record+1)
		}
		f.pools[level] = fresh
	}
	return f, nil
}
