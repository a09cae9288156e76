package plank

import (
	"fmt"
	"math/bits"

	"github.com/bloomery/bloomery/eval/lab/paper"
)

// traced is the run whose events the notes print: BF-Tester 1 1024 1 50 10 16 3 1.
var traced = tester{block: 1024, reused: 1, oneOff: 50, events: 10, m: smallBits}

// tracePrinted is the output in the notes, without its last line. The tenth event is missing there.
var tracePrinted = []string{
	"NEW 9 0 e ADDED 10000000 01000010",
	"NEW 0 f 7 ADDED 10000001 01000011",
	"NEW 2 c 0 ADDED 10100001 01001011",
	"OLD 0 f 7 FOUND 10100001 01001011",
	"OLD 0 f 7 FOUND 10100001 01001011",
	"NEW a f d ADDED 10100001 01101111",
	"OLD 0 f 7 FOUND 10100001 01101111",
	"NEW d f 9 FOUND 10100001 01101111",
	"OLD 0 f 7 FOUND 10100001 01101111",
}

// trace runs BF-tester with seed 1 and a filter of smallBits bits and smallK positions, and returns a line for each
// event: whether the block is new, its positions, whether it was in the filter, and the bits of the filter
// afterwards, byte by byte with the lowest bit first. It panics if t has another size.
func (t tester) trace() (lines []string) {
	if t.m != smallBits {
		panic("plank: a trace needs a filter of 16 bits")
	}

	b := paper.NewBitmap(smallBits)
	// requests returns only the errors of its argument.
	_ = t.requests(notesSeed, smallK, func(fresh bool, at []uint64) error {
		kind, action := "OLD", "FOUND"
		if fresh {
			kind = "NEW"
		}
		if !b.Has(at...) {
			action = "ADDED"
			b.Set(at...)
		}
		lines = append(lines, fmt.Sprintf("%s %x %x %x %s %08b %08b", kind, at[0], at[1], at[2], action,
			bits.Reverse8(uint8(b[0])), bits.Reverse8(uint8(b[0]>>8))))
		return nil
	})
	return lines
}
