package container

import (
	"math/bits"
	"strconv"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// plain answers queries of a stored filter from its Spec and its raw words, as the pages of docs/format describe it. It
// is the reference of the test vectors. It reads one bit at a time, without tables and kernels, and calls no code of
// the families.
type plain struct {
	spec     filter.Spec
	keys     uint64
	sections [][]uint64
	family   plainFamily
}

// plainFamily is one family of plain.
type plainFamily struct {
	// positions returns the positions that a query of the key reads, as the page of the family describes them.
	positions func(p *plain, key []byte, h filter.Hash) []uint64
	// answer returns the answer that follows from the content of these positions.
	answer func(p *plain, at []uint64) answer
}

// answer is the answer of a filter for a key.
type answer struct {
	has              bool
	excepted         bool // the exceptions make the key absent
	counts           bool // the family counts
	count            uint64
	saturated        bool // count is a lower bound
	hasValue, values bool // the filter has values; there is one for the key
	value            uint64
}

var plainFamilies = map[string]plainFamily{
	"standard":         {standardBits, allBits},
	"blocked":          {blockedBits, allBits},
	"fuse":             {fuseSlots, fuseAnswer},
	"partitioned":      {partitionedBits, allBits},
	"blockpartitioned": {blockpartitionedBits, allBits},
	"twochoice":        {twochoiceBits, twochoiceAnswer},
	"rankindexed":      {rankindexedPlace, rankindexedAnswer},
	"counting":         {standardBits, countingAnswer},
	"guava":            {guavaBits, allBits},
	"bitsandblooms":    {bitsandbloomsBits, allBits},
	"redisbloom":       {redisbloomBits, redisbloomAnswer},
	"spark":            {sparkBits, allBits},
	"dcso":             {dcsoBits, allBits},
	"ribbon":           {ribbonResult, ribbonAnswer},
}

func newPlain(t testing.TB, e family.Encoded) *plain {
	family, ok := plainFamilies[e.Spec.Family()]
	if !ok {
		t.Fatalf("no reference for family %s", e.Spec.Family())
	}
	return &plain{e.Spec, e.Keys, e.Sections, family}
}

// text returns a parameter of the Spec, or "".
func (p *plain) text(name string) string {
	r := family.Reader(p.spec)
	return r.Text(name, "")
}

// number returns a parameter of the Spec, or 0 if there is none.
func (p *plain) number(name string) uint64 {
	if p.text(name) == "" {
		return 0
	}
	n, err := strconv.ParseUint(p.text(name), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// bit returns bit i of a section: bit i mod 64 of word ⌊i/64⌋.
func (p *plain) bit(section int, i uint64) uint64 { return p.sections[section][i/64] >> (i % 64) & 1 }

// field returns width bits of a section from bit at on, the lowest one first.
func (p *plain) field(section int, at, width uint64) (v uint64) {
	for i := range width {
		v |= p.bit(section, at+i) << i
	}
	return v
}

// share returns ⌊x·n / 2^64⌋ and x·n mod 2^64.
func share(x, n uint64) (whole, rest uint64) { return bits.Mul64(x, n) }

// part returns ⌊x·n / 2^64⌋.
func part(x, n uint64) uint64 {
	whole, _ := share(x, n)
	return whole
}

// foldProduct returns the exclusive or of the two halves of the product.
func foldProduct(x, y uint64) uint64 {
	high, low := bits.Mul64(x, y)
	return high ^ low
}

// remix is Remix of docs/format.md.
func remix(x, round uint64) uint64 {
	return foldProduct(foldProduct(x+round*0x9E3779B97F4A7C15, 0x6A09E667F3BCC909), 0x9E3779B97F4A7C15)
}

// allBits is the answer of families in which a key is present if all its bits of the first section are set.
func allBits(p *plain, at []uint64) answer {
	for _, i := range at {
		if p.bit(0, i) == 0 {
			return answer{}
		}
	}
	return answer{has: true}
}
