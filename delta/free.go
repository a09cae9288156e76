package delta

import "math/bits"

// freeNumbers is a set of numbers below a limit. It finds and removes numbers by their rank, in time logarithmic in the
// limit: a delta decides how many are removed.
type freeNumbers struct {
	left uint64
	// tree is a Fenwick tree: element i, from 1 on, counts the free numbers of the i & -i numbers that end at i-1.
	tree []uint64
}

// freeOf returns the numbers i for which kept[i] is false.
func freeOf(kept []bool) *freeNumbers {
	f := &freeNumbers{tree: make([]uint64, len(kept)+1)}
	for i := 1; i < len(f.tree); i++ {
		if !kept[i-1] {
			f.tree[i]++
			f.left++
		}
		if up := i + i&-i; up < len(f.tree) {
			f.tree[up] += f.tree[i]
		}
	}
	return f
}

// rank returns how many free numbers are below a number.
func (f *freeNumbers) rank(number uint64) (n uint64) {
	for i := number; i > 0; i &= i - 1 {
		n += f.tree[i]
	}
	return n
}

// at returns the free number of a rank, which must be below left.
func (f *freeNumbers) at(rank uint64) uint64 {
	at := uint64(0)
	for step := uint64(1) << bits.Len(uint(len(f.tree))); step > 0; step /= 2 {
		if next := at + step; next < uint64(len(f.tree)) && f.tree[next] <= rank {
			at = next
			rank -= f.tree[next]
		}
	}
	return at
}

// remove removes a number, which must be free.
func (f *freeNumbers) remove(number uint64) {
	f.left--
	for i := number + 1; i < uint64(len(f.tree)); i += i & -i {
		f.tree[i]--
	}
}
