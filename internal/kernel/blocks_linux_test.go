package kernel

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"

	"github.com/bloomery/bloomery/filter"
)

// guarded returns size bytes that are followed by a page that cannot be read.
func guarded(t *testing.T, size int) unsafe.Pointer {
	page := syscall.Getpagesize()
	room := (size + page - 1) / page * page
	b, err := syscall.Mmap(-1, 0, room+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(b) })
	if err := syscall.Mprotect(b[room:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return unsafe.Pointer(&b[room-size])
}

// TestBlocksBounds queries in memory where a read past the end of the words, the keys or the answers is a fault.
func TestBlocksBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, n := range []int{1, 31, 32, 33, 1056, 1057, 3000} {
		words := unsafe.Slice((*uint64)(guarded(t, 64*10)), 80)
		hs := unsafe.Slice((*filter.Hash)(guarded(t, 16*n)), n)
		dst := unsafe.Slice((*bool)(guarded(t, n)), n)
		for i := range hs {
			hs[i] = edgeHash(r)
		}
		for _, b := range []Blocks{NewLine(words, 7), NewLine(words, 20), NewSplit(words)} {
			b.HasMany(dst, hs)
			at := unsafe.Slice((*unsafe.Pointer)(guarded(t, 8*n)), n)
			for i := range at {
				at[i] = unsafe.Pointer(&words[0])
			}
			b.HasAt(dst, hs, at)
			for _, h := range hs {
				if b.Has(h.Hi, h.Lo) {
					t.Fatal("a key in an empty filter")
				}
			}
		}
	}
}

// TestHasInBounds queries the bytes of one block before a page that cannot be read.
func TestHasInBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for size, has := range map[int][]func(block []byte, h filter.Hash) bool{
		32: {inBlocks(NewSplit(nil))},
		64: {inBlocks(NewLine(nil, 7)), inBlocks(NewLine(nil, 20)), inSlots(512, 13, 7, 4), inSlots(512, 1, 16, 5),
			inSlots(512, 1, 20, 5)},
		128: {inSlots(1024, 20, 8, 5)},
	} {
		block := unsafe.Slice((*byte)(guarded(t, size)), size)
		for _, f := range has {
			for range 1000 {
				if f(block, edgeHash(r)) {
					t.Fatal("a key in an empty block")
				}
			}
		}
	}
}

// TestRibbonBounds queries in memory where a read past the end of the words, the keys or the answers is a fault.
func TestRibbonBounds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(17, 18))
	for _, width := range []uint64{64, 128} {
		for _, prints := range []uint64{0, 1, 3, 4, 5, 8, 9, 15, 32} {
			for _, share := range []float64{0, 0.5} {
				r := randomRibbon(rnd, width, 64, prints, 0, share)
				words := unsafe.Slice((*uint64)(guarded(t, 8*len(r.Words))), len(r.Words))
				copy(words, r.Words)
				r.Words = words
				hs := unsafe.Slice((*filter.Hash)(guarded(t, 16*100)), 100)
				dst := unsafe.Slice((*bool)(guarded(t, 100)), 100)
				for i := range hs {
					hs[i] = edgeHash(rnd)
				}
				for _, r.how = range forms(r) {
					r.HasMany(dst, hs, make([]uint16, 100), true)
					for i, h := range hs {
						r.Get(h.Hi, h.Lo)
						if _, bumped := r.startOf(h.Hi); !bumped && r.Has(h.Hi, h.Lo) != dst[i] {
							t.Fatalf("width %d, %d columns: HasMany %t", width, prints, dst[i])
						}
					}
				}
			}
		}
	}
}

func inBlocks(b Blocks) func([]byte, filter.Hash) bool {
	return func(block []byte, h filter.Hash) bool { return b.HasIn(block, h.Lo) }
}

func inSlots(block, groups uint64, k, width int) func([]byte, filter.Hash) bool {
	s := NewSlots(nil, block, groups, (block-groups*uint64(k*width))/32*32, k, width)
	return func(block []byte, h filter.Hash) bool { return s.HasIn(block, h.Hi, h.Lo) }
}
