package hashes

import (
	"context"
	"iter"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/parallel"
)

const (
	roomLen   = 1 << 16 // hashes that a worker sorts in its own memory: 1 MiB, which fits into a second-level cache
	maxGroups = 14      // bits: the ends of as many groups fit there too
	freshLen  = 16      // pages that are allocated together
)

// spreader sorts the pages of an array in two steps:
//
//	pages ───▶ up to 256 buckets: each worker spreads pages to pages of its own, and reuses the pages that it has read
//	bucket ──▶ a worker spreads the hashes to small groups in its room, sorts these, and copies all to their places
//
// A bucket that is too large for a room is spread to smaller ones in the same way.
type spreader struct {
	ctx   context.Context
	equal atomic.Bool // some hashes are equal
	// table is the pages of the sorted array. The worker of a bucket sets the pages that begin in the range of the
	// bucket. A page with hashes of two buckets is set before either bucket is sorted, so that no two workers set it.
	table []*page

	mu   sync.Mutex
	free []*page
}

// spreadWorker is a worker and its memory.
type spreadWorker struct {
	*spreader
	own    []*page       // free pages of this worker
	room   []filter.Hash // memory in which a bucket is sorted
	groups []uint32      // the ends of the groups in room
	piles  piles         // the piles of the first step
}

// pile is n hashes in no order. All pages except the last one are full.
type pile struct {
	pages []*page
	last  *page
	n     int
}

type piles [1 << maxDigit]pile

// hashesOf returns the hashes of piles.
func hashesOf(ps []pile) iter.Seq[[]filter.Hash] {
	return func(yield func([]filter.Hash) bool) {
		for _, p := range ps {
			for i, page := range p.pages {
				if !yield(page[:min(p.n-i*pageLen, pageLen)]) {
					return
				}
			}
		}
	}
}

// sortPages is sort for an array with pages. Besides the room of each worker it takes one page per bucket and worker,
// together at most a sixteenth of the memory of the hashes, and one page per bucket.
func (a *array) sortPages(ctx context.Context, workers int) (equal bool, err error) {
	used := (a.n + pageLen - 1) / pageLen
	s := &spreader{ctx: ctx, table: make([]*page, used), free: append([]*page(nil), a.pages[used:]...)}
	var diff filter.Hash
	if a.n > 0 {
		first := *a.at(0)
		for hs := range a.pieces(0, a.n) {
			diff = difference(diff, first, hs, allBits)
		}
	}

	d := digitOf(diff, min(max(bits.Len(uint(a.n>>14)), 1), maxDigit))
	count := int(d.mask) + 1
	all := make([]spreadWorker, workers)
	for i := range all {
		all[i].spreader = s
		if i < len(a.rooms) {
			all[i].room = a.rooms[i]
		}
	}

	const step = 64 // pages that a worker takes at once
	// Each worker keeps one open page per bucket, so few hashes are spread by few workers: see the bound above.
	spreaders := min(workers, max(a.n/(16*pageLen*count), 1))
	parallel.Each(spreaders, (used+step-1)/step, func(worker, i int) {
		for p := i * step; p < min((i+1)*step, used) && ctx.Err() == nil; p++ {
			all[worker].spread(d, &all[worker].piles, a.pages[p], min(a.n-p*pageLen, pageLen))
		}
	})
	buckets := make([][]pile, count)
	for b := range buckets {
		for i := range all[:spreaders] {
			buckets[b] = append(buckets[b], all[i].piles[b])
		}
	}

	begins := all[0].placeBuckets(0, buckets)
	parallel.Each(workers, count, func(worker, b int) { all[worker].sortBucket(begins[b], buckets[b], d.lowerBits()) })
	if err := ctx.Err(); err != nil {
		return false, err
	}

	a.pages, a.chunk, a.rooms = append(s.table, s.free...), nil, nil
	for i := range all {
		a.pages, a.rooms = append(a.pages, all[i].own...), append(a.rooms, all[i].room)
	}
	return s.equal.Load(), nil
}

// takePage returns a free page, or a new one.
func (w *spreadWorker) takePage() *page {
	if len(w.own) == 0 {
		w.mu.Lock()
		took := min(len(w.free), freshLen)
		w.own, w.free = append(w.own, w.free[len(w.free)-took:]...), w.free[:len(w.free)-took]
		w.mu.Unlock()
	}
	if len(w.own) == 0 {
		w.own = appendPages(w.own, make([]filter.Hash, freshLen*pageLen))
	}

	p := w.own[len(w.own)-1]
	w.own = w.own[:len(w.own)-1]
	return p
}

// spread moves the first n hashes of a page to the piles of their digits and frees the page.
func (w *spreadWorker) spread(d digit, to *piles, from *page, n int) {
	for i := range from[:n] {
		h := &from[i]
		p := &to[uint8(d.valueOf(h))]
		at := p.n & (pageLen - 1)
		if at == 0 {
			p.last = w.takePage()
			p.pages = append(p.pages, p.last)
		}
		p.last[at] = *h
		p.n++
	}
	w.own = append(w.own, from)
}

// placeBuckets returns the positions in the sorted array at which the buckets begin, the first one at at, and sets the
// pages with hashes of two buckets.
func (w *spreadWorker) placeBuckets(at int, buckets [][]pile) (begins []int) {
	for _, bucket := range buckets {
		if at%pageLen != 0 && at/pageLen < len(w.table) && w.table[at/pageLen] == nil {
			w.table[at/pageLen] = w.takePage()
		}
		begins = append(begins, at)
		for _, p := range bucket {
			at += p.n
		}
	}
	return begins
}

// sortBucket sorts a bucket, whose hashes differ only in the lowest bits, and moves it to its place in the sorted
// array.
func (w *spreadWorker) sortBucket(at int, bucket []pile, lowest int) {
	n := 0
	var first, diff filter.Hash
	for _, p := range bucket {
		if n == 0 && p.n > 0 {
			first = p.pages[0][0]
		}
		n += p.n
	}
	if n == 0 || w.ctx.Err() != nil {
		return
	}

	for hs := range hashesOf(bucket) {
		diff = difference(diff, first, hs, lowest)
	}
	if n > roomLen && length(diff) > 0 {
		w.divide(at, bucket, digitOf(diff, min(bits.Len(uint(n>>14)), maxDigit)))
		return
	}
	if len(w.room) < min(n, roomLen) {
		w.room = make([]filter.Hash, min(n+n/16, roomLen))
	}
	if length(diff) == 0 {
		// The hashes are in room by now, and the pages can become pages of the sorted array.
		w.release(bucket)
		room := w.room[:min(n, roomLen)]
		for i := range room {
			room[i] = first
		}
		for end := at + n; at < end; at += len(room) {
			w.copySorted(at, room[:min(end-at, len(room))])
		}
		if n > 1 {
			w.equal.Store(true)
		}
		return
	}

	d := digitOf(diff, min(max(bits.Len(uint(n))-2, 1), maxGroups)) // for groups of 2 to 4 hashes
	if len(w.groups) <= int(d.mask) {
		w.groups = make([]uint32, d.mask+1)
	}

	groups := w.groups[:d.mask+1]
	clear(groups)
	for hs := range hashesOf(bucket) {
		for i := range hs {
			groups[d.valueOf(&hs[i])]++
		}
	}

	end, largest := uint32(0), uint32(0)
	for g, size := range groups {
		groups[g] = end
		end, largest = end+size, max(largest, size)
	}

	room := w.room[:n]
	for hs := range hashesOf(bucket) {
		for i := range hs {
			g := &groups[d.valueOf(&hs[i])]
			room[*g] = hs[i]
			*g++
		}
	}

	w.release(bucket)
	equal := false
	if largest > smallSort {
		begin := uint32(0)
		for _, end := range groups {
			equal = sortSlice(w.ctx, room[begin:end]) || equal
			begin = end
		}
	}
	if equal = insertionSort(room) || equal; equal {
		w.equal.Store(true)
	}
	w.copySorted(at, room)
}

// divide sorts a bucket that is too large for the room.
func (w *spreadWorker) divide(at int, bucket []pile, d digit) {
	to := new(piles)
	for _, p := range bucket {
		for i, page := range p.pages {
			w.spread(d, to, page, min(p.n-i*pageLen, pageLen))
		}
	}

	var buckets [][]pile
	for b := range int(d.mask) + 1 {
		buckets = append(buckets, to[b:b+1])
	}

	for b, begin := range w.placeBuckets(at, buckets) {
		w.sortBucket(begin, buckets[b], d.lowerBits())
	}
}

// release makes the pages of a bucket free.
func (w *spreadWorker) release(bucket []pile) {
	for _, p := range bucket {
		w.own = append(w.own, p.pages...)
	}
}

// copySorted copies hashes to their place in the sorted array.
func (w *spreadWorker) copySorted(at int, hs []filter.Hash) {
	for len(hs) > 0 {
		p := &w.table[at/pageLen]
		if *p == nil {
			*p = w.takePage()
		}
		took := copy((*p)[at%pageLen:], hs)
		at, hs = at+took, hs[took:]
	}
}
