package blocked

import (
	"math"
	"math/bits"
)

// EstimateKeys estimates the number of distinct keys from the set bits of every block, which reads the whole filter. A
// block of B bits, each of which a key leaves unset with probability q, has B·q^j unset bits on average with j keys, so
// X set bits stand for j = ln(1-X/B) / ln q keys; q is (1-1/512)^k in the line layout and 31/32 in the split one. The
// result is the sum over the blocks. A full block counts as if half a bit were unset: it stands for that many keys or
// more. If every bit of the filter is set, the result is +Inf.
//
// This is Swamidass and Baldi (2007) block by block. Since the formula is convex, each block is overestimated slightly,
// by less than 0.1% at the sizes that New chooses.
func (f *Filter) EstimateKeys() float64 {
	size := f.blockWords()
	total := float64(f.layout().BlockBits())
	unset := float64(f.k) * math.Log1p(-1./lineBits) // ln q
	if f.split {
		unset = math.Log1p(-1. / 32)
	}
	var sum float64
	full := true
	for i := 0; i < len(f.words); i += size {
		ones := 0
		for _, w := range f.words[i : i+size] {
			ones += bits.OnesCount64(w)
		}
		free := total - float64(ones)
		full = full && free == 0
		sum += math.Log(max(free, 0.5)/total) / unset
	}
	if full {
		return math.Inf(1)
	}
	return sum
}
