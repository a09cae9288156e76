package gather

import (
	"context"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
)

const (
	chunkBits = 16
	chunkLen  = 1 << chunkBits // hashes of a chunk, 1 MiB

	maxDigit     = 8       // bits: the ends of 256 buckets fit into a first-level cache
	smallSort    = 48      // hashes sorted by insertion; 24 and 32 take the same time
	parallelSort = 1 << 15 // hashes from which starting goroutines pays off: 1 ms of work
)

// array is an array that grows without moving: hash i is in chunk i/chunkLen. It is sorted in place.
type array struct {
	chunks [][]filter.Hash // the content beyond hash n-1 is undefined
	n      int
}

// at returns a pointer to hash i, i < n.
func (a *array) at(i int) *filter.Hash {
	return &a.chunks[i>>chunkBits][i&(chunkLen-1)]
}

// add appends hs. The first chunk starts with room for reserve hashes, at most chunkLen, and grows. The others are
// allocated in full.
func (a *array) add(hs []filter.Hash, reserve int) {
	for len(hs) > 0 {
		c, used := a.n>>chunkBits, a.n&(chunkLen-1)
		if c == len(a.chunks) {
			if c > 0 {
				reserve = chunkLen
			}
			a.chunks = append(a.chunks, make([]filter.Hash, 0, reserve))
		}
		took := min(len(hs), chunkLen-used)
		a.chunks[c] = append(a.chunks[c][:used], hs[:took]...)
		a.n += took
		hs = hs[took:]
	}
}

// change replaces each hash h from lo on by form(h).
func (a *array) change(lo int, form func(filter.Hash) filter.Hash) {
	for i := lo; i < a.n; i++ {
		p := a.at(i)
		*p = form(*p)
	}
}

// part returns hashes [lo, hi), at least one: the memory of the array if they are in one chunk, else a copy.
func (a *array) part(lo, hi int) (hs []filter.Hash, copied bool) {
	first, at := lo>>chunkBits, lo&(chunkLen-1)
	if first == (hi-1)>>chunkBits {
		return a.chunks[first][at : at+hi-lo : at+hi-lo], false
	}
	hs = append(make([]filter.Hash, 0, hi-lo), a.chunks[first][at:]...)
	for _, c := range a.chunks[first+1:] {
		hs = append(hs, c[:min(len(c), cap(hs)-len(hs))]...)
	}
	return hs, true
}

// compact removes the duplicates of a sorted array.
func (a *array) compact() {
	kept, last := 0, filter.Hash{}
	for i := range a.n {
		if h := *a.at(i); h != last || i == 0 {
			*a.at(kept) = h
			kept, last = kept+1, h
		}
	}
	a.n = kept
}

// sort sorts the hashes. If ctx ends first, it returns ctx.Err() and leaves them in an arbitrary order.
//
// It is a radix sort from the highest bits down, in place (McIlroy, Bostic and McIlroy, "Engineering Radix Sort",
// Computing Systems 6, 1993, the American flag sort). One goroutine distributes all hashes to up to 256 buckets, and
// the workers sort these. A step begins at the first bit in which its hashes differ. So every input takes at most 128
// steps of linear time; random hashes take two or three.
//
// It reports whether some hashes are equal: those of the same range, which goroutines find at the same time.
func (a *array) sort(ctx context.Context, workers int) (equal bool, err error) {
	if a.n < parallelSort {
		return a.sortRange(ctx, 0, a.n), ctx.Err()
	}
	bounds := a.split(ctx, 0, a.n, new(buckets))
	var next atomic.Int64
	var found atomic.Bool
	work := func() {
		for b := next.Add(1); b < int64(len(bounds)) && ctx.Err() == nil; b = next.Add(1) {
			if a.sortRange(ctx, bounds[b-1], bounds[b]) {
				found.Store(true)
			}
		}
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return found.Load() || bounds == nil, ctx.Err()
}

// sortRange sorts hashes [lo, hi) and reports whether some are equal.
func (a *array) sortRange(ctx context.Context, lo, hi int) (equal bool) {
	if hi-lo <= smallSort {
		return a.insertionSort(lo, hi)
	}
	bounds := a.split(ctx, lo, hi, new(buckets))
	for b := 1; b < len(bounds); b++ {
		equal = a.sortRange(ctx, bounds[b-1], bounds[b]) || equal
	}
	return equal || bounds == nil
}

// buckets holds the bounds of buckets: bucket b is [bounds[b], bounds[b+1]).
type buckets [1<<maxDigit + 1]int

// split moves hashes [lo, hi), at least one, into buckets in ascending order and returns the bounds of these. It
// returns none if all hashes are equal or ctx is done.
func (a *array) split(ctx context.Context, lo, hi int, room *buckets) (bounds []int) {
	d := a.digit(lo, hi)
	if d.mask == 0 {
		return nil
	}
	var next buckets // the sizes, then where the next hash of a bucket goes
	for i := lo; i < hi; i++ {
		next[d.of(a.at(i))]++
	}
	bounds = room[:int(d.mask)+2]
	at := lo
	for b := range len(bounds) - 1 {
		size := next[b]
		bounds[b], next[b] = at, at
		at += size
	}
	bounds[len(bounds)-1] = hi
	// A sweep of independent exchanges moves most hashes to their buckets (total time: -20%). The rest is moved in
	// cycles: put a hash into its bucket and continue with the hash that was there.
	for b := range len(bounds) - 1 {
		if hi-lo > chunkLen && ctx.Err() != nil {
			return nil
		}
		for i := next[b]; i < bounds[b+1]; i++ {
			from := a.at(i)
			to := d.of(from)
			p := a.at(next[to])
			*from, *p = *p, *from
			next[to]++
		}
	}
	for b := range len(bounds) - 1 {
		for ; next[b] < bounds[b+1]; next[b]++ {
			h := *a.at(next[b])
			for to := d.of(&h); int(to) != b; to = d.of(&h) {
				p := a.at(next[to])
				h, *p = *p, h
				next[to]++
			}
			*a.at(next[b]) = h
		}
	}
	return bounds
}

// digit is up to maxDigit bits of a hash, all in Hi or all in Lo.
type digit struct {
	low         bool // in Lo
	shift, mask uint8
}

// of returns the digit of h.
func (d digit) of(h *filter.Hash) uint8 {
	w := h.Hi
	if d.low {
		w = h.Lo
	}
	return uint8(w>>(d.shift&63)) & d.mask
}

// digit returns the digit that begins at the first bit in which hashes [lo, hi) differ, with a width for buckets of
// about 16 hashes. Its mask is 0 if they do not differ.
func (a *array) digit(lo, hi int) digit {
	first := *a.at(lo)
	var diff filter.Hash
	for i := lo + 1; i < hi; i++ {
		h := a.at(i)
		diff.Hi |= h.Hi ^ first.Hi
		diff.Lo |= h.Lo ^ first.Lo
	}
	low, top := false, bits.Len64(diff.Hi)
	if top == 0 {
		low, top = true, bits.Len64(diff.Lo)
	}
	width := min(max(bits.Len(uint(hi-lo))-4, 1), maxDigit, top)
	return digit{low: low, shift: uint8(top - width), mask: uint8(1<<width - 1)}
}

// insertionSort sorts hashes [lo, hi), which should be few, and reports whether some are equal.
func (a *array) insertionSort(lo, hi int) (equal bool) {
	if hi-lo < 2 {
		return false
	}
	hs, copied := a.part(lo, hi)
	for i := 1; i < len(hs); i++ {
		h, j := hs[i], i
		for ; j > 0 && less(h, hs[j-1]); j-- {
			hs[j] = hs[j-1]
		}
		hs[j] = h
	}
	for i, h := range hs[1:] {
		equal = equal || h == hs[i]
	}
	if copied {
		for i, h := range hs {
			*a.at(lo + i) = h
		}
	}
	return equal
}

// less is the order of hashes.
func less(x, y filter.Hash) bool {
	return x.Hi < y.Hi || x.Hi == y.Hi && x.Lo < y.Lo
}
