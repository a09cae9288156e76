package main

import (
	"github.com/bloomery/bloomery/family/blocked"
	"github.com/bloomery/bloomery/family/blockpartitioned"
	"github.com/bloomery/bloomery/family/counting"
	"github.com/bloomery/bloomery/family/dleft"
	"github.com/bloomery/bloomery/family/fuse"
	"github.com/bloomery/bloomery/family/partitioned"
	"github.com/bloomery/bloomery/family/rankindexed"
	"github.com/bloomery/bloomery/family/standard"
	"github.com/bloomery/bloomery/family/twochoice"
)

// The loops over our families. They are written out because a generic one would call through a dictionary, which the peers do
// not. Functions that return a loop, ours and the peers', are not inlined: the compiler (Go 1.26) inlines nothing into a copy
// of a closure that came with an inlined function, so that Has would be a call in some of them and none in others.

//go:noinline
func standardOne(f *standard.Filter) asker {
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Has(hasher.SumUint64(k)) {
				n++
			}
		}
		return n
	}
}

//go:noinline
func blockedOne(f *blocked.Filter) asker {
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Has(hasher.SumUint64(k)) {
				n++
			}
		}
		return n
	}
}

//go:noinline
func fuseOne(f *fuse.Filter) asker {
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Has(hasher.SumUint64(k)) {
				n++
			}
		}
		return n
	}
}

//go:noinline
func partitionedOne(f *partitioned.Filter) asker {
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Has(hasher.SumUint64(k)) {
				n++
			}
		}
		return n
	}
}

//go:noinline
func blockpartitionedOne(f *blockpartitioned.Filter) asker {
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Has(hasher.SumUint64(k)) {
				n++
			}
		}
		return n
	}
}

//go:noinline
func twochoiceOne(f *twochoice.Filter) asker {
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Has(hasher.SumUint64(k)) {
				n++
			}
		}
		return n
	}
}

//go:noinline
func rankindexedOne(f *rankindexed.Filter) asker {
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Has(hasher.SumUint64(k)) {
				n++
			}
		}
		return n
	}
}

//go:noinline
func countingOne(f *counting.Filter) asker {
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Has(hasher.SumUint64(k)) {
				n++
			}
		}
		return n
	}
}

//go:noinline
func dleftOne(f *dleft.Filter) asker {
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Has(hasher.SumUint64(k)) {
				n++
			}
		}
		return n
	}
}
