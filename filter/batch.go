package filter

import "fmt"

// CheckBatch panics if dst and hs differ in length. Every HasMany calls it first: a family must not answer beyond dst.
func CheckBatch(dst []bool, hs []Hash) {
	if len(dst) != len(hs) {
		badBatch(len(dst), len(hs))
	}
}

// badBatch is apart from CheckBatch so that the comparison is inlined.
//
//go:noinline
func badBatch(places, keys int) {
	panic(fmt.Sprintf("filter: HasMany: dst has %d places for %d keys", places, keys))
}
