package main

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"
	"time"

	cuckoo "github.com/seiflotfy/cuckoofilter"
	boom "github.com/tylertreat/BoomFilters"

	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
)

// mutable is a filter that supports removal. Each of its functions returns the number of keys for which the operation
// succeeded.
type mutable struct {
	name             string
	bits             uint64
	add, has, remove func(keys []uint64) int
}

// rankIndexed returns one of our filters, empty.
func rankIndexed(t testing.TB, name string, c rankindexed.Config) mutable {
	f, err := rankindexed.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return mutable{
		name: name, bits: f.Geometry().Bits(),
		add: func(keys []uint64) (n int) {
			for _, k := range keys {
				if f.Add(hasher.SumUint64(k)) == nil {
					n++
				}
			}
			return n
		},
		has: func(keys []uint64) (n int) {
			for _, k := range keys {
				if f.Has(hasher.SumUint64(k)) {
					n++
				}
			}
			return n
		},
		remove: func(keys []uint64) (n int) {
			for _, k := range keys {
				if f.Remove(hasher.SumUint64(k)) == nil {
					n++
				}
			}
			return n
		},
	}
}

// seiflotfyCuckoo returns a cuckoo filter with fingerprints of 8 bits, four per bucket, and a power of two as number of
// buckets.
func seiflotfyCuckoo(n int) mutable {
	f := cuckoo.NewFilter(uint(n))
	var b [8]byte
	each := func(do func([]byte) bool) func([]uint64) int {
		return func(keys []uint64) (n int) {
			for _, k := range keys {
				binary.LittleEndian.PutUint64(b[:], k)
				if do(b[:]) {
					n++
				}
			}
			return n
		}
	}
	return mutable{name: "seiflotfy", bits: seiflotfyBits(n), add: each(f.Insert), has: each(f.Lookup), remove: each(f.Delete)}
}

// boomCuckoo returns a cuckoo filter with fingerprints of whole bytes. Each is a separate slice, with 24 bytes of
// header.
func boomCuckoo(n int, rate float64) mutable {
	f := boom.NewCuckooFilter(uint(n), rate)
	var b [8]byte
	each := func(do func([]byte) bool) func([]uint64) int {
		return func(keys []uint64) (n int) {
			for _, k := range keys {
				binary.LittleEndian.PutUint64(b[:], k)
				if do(b[:]) {
					n++
				}
			}
			return n
		}
	}
	return mutable{
		name: "BoomFilters", bits: 8 * 25 * uint64(f.Capacity()), // a slice header of 24 bytes and at least 1 byte per fingerprint
		add: each(func(k []byte) bool { return f.Add(k) == nil }), has: each(f.Test), remove: each(f.TestAndRemove),
	}
}

// dynamicPairs are the pairs for which TestDynamic reports ratios.
var dynamicPairs = [][2]string{{"fast", "seiflotfy"}, {"one-line", "seiflotfy"}, {"smallest", "seiflotfy"}, {"one-line", "BoomFilters"}}

// TestDynamic prints the times of Add, Has and Remove, measured in turns, at the observed rate of the cuckoo filter.
func TestDynamic(t *testing.T) {
	runtime.LockOSThread()
	for _, n := range sizes() {
		present, absent := randomKeys(n, 1), randomKeys(n, 2)
		peer := seiflotfyCuckoo(n)
		peer.add(present)
		rate := float64(peer.has(absent)) / float64(n)
		all := []mutable{
			peer,
			rankIndexed(t, "one-line", rankindexed.Config{Keys: uint64(n), Size: family.Sizing{FPR: rate}, Bucket: 512}),
			rankIndexed(t, "fast", rankindexed.Config{Keys: uint64(n), Size: family.Sizing{FPR: rate}, Fast: true, Bucket: 512}),
			rankIndexed(t, "smallest", rankindexed.Config{Keys: uint64(n), Size: family.Sizing{FPR: rate}}),
		}
		if n <= 100_000 {
			all = append(all, boomCuckoo(n, rate))
		}
		for _, f := range all[1:] {
			if got := f.add(present); got != n {
				t.Fatalf("%s took %d of %d keys", f.name, got, n)
			}
		}
		for _, f := range all {
			fmt.Printf("n=%-9d %-12s %6.2f bits per key, rate %.4f\n", n, f.name, float64(f.bits)/float64(n), float64(f.has(absent))/float64(n))
		}
		part := some(present, min(n, 1_000_000))
		times := map[string]map[string][]float64{}
		for range *turns {
			for _, f := range all {
				if times[f.name] == nil {
					times[f.name] = map[string][]float64{}
				}
				for _, op := range []struct {
					name string
					keys []uint64
					do   func([]uint64) int
				}{{"present", part, f.has}, {"absent", absent[:len(part)], f.has}, {"remove", part, f.remove}, {"add", part, f.add}} {
					start := time.Now()
					yes := op.do(op.keys)
					times[f.name][op.name] = append(times[f.name][op.name], float64(time.Since(start).Nanoseconds())/float64(len(op.keys)))
					if op.name != "absent" && yes != len(op.keys) && f.name[0] != 's' || op.name == "add" && yes != len(op.keys) {
						t.Fatalf("%s: %s of %d keys gave %d", f.name, op.name, len(op.keys), yes)
					}
				}
			}
		}
		for _, op := range []string{"present", "absent", "add", "remove"} {
			for _, f := range all {
				fmt.Printf("n=%-9d %-8s %-12s %6.1f ns\n", n, op, f.name, quantile(times[f.name][op], 0.5))
			}
			for _, p := range dynamicPairs {
				var ratios []float64
				for i, x := range times[p[0]][op] {
					if peer := times[p[1]][op]; i < len(peer) {
						ratios = append(ratios, x/peer[i])
					}
				}
				if len(ratios) > 0 {
					fmt.Printf("n=%-9d %-8s %12s / %-12s %.2f  (middle half %.2f to %.2f)\n", n, op, p[0], p[1], quantile(ratios, 0.5), quantile(ratios, 0.25), quantile(ratios, 0.75))
				}
			}
		}
	}
}
