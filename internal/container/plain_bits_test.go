package container

import (
	"math/bits"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/sums"
)

// Families of bits and counters; see plain.

// walked returns k positions below m: the positions of x, of fold(x·by), and so on.
func walked(x, by, m, k uint64) (at []uint64) {
	for range k {
		at = append(at, part(x, m))
		x = foldProduct(x, by)
	}
	return at
}

func standardBits(p *plain, _ []byte, h filter.Hash) (at []uint64) {
	x := h.Lo
	for range p.number("k") {
		at = append(at, part(x, p.number("m")))
		x = bits.RotateLeft64(9*x, 25) + h.Hi
	}
	return at
}

// countingAnswer returns the smallest counter of the key. A counter that several probes hit is divided by their number.
// A counter of 15 is saturated and is ignored.
func countingAnswer(p *plain, at []uint64) answer {
	a := answer{has: true, counts: true, count: 15, saturated: true}
	for _, i := range at {
		counter, probes := p.field(0, 4*i, 4), uint64(0)
		for _, j := range at {
			if i == j {
				probes++
			}
		}
		if counter == 0 {
			a.has = false
		}
		if counter != 15 && (a.saturated || counter/probes < a.count) {
			a.count, a.saturated = counter/probes, false
		}
	}
	return a
}

// salts are the salts of Parquet.
var salts = [8]uint32{
	0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
}

func blockedBits(p *plain, _ []byte, h filter.Hash) (at []uint64) {
	block := part(h.Hi, p.number("blocks"))
	if p.text("layout") == "split" {
		for word, salt := range salts {
			at = append(at, 256*block+32*uint64(word)+uint64(uint32(h.Lo)*salt>>27))
		}
		return at
	}
	x := h.Lo
	for i := range p.number("k") {
		if i > 0 && i%7 == 0 {
			x = remix(h.Lo, i/7)
		}
		at = append(at, 512*block+64*(x>>61)+x%64)
		x = bits.RotateLeft64(x, 9)
	}
	return at
}

func partitionedBits(p *plain, _ []byte, h filter.Hash) (at []uint64) {
	size, groups, k, width := p.number("bits"), p.number("groups"), p.number("k"), p.number("width")
	shard, rest := share(h.Hi, p.number("shards"))
	group := shard*groups + part(rest, groups)
	for slot, u := range walked(h.Lo, h.Hi|1, size-(1<<width-1), k) {
		at = append(at, shard*size+u+p.field(1, (group*k+uint64(slot))*width, width))
	}
	return at
}

func blockpartitionedBits(p *plain, _ []byte, h filter.Hash) (at []uint64) {
	size, groups, k, width := p.number("block"), p.number("groups"), p.number("k"), p.number("width")
	block, rest := share(h.Hi, p.number("blocks"))
	group := part(rest, groups)
	payload := (size - groups*k*width) / 32 * 32
	start := block * size
	for slot := range k {
		x := h.Lo
		if slot >= 16 {
			x = remix(h.Lo, slot/16)
		}
		half := uint32(x)
		if slot/8%2 == 1 {
			half = uint32(x >> 32)
		}
		u := uint64(half*salts[slot%8]>>16) * payload >> 16
		shift := p.field(0, start+(group*k+slot)*width, width)
		at = append(at, start+size-payload+u/32*32+(u%32+shift)%32)
	}
	return at
}

// twochoiceBits returns the first bits of the windows.
func twochoiceBits(p *plain, _ []byte, h filter.Hash) (at []uint64) {
	m := p.number("bits")
	shard, by := share(h.Hi, p.number("shards"))
	x := h.Lo
	for range p.number("k") {
		at = append(at, shard*m+part(x, m-p.number("choices")+1))
		x = bits.RotateLeft64(9*x, 25) + by
	}
	return at
}

func twochoiceAnswer(p *plain, at []uint64) (a answer) {
	for s := range p.number("choices") {
		group := slices.Clone(at)
		for i := range group {
			group[i] += s
		}
		a.has = a.has || allBits(p, group).has
	}
	return a
}

func guavaBits(p *plain, _ []byte, h filter.Hash) (at []uint64) {
	m := 64 * p.number("words")
	for i := range p.number("k") {
		if p.text("strategy") == "64" {
			at = append(at, (h.Lo+i*h.Hi)%(1<<63)%m)
			continue
		}
		combined := int32(h.Lo) + int32(i+1)*int32(h.Lo>>32)
		if combined < 0 {
			combined = ^combined
		}
		at = append(at, uint64(combined)%m)
	}
	return at
}

func sparkBits(p *plain, _ []byte, h filter.Hash) (at []uint64) {
	m := 64 * p.number("words")
	a, b := int32(h.Lo), int32(h.Lo>>32)
	for i := range p.number("k") {
		c := int64(a + int32(i+1)*b)
		if p.text("version") == "2" {
			c = int64(a)*(1<<31-1) + int64(i+1)*int64(b)
		}
		if c < 0 {
			c = ^c
		}
		at = append(at, uint64(c)%m)
	}
	return at
}

func dcsoBits(p *plain, _ []byte, h filter.Hash) (at []uint64) {
	const prime = 0xffffffffffffffc5
	x := h.Lo % prime
	for range p.number("k") {
		x = x * 0xfffffffffffffa43 % prime
		at = append(at, x%p.number("m"))
	}
	return at
}

func bitsandbloomsBits(p *plain, key []byte, _ filter.Hash) (at []uint64) {
	h := sums.Murmur3Quarters(key)
	for i := range p.number("k") {
		at = append(at, (h[i%2]+i*h[2+(i+i%2)%4/2])%p.number("m"))
	}
	return at
}

// redisbloomLinks returns the bits and the probes of each link, from the header in the first section.
func redisbloomLinks(p *plain) (m, k []uint64) {
	for link := range p.number("links") {
		at := 8 * (20 + 53*link)
		m, k = append(m, p.field(0, at+64, 64)), append(k, p.field(0, at+8*40, 32))
	}
	return m, k
}

// redisbloomBits returns the positions in all links, one link after the other, as bits of the second section.
func redisbloomBits(p *plain, _ []byte, h filter.Hash) (at []uint64) {
	m, k := redisbloomLinks(p)
	start := uint64(0)
	for link := range m {
		for i := range k[link] {
			at = append(at, start+(h.Lo+i*h.Hi)%m[link])
		}
		start += m[link]
	}
	return at
}

func redisbloomAnswer(p *plain, at []uint64) (a answer) {
	_, k := redisbloomLinks(p)
	for link := range k {
		all := true
		for _, i := range at[:k[link]] {
			all = all && p.bit(1, i) == 1
		}
		a.has, at = a.has || all, at[k[link]:]
	}
	return a
}
