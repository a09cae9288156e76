package hashes

import (
	"iter"

	"github.com/bloomery/bloomery/filter"
)

const (
	pageBits = 8
	pageLen  = 1 << pageBits // hashes of a page, 4 KiB
	chunkLen = 1 << 16       // hashes that are allocated together, 1 MiB
)

// page is the unit in which sorting reuses memory.
type page [pageLen]filter.Hash

// array is a list that grows without moving its content. Up to chunkLen hashes are in one slice. Beyond that, hash i is
// in page i/pageLen.
type array struct {
	few   []filter.Hash // hash i, unless there are pages
	pages []*page       // the content beyond hash n-1 is undefined
	n     int
	chunk []filter.Hash // the last one, if its pages follow each other, from hash begin on
	begin int
	rooms [][]filter.Hash // memory of sort, kept for the next one
}

// at returns a pointer to hash i, i < n.
func (a *array) at(i int) *filter.Hash {
	if len(a.pages) == 0 {
		return &a.few[i]
	}
	return &a.pages[i>>pageBits][i&(pageLen-1)]
}

// addHashes appends hs. The array starts with room for reserve hashes, at most chunkLen, and grows up to chunkLen.
// Further memory is allocated by the chunk.
func (a *array) addHashes(hs []filter.Hash, reserve int) {
	if len(a.pages) == 0 {
		if a.few == nil {
			a.few = make([]filter.Hash, 0, reserve)
		}
		took := min(len(hs), chunkLen-a.n)
		a.few = append(a.few[:a.n], hs[:took]...)
		a.n += took
		if hs = hs[took:]; len(hs) == 0 {
			return
		}
		a.pages, a.few = appendPages(nil, a.few), nil
	}

	for len(hs) > 0 {
		p := a.n >> pageBits
		if p == len(a.pages) {
			a.chunk, a.begin = make([]filter.Hash, chunkLen), a.n
			a.pages = appendPages(a.pages, a.chunk)
		}
		room := a.pages[p][a.n&(pageLen-1):]
		if in := a.n - a.begin; in >= 0 && in < len(a.chunk) {
			room = a.chunk[in:]
		}
		took := copy(room, hs)
		a.n += took
		hs = hs[took:]
	}
}

// appendPages cuts hs into pages.
func appendPages(pages []*page, hs []filter.Hash) []*page {
	for ; len(hs) >= pageLen; hs = hs[pageLen:] {
		pages = append(pages, (*page)(hs))
	}
	return pages
}

// pieces returns hashes [lo, hi) in slices of the memory of the array.
func (a *array) pieces(lo, hi int) iter.Seq[[]filter.Hash] {
	return func(yield func([]filter.Hash) bool) {
		for lo < hi {
			var hs []filter.Hash
			if len(a.pages) == 0 {
				hs = a.few[lo:hi:hi]
			} else {
				first := lo & (pageLen - 1)
				last := min(first+hi-lo, pageLen)
				hs = a.pages[lo>>pageBits][first:last:last]
			}
			if !yield(hs) {
				return
			}
			lo += len(hs)
		}
	}
}

// change replaces each hash h of [lo, hi) by form(h).
func (a *array) change(lo, hi int, form func(filter.Hash) filter.Hash) {
	for hs := range a.pieces(lo, hi) {
		for i, h := range hs {
			hs[i] = form(h)
		}
	}
}

// sliceOf returns hashes [lo, hi), at least one: the memory of the array if they are in one piece, else a copy.
func (a *array) sliceOf(lo, hi int) (hs []filter.Hash, copied bool) {
	for piece := range a.pieces(lo, hi) {
		if len(piece) == hi-lo {
			return piece, false
		}
		if hs == nil {
			hs = make([]filter.Hash, 0, hi-lo)
		}
		hs = append(hs, piece...)
	}
	return hs, true
}

// compact removes the duplicates of a sorted array.
func (a *array) compact() {
	kept, last := 0, filter.Hash{}
	for hs := range a.pieces(0, a.n) {
		for _, h := range hs {
			if h != last || kept == 0 {
				*a.at(kept) = h
				kept, last = kept+1, h
			}
		}
	}
	a.n = kept
}
