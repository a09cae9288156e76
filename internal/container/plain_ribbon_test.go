package container

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/bloomery/bloomery/filter"
)

// plainLayer is a layer of a filter of family ribbon; see plain.
type plainLayer struct {
	starts, width, bucket        uint64
	limits                       [4]uint64
	factor, turn                 uint64
	blocks, wide, columns        uint64
	firstWord, firstBucket, next uint64 // the word after the layer
}

// ribbonLayers returns the layers.
func ribbonLayers(p *plain) (all []plainLayer) {
	if p.text("starts") == "" {
		return nil
	}
	var word, bucket uint64
	for i, text := range strings.Split(p.text("starts"), "-") {
		t, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			panic(err)
		}
		columns := p.number("value_bits") + p.number("r")
		l := plainLayer{starts: t, firstWord: word, firstBucket: bucket, columns: columns}
		switch {
		case t < 2048:
			l.width, l.bucket, l.limits = 64, 32, [4]uint64{0, 6, 13, 32}
		case p.number("w") == 64:
			l.width, l.bucket, l.limits = 64, 128, [4]uint64{0, 17, 38, 128}
		case t < 49152:
			l.width, l.bucket, l.limits = 128, 256, [4]uint64{0, 20, 51, 256}
		default:
			l.width, l.bucket, l.limits = 128, 512, [4]uint64{0, 41, 102, 512}
		}
		j := uint64(i) + 16*p.number("seed")
		l.turn, l.factor = 11*j%64, 1
		if z := j * 0x9e3779b97f4a7c15; j > 0 {
			z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			l.factor = (z ^ z>>31) | 1
		}
		l.blocks = (t + l.width*((t+1<<18-1)>>18)) / 64
		l.wide = (l.blocks*p.number("wide") + 1023) / 1024
		word += l.blocks*l.columns + l.wide
		bucket += (t + l.bucket - 1) / l.bucket
		l.next = word
		all = append(all, l)
	}
	return all
}

// ribbonBits returns the number of bits in use in each section.
func ribbonBits(p *plain) [3]uint64 {
	var word, buckets uint64
	for _, l := range ribbonLayers(p) {
		word, buckets = l.next, buckets+(l.starts+l.bucket-1)/l.bucket
	}
	return [3]uint64{64 * word, 2 * buckets, p.number("tail") * ribbonTailColumns(p)}
}

func ribbonTailColumns(p *plain) uint64 {
	columns := p.number("value_bits") + p.number("r")
	if p.number("wide") > 0 {
		columns++
	}
	return columns
}

// ribbonResult returns the layer, the slot, the number of bits of the fingerprint, the result and the fingerprint.
func ribbonResult(p *plain, _ []byte, h filter.Hash) []uint64 {
	lo, values := h.Lo, p.number("value_bits")
	if values > 0 {
		lo = lo >> 32 << 32
	}
	x := h.Hi ^ lo
	c, d := foldProduct(x, 0x71bf41d65460b8e9), foldProduct(x, 0x04666d532545ae33)
	f := foldProduct(x, 0x50a89a3be7770cbf)
	layers := ribbonLayers(p)
	for i, l := range layers {
		t := part(h.Hi*l.factor, l.starts)
		if class := p.field(1, 2*(l.firstBucket+t/l.bucket), 2); t%l.bucket < l.limits[class] {
			continue
		}
		slot := t + l.width*(t>>18)
		columns := l.columns
		if slot/64+l.width/64 < l.wide {
			columns++
		}
		coefficients := [2]uint64{bits.RotateLeft64(c, int(l.turn)) | 1, bits.RotateLeft64(d, int(l.turn))}
		var result uint64
		for j := range l.width {
			if coefficients[j/64]>>(j%64)&1 == 0 {
				continue
			}
			block := (slot + j) / 64
			first := l.firstWord + block*l.columns + min(block, l.wide)
			for k := range columns {
				result ^= p.bit(0, 64*(first+k)+(slot+j)%64) << k
			}
		}
		return []uint64{uint64(i), slot, columns - values, result, f % (1 << (columns - values))}
	}
	n, columns := p.number("tail"), ribbonTailColumns(p)
	var result uint64
	for j := range n {
		word := foldProduct(x^(4*p.number("tail_seed")+j/64+1)*0x9e3779b97f4a7c15, 0x7ea8b4433010cd85)
		if foldProduct(word^h.Hi, 0x80b5ac432cbdf5c9)>>(j%64)&1 == 0 {
			continue
		}
		for k := range columns {
			result ^= p.bit(2, k*n+j) << k
		}
	}
	return []uint64{uint64(len(layers)), 0, columns - values, result, f % (1 << (columns - values))}
}

func ribbonAnswer(p *plain, at []uint64) answer {
	values := p.number("value_bits")
	a := answer{values: values > 0, has: at[3]>>values == at[4], value: at[3] % (1 << values)}
	if p.keys == 0 {
		a.has, a.value = p.number("r") == 0, 0
	}
	a.hasValue = a.has
	return a
}
