package main

import (
	"github.com/bloomery/bloomery/internal/family/blocked"
	"github.com/bloomery/bloomery/internal/family/blockpartitioned"
	"github.com/bloomery/bloomery/internal/family/counting"
	"github.com/bloomery/bloomery/internal/family/dleft"
	"github.com/bloomery/bloomery/internal/family/fuse"
	"github.com/bloomery/bloomery/internal/family/partitioned"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
	"github.com/bloomery/bloomery/internal/family/ribbon"
	"github.com/bloomery/bloomery/internal/family/standard"
	"github.com/bloomery/bloomery/internal/family/twochoice"
)

// The query loops of our families. They are written out because a generic loop would call through a dictionary, and the
// loops of the peers do not. Functions that return a loop, ours and the peers', are not inlined: the compiler (Go 1.26)
// inlines nothing into a closure copied with an inlined function, so that Has would be inlined in some loops only.

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
func ribbonOne(f *ribbon.Filter) asker {
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
