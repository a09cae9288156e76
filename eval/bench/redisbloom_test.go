package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"testing"

	"github.com/bloomery/bloomery/interop"
)

// redisModel is a simple second implementation of RedisBloom's chain and dumps, written from the description of the
// protocol and the dump format and independent of ours. It stands in for a Redis server.
type redisModel struct {
	links []redisLink
}

// redisLink holds the fields of a dumped link in their order, and its bits.
type redisLink struct {
	head struct {
		Bytes, Bits, Size uint64
		Error, BPE        float64
		Hashes            uint32
		Entries           uint64
		N2                uint8
	}
	bits []byte
}

func (m *redisModel) link(entries uint64, rate float64) {
	var l redisLink
	h := &l.head
	h.Entries, h.Error = entries, rate
	h.BPE = -nearestLog(rate) / 0.480453013918201
	h.Bytes = (uint64(float64(entries)*h.BPE) + 63) / 64 * 8
	h.Bits = 8 * h.Bytes
	h.Hashes = uint32(math.Ceil(0.693147180559945 * h.BPE))
	l.bits = make([]byte, h.Bytes)
	m.links = append(m.links, l)
}

// nearestLog returns the float64 that is nearest to the natural logarithm of x, which lies between 0 and 1. The C
// library returns the same value except for 6 rates in 100,000; math.Log differs more often. With t = (x-1)/(x+1), ln x
// = 2·(t + t³/3 + t⁵/5 + ...).
func nearestLog(x float64) float64 {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	part, exponent := math.Frexp(x)
	series := func(v float64) *big.Float {
		t := new(big.Float).Quo(new(big.Float).Sub(number(v), number(1)), new(big.Float).Add(number(v), number(1)))
		square, power, sum := new(big.Float).Mul(t, t), number(0).Set(t), number(0)
		for i := 1.0; i < 400; i += 2 {
			sum.Add(sum, new(big.Float).Quo(power, number(i)))
			power.Mul(power, square)
		}
		return sum.Add(sum, sum)
	}
	of2 := new(big.Float).Mul(series(2), number(float64(exponent)))
	v, _ := of2.Add(of2, series(part)).Float64()
	return v
}

// murmur is MurmurHash64A, byte by byte.
func murmur(key []byte, seed uint64) uint64 {
	const m = 0xc6a4a7935bd1e995
	h := seed ^ uint64(len(key))*m
	whole := len(key) / 8 * 8
	for i := 0; i < whole; i += 8 {
		var k uint64
		for j := 7; j >= 0; j-- {
			k = k<<8 + uint64(key[i+j])
		}
		k *= m
		k ^= k >> 47
		k *= m
		h ^= k
		h *= m
	}
	if whole < len(key) {
		var k uint64
		for j := len(key) - 1; j >= whole; j-- {
			k = k<<8 + uint64(key[j])
		}
		h ^= k
		h *= m
	}
	h ^= h >> 47
	h *= m
	return h ^ h>>47
}

func (l *redisLink) each(key []byte, f func(b *byte, mask byte)) {
	a := murmur(key, 0xc6a4a7935bd1e995)
	b := murmur(key, a)
	for i := range uint64(l.head.Hashes) {
		x := (a + i*b) % l.head.Bits
		f(&l.bits[x>>3], 1<<(x&7))
	}
}

func (m *redisModel) has(key []byte) bool {
	for i := range m.links {
		all := true
		m.links[i].each(key, func(b *byte, mask byte) { all = all && *b&mask != 0 })
		if all {
			return true
		}
	}
	return false
}

func (m *redisModel) add(key []byte) {
	if m.has(key) {
		return
	}
	if l := m.links[len(m.links)-1].head; l.Size >= l.Entries {
		m.link(l.Entries*2, l.Error*0.5)
	}
	l := &m.links[len(m.links)-1]
	l.each(key, func(b *byte, mask byte) { *b |= mask })
	l.head.Size++
}

func (m *redisModel) dump() []byte {
	var head, bits bytes.Buffer
	var size uint64
	for _, l := range m.links {
		size += l.head.Size
	}
	start := struct {
		Size                      uint64
		Filters, Options, Growths uint32
	}{size, uint32(len(m.links)), 5, 2}
	_ = binary.Write(&head, binary.LittleEndian, start)
	for _, l := range m.links {
		_ = binary.Write(&head, binary.LittleEndian, l.head)
		bits.Write(l.bits)
	}
	return append(head.Bytes(), bits.Bytes()...)
}

func TestRedisBloom(t *testing.T) {
	present, _ := interopSets()
	model := &redisModel{}
	model.link(uint64(len(present)/5), 0.02/2)
	for _, k := range present {
		model.add(k)
	}
	agree(t, "we read RedisBloom's dump, as the model has it", read(t, interop.RedisBloom, model.dump()), model.has)

	set := ourSet(t, "redisbloom(fpr=0.02,capacity=1000)", 0)
	model = &redisModel{}
	model.link(1000, 0.02/2)
	for _, k := range present {
		model.add(k)
	}
	if !bytes.Equal(model.dump(), foreign(t, interop.RedisBloom, set)) {
		t.Error("our chain is not the model's")
	}
	agree(t, "the model reads us", set, model.has)
}
