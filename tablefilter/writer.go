package tablefilter

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/blocked"
	"github.com/bloomery/bloomery/internal/family/blockpartitioned"
	"github.com/bloomery/bloomery/internal/family/fuse"
	"github.com/bloomery/bloomery/internal/family/partitioned"
	"github.com/bloomery/bloomery/internal/family/ribbon"
)

// Writer gathers the keys of one table and makes its filter block. It is for one goroutine.
type Writer struct {
	p      *Policy
	chunks []*chunk // all full but the last one
	last   filter.Hash
	keys   int
}

// chunk is a list of hashes in 64 KiB, so that a small table needs little memory.
type chunk struct {
	n  int
	hs [4096]filter.Hash
}

var chunks = sync.Pool{New: func() any { return new(chunk) }}

// NewWriter returns a Writer without keys.
func (p *Policy) NewWriter() *Writer { return &Writer{p: p} }

// Add adds a key and keeps no reference to the slice. A key that equals the previous key needs no memory.
func (w *Writer) Add(key []byte) {
	h := hasher.Sum(key)
	if w.keys > 0 && h == w.last {
		return
	}

	w.last = h
	if w.keys++; w.keys > w.p.MaxKeys { // Finish makes no filter, so the keys are no longer needed
		w.freeKeys()
		return
	}
	if len(w.chunks) == 0 || w.chunks[len(w.chunks)-1].n == len(chunk{}.hs) {
		c := chunks.Get().(*chunk)
		c.n = 0
		w.chunks = append(w.chunks, c)
	}

	c := w.chunks[len(w.chunks)-1]
	c.hs[c.n] = h
	c.n++
}

func (w *Writer) freeKeys() {
	for _, c := range w.chunks {
		chunks.Put(c)
	}
	w.chunks = nil
}

// Finish appends the filter block to dst and returns the result. The Writer is then empty again. If the spec does not
// suit the number of keys, such as bits_per_key=2 in family fuse, Finish builds a filter of family blocked with the
// same bits per key or rate. If this fails too, or if the number of keys is 0 or exceeds MaxKeys, the block
// contains no filter, and every key may be in the table.
func (w *Writer) Finish(dst []byte) []byte {
	n := w.keys
	defer func() { w.freeKeys(); w.keys = 0 }()
	if n == 0 || n > w.p.MaxKeys {
		return appendTail(dst, kindNone, 0)
	}

	f, err := w.buildFilter(w.p.family, w.p.build)
	if err != nil {
		f, err = w.buildFilter(w.p.smallSpec())
	}
	if err == nil {
		dst, err = appendFilter(dst, f.(family.Encoder).Encode())
	}
	if err != nil {
		return appendTail(dst, kindNone, 0)
	}
	return dst
}

// buildFilter makes the filter of the keys.
func (w *Writer) buildFilter(kind families.Family, s filter.Spec) (family.Filter, error) {
	b, err := kind.NewBuilder(s, uint64(w.keys))
	if err != nil {
		return nil, err
	}
	if b, ok := b.(family.Gatherer); ok {
		b.SetOptions(family.BuildOptions{Workers: w.p.Workers})
	}

	for _, c := range w.chunks {
		if err := b.AddMany(c.hs[:c.n]); err != nil {
			return nil, err
		}
	}
	return b.Build(context.Background())
}

// appendFilter appends the filter block of a built filter to dst. The error wraps filter.ErrConfig, ErrTooLarge or
// ErrFamily if no block can contain the filter.
func appendFilter(dst []byte, e family.Encoded) ([]byte, error) {
	r, little := family.Reader(e.Spec), binary.LittleEndian
	switch e.Spec.Family() {
	case blocked.Family:
		tail := r.Uint("k")
		if r.Text("layout", "") == string(blocked.Split) {
			tail |= 1 << 8
		}
		dst = appendWords(dst, e.Sections[0], 8*uint64(len(e.Sections[0])))
		return appendTail(dst, kindBlocked, tail), nil

	case blockpartitioned.Family:
		dst = appendWords(dst, e.Sections[0], 8*uint64(len(e.Sections[0])))
		tail := r.Uint("k") | r.Uint("width")<<8 | r.Uint("groups")<<16 | r.Uint("block")/512<<32
		return appendTail(dst, kindBlockpartitioned, tail), nil

	case partitioned.Family:
		v, err := partitioned.ViewOf(e.Spec)
		if err != nil {
			return dst, err
		}
		bitmap, shifts := v.Bytes()
		dst = appendWords(appendWords(dst, e.Sections[0], bitmap), e.Sections[1], shifts)
		for _, n := range []uint64{v.Bits, v.Groups, v.Shards} {
			dst = little.AppendUint32(dst, uint32(n))
		}
		return appendTail(dst, kindPartitioned, uint64(v.K)|uint64(v.Width)<<8), nil

	case fuse.Family:
		v, err := fuse.ViewOf(e.Spec)
		if err != nil {
			return dst, err
		}
		dst = little.AppendUint64(appendWords(dst, e.Sections[0], v.Bytes()), v.Seed)
		dst = little.AppendUint32(dst, uint32(v.Segments))
		return appendTail(dst, kindFuse, uint64(bits.TrailingZeros64(v.Segment))|uint64(v.Width)<<8), nil

	case ribbon.Family:
		v, err := ribbon.ViewOf(e.Spec)
		if err != nil {
			return dst, err
		}
		if slices.Max(v.Starts[:]) > 64*math.MaxUint32 {
			return dst, filter.ErrTooLarge
		}
		solution, classes, tail := v.Bytes()
		dst = appendWords(appendWords(dst, e.Sections[0], solution), e.Sections[1], classes)
		dst = appendWords(dst, e.Sections[2], tail)
		for _, start := range v.Starts[:v.Layers] {
			dst = little.AppendUint32(dst, uint32(start/64))
		}
		dst = little.AppendUint64(dst, v.Seed|v.TailSeed<<16|v.Wide<<32)
		return appendTail(dst, kindRibbon, uint64(v.R)|uint64(v.W/64)<<8|v.Tail<<16|uint64(v.Layers)<<32), nil
	}
	return dst, filter.ErrFamily
}

// appendWords appends the first size bytes of words.
func appendWords(dst []byte, words []uint64, size uint64) []byte {
	start := len(dst)
	dst = slices.Grow(dst, 8*len(words)+tailSize+longSize)
	for _, x := range words {
		dst = binary.LittleEndian.AppendUint64(dst, x)
	}
	return dst[:start+int(size)]
}

// appendTail appends the last eight bytes of a block: the last numbers, the kind and the version.
func appendTail(dst []byte, kind, tail uint64) []byte {
	return binary.LittleEndian.AppendUint64(dst, tail|kind<<48|version<<56)
}
