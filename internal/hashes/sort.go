package hashes

import (
	"context"
	"math/bits"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/parallel"
)

const (
	maxDigit     = 8       // bits: the ends of 256 buckets fit into a first-level cache
	smallSort    = 48      // hashes sorted by insertion; 24 and 32 take the same time
	parallelSort = 1 << 15 // hashes from which starting goroutines pays off: 1 ms of work
)

// sortHashes sorts the hashes and reports whether some are equal. If ctx ends first, sortHashes returns ctx.Err() and
// leaves the hashes in an arbitrary order.
//
// It is a radix sort from the highest bits down. A step begins at the first bit in which its hashes differ. So every
// input takes at most 128 steps of linear time; random hashes take two or three. The steps of a slice are in place,
// the steps of pages are in spread.go.
func (a *array) sortHashes(ctx context.Context, workers int) (equal bool, err error) {
	switch {
	case len(a.pages) > 0:
		return a.sortPages(ctx, workers)
	case a.n < parallelSort:
		return sortSlice(ctx, a.few[:a.n]), ctx.Err()
	}

	hs := a.few[:a.n]
	bounds := splitBuckets(ctx, hs, new(buckets))
	var found atomic.Bool
	parallel.Each(workers, len(bounds)-1, func(_, b int) {
		if ctx.Err() == nil && sortSlice(ctx, hs[bounds[b]:bounds[b+1]]) {
			found.Store(true)
		}
	})
	return found.Load() || bounds == nil, ctx.Err()
}

// sortSlice sorts hashes in place and reports whether some are equal.
func sortSlice(ctx context.Context, hs []filter.Hash) (equal bool) {
	if len(hs) <= smallSort {
		return insertionSort(hs)
	}
	bounds := splitBuckets(ctx, hs, new(buckets))
	for b := 1; b < len(bounds); b++ {
		equal = sortSlice(ctx, hs[bounds[b-1]:bounds[b]]) || equal
	}
	return equal || bounds == nil
}

// buckets holds the bounds of buckets: bucket b is [bounds[b], bounds[b+1]).
type buckets [1<<maxDigit + 1]int

// splitBuckets moves hashes, at least one, into buckets in ascending order and returns the bounds of the buckets. It
// returns none if all hashes are equal or ctx is done. It works in place (McIlroy, Bostic and McIlroy, "Engineering
// Radix Sort", Computing Systems 6, 1993, the American flag sort).
func splitBuckets(ctx context.Context, hs []filter.Hash, room *buckets) (bounds []int) {
	diff := difference(filter.Hash{}, hs[0], hs, allBits)
	d := digitOf(diff, min(max(bits.Len(uint(len(hs)))-4, 1), maxDigit)) // for buckets of about 16 hashes
	if d.mask == 0 {
		return nil
	}

	var next buckets // the sizes, then the position of the next hash of each bucket
	for i := range hs {
		next[uint8(d.valueOf(&hs[i]))]++
	}

	bounds = room[:int(d.mask)+2]
	at := 0
	for b := range len(bounds) - 1 {
		size := next[b]
		bounds[b], next[b] = at, at
		at += size
	}

	bounds[len(bounds)-1] = len(hs)
	// A sweep of independent exchanges moves most hashes to their buckets (total time: -20%). The rest is moved in
	// cycles: put a hash into its bucket and continue with the hash that was there.
	for b := range len(bounds) - 1 {
		if len(hs) >= parallelSort && ctx.Err() != nil {
			return nil
		}
		for i := next[b]; i < bounds[b+1]; i++ {
			to := uint8(d.valueOf(&hs[i]))
			p := &hs[next[to]]
			hs[i], *p = *p, hs[i]
			next[to]++
		}
	}

	for b := range len(bounds) - 1 {
		for ; next[b] < bounds[b+1]; next[b]++ {
			h := hs[next[b]]
			for to := uint8(d.valueOf(&h)); int(to) != b; to = uint8(d.valueOf(&h)) {
				p := &hs[next[to]]
				h, *p = *p, h
				next[to]++
			}
			hs[next[b]] = h
		}
	}
	return bounds
}

// allBits is the number of bits of a hash.
const allBits = 128

// length returns the number of bits of h, without leading zeros.
func length(h filter.Hash) int {
	if h.Hi != 0 {
		return 64 + bits.Len64(h.Hi)
	}
	return bits.Len64(h.Lo)
}

// difference returns diff, plus the bits in which some of hs differ from first. It stops early when diff has most bits,
// since only its highest bit matters.
func difference(diff, first filter.Hash, hs []filter.Hash, most int) filter.Hash {
	for ; len(hs) > 0 && length(diff) < most; hs = hs[min(16, len(hs)):] {
		for _, h := range hs[:min(16, len(hs))] {
			diff.Hi |= h.Hi ^ first.Hi
			diff.Lo |= h.Lo ^ first.Lo
		}
	}
	return diff
}

// digit is some bits of a hash, all in Hi or all in Lo.
type digit struct {
	low   bool   // the digit is in Lo, else in Hi
	shift uint8  // bits below the digit in its half of the hash
	mask  uint64 // the bits of the digit after the shift
}

// digitOf returns the digit of at most width bits that begins at the first bit of diff. Its mask is 0 if there is none.
func digitOf(diff filter.Hash, width int) digit {
	top := length(diff)
	low := top <= 64
	if !low {
		top -= 64
	}
	width = min(width, top)
	return digit{low: low, shift: uint8(top - width), mask: 1<<width - 1}
}

// lowerBits returns the number of bits of a hash after the digit.
func (d digit) lowerBits() int {
	if d.low {
		return int(d.shift)
	}
	return int(d.shift) + 64
}

// valueOf returns the digit of h.
func (d digit) valueOf(h *filter.Hash) uint64 {
	w := h.Hi
	if d.low {
		w = h.Lo
	}
	return w >> (d.shift & 63) & d.mask
}

// insertionSort sorts hashes, which should be few or almost in order, and reports whether some are equal.
func insertionSort(hs []filter.Hash) (equal bool) {
	for i := 1; i < len(hs); i++ {
		h, j := hs[i], i
		for ; j > 0 && less(h, hs[j-1]); j-- {
			hs[j] = hs[j-1]
		}
		hs[j] = h
		equal = equal || j > 0 && h == hs[j-1]
	}
	return equal
}

// less is the order of hashes.
func less(x, y filter.Hash) bool {
	return x.Hi < y.Hi || x.Hi == y.Hi && x.Lo < y.Lo
}
