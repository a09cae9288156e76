package main

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/FastFilter/xorfilter"
	bitsbloom "github.com/bits-and-blooms/bloom/v3"
	pebble "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/dgraph-io/ristretto/v2/z"
	holiman "github.com/holiman/bloomfilter/v2"
	parquet "github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/bloom/xxhash"
	cuckoo "github.com/seiflotfy/cuckoofilter"
	boom "github.com/tylertreat/BoomFilters"

	"github.com/bloomery/bloomery/family/blocked"
	"github.com/bloomery/bloomery/filter"
)

// peers are the other libraries. Each gets the rate where it takes one, hashes with what it hashes itself, and gets what it
// takes for a key: an integer, or eight bytes in a buffer that is used again.
func peers(keys int, rate float64) []contender {
	blocks := splitBlocks(keys, rate)
	lineBits := pebbleBits(keys, rate)
	return []contender{
		{
			name: "bits-and-blooms", module: "github.com/bits-and-blooms/bloom/v3", told: fmt.Sprintf("NewWithEstimates(n, %g)", rate),
			build: simple(func(keys []uint64) built { return bitsAndBlooms(keys, rate) }),
		},
		{
			name: "holiman", module: "github.com/holiman/bloomfilter/v2", told: fmt.Sprintf("NewOptimal(n, %g)", rate),
			note:  "the caller brings the hash: the key itself here, which costs nothing; takes a lock each time",
			build: func(_ context.Context, keys []uint64) (built, error) { return holimanBloom(keys, rate) },
		},
		{
			name: "parquet-go", module: "github.com/parquet-go/parquet-go", told: fmt.Sprintf("SplitBlockFilter of %d blocks", blocks),
			note:  "takes no rate: as many blocks as blocked-split computes for it",
			build: simple(func(keys []uint64) built { return parquetSplitBlock(keys, blocks) }),
		},
		{
			name: "pebble", module: "github.com/cockroachdb/pebble/v2", told: fmt.Sprintf("FilterPolicy(%d)", lineBits),
			note:  "takes whole bits a key: the fewest that keep the rate in theory; its hash has 32 bits",
			build: simple(func(keys []uint64) built { return pebbleBloom(keys, lineBits) }),
		},
		{
			name: "z.Bloom", module: "github.com/dgraph-io/ristretto/v2", told: fmt.Sprintf("NewBloomFilter(n, %g)", rate),
			note:  "a power of two bits; the caller brings the hash: the key itself here, which is what z.KeyToHash makes of an integer",
			build: simple(func(keys []uint64) built { return zBloom(keys, rate) }),
		},
		{
			name: "BoomFilters", module: "github.com/tylertreat/BoomFilters", told: fmt.Sprintf("NewDefaultCountingBloomFilter(n, %g)", rate),
			note:  "keys can be removed and counted; FNV-1 in 64 bits",
			build: simple(func(keys []uint64) built { return boomCounting(keys, rate) }),
		},
		{
			name: "cuckoofilter", module: "github.com/seiflotfy/cuckoofilter", told: "NewFilter(n)", fixed: true,
			note:  "keys can be removed; fingerprints of 8 bits, a power of two of them: the load decides bits a key and rate",
			build: simple(seiflotfy),
		},
		{
			name: "FastFilter-8", module: "github.com/FastFilter/xorfilter", told: "NewBinaryFuse[uint8]", fixed: true,
			note:  "static; 1/256 whatever is asked for",
			build: binaryFuse[uint8](8, fuse8One),
		},
		{
			name: "FastFilter-16", module: "github.com/FastFilter/xorfilter", told: "NewBinaryFuse[uint16]", fixed: true,
			note:  "static; 1/65536 whatever is asked for",
			build: binaryFuse[uint16](16, fuse16One),
		},
		{
			name: "map", module: noModule, told: "map[uint64]struct{}, made for n", fixed: true,
			note:  "never wrong, and holds the keys themselves; bits are its heap",
			build: simple(goMap),
		},
	}
}

// simple is for libraries that do not fail.
func simple(f func(keys []uint64) built) func(context.Context, []uint64) (built, error) {
	return func(_ context.Context, keys []uint64) (built, error) { return f(keys), nil }
}

// bitsAndBlooms says how many bits it has.
//
//go:noinline
func bitsAndBlooms(keys []uint64, rate float64) built {
	f := bitsbloom.NewWithEstimates(uint(len(keys)), rate)
	var b [8]byte
	for _, k := range keys {
		binary.LittleEndian.PutUint64(b[:], k)
		f.Add(b[:])
	}
	return built{bits: uint64(f.Cap()), ask: func(keys []uint64) (n int) {
		var b [8]byte
		for _, k := range keys {
			binary.LittleEndian.PutUint64(b[:], k)
			if f.Test(b[:]) {
				n++
			}
		}
		return n
	}}
}

// holimanBloom says how many bits it has.
//
//go:noinline
func holimanBloom(keys []uint64, rate float64) (built, error) {
	f, err := holiman.NewOptimal(uint64(len(keys)), rate)
	if err != nil {
		return built{}, err
	}
	for _, k := range keys {
		f.AddHash(k)
	}
	return built{bits: f.M(), ask: func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.ContainsHash(k) {
				n++
			}
		}
		return n
	}}, nil
}

// splitBlocks returns the least number of blocks that keep a rate.
func splitBlocks(keys int, rate float64) int {
	blocks, _, err := blocked.Config{Keys: uint64(keys), Size: filter.Sizing{FPR: rate}, Layout: blocked.Split}.Geometry()
	if err != nil {
		panic(err) // the rate was checked
	}
	return int(blocks)
}

//go:noinline
func parquetSplitBlock(keys []uint64, blocks int) built {
	f := make(parquet.SplitBlockFilter, blocks)
	for _, k := range keys {
		f.Insert(xxhash.Sum64Uint64(k))
	}
	return built{bits: 8 * uint64(len(f.Bytes())), ask: func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Check(xxhash.Sum64Uint64(k)) {
				n++
			}
		}
		return n
	}}
}

// pebbleBits returns the fewest bits a key that keep a rate with pebble's number of probes, 0.69 of them rounded down, at most
// 30, if its hash were perfect.
func pebbleBits(keys int, rate float64) int {
	for bits := 2; ; bits++ {
		blocks := (uint64(keys)*uint64(bits) + 511) / 512
		if bits == 64 || blocked.FPR(uint64(keys), blocks, min(30, int(0.69*float64(bits))), blocked.Line) <= rate {
			return bits
		}
	}
}

// pebbleBloom asks as pebble does, through the policy. Type 0 is its only one, the filter of a table.
//
//go:noinline
func pebbleBloom(keys []uint64, bitsPerKey int) built {
	policy := pebble.FilterPolicy(bitsPerKey)
	w := policy.NewWriter(0)
	var b [8]byte
	for _, k := range keys {
		binary.LittleEndian.PutUint64(b[:], k)
		w.AddKey(b[:])
	}
	f := w.Finish(nil)
	return built{bits: 8 * uint64(len(f)), ask: func(keys []uint64) (n int) {
		var b [8]byte
		for _, k := range keys {
			binary.LittleEndian.PutUint64(b[:], k)
			if policy.MayContain(0, f, b[:]) {
				n++
			}
		}
		return n
	}}
}

// zBloom says how many bytes it has, 40 of them for its struct.
//
//go:noinline
func zBloom(keys []uint64, rate float64) built {
	f := z.NewBloomFilter(float64(len(keys)), rate)
	for _, k := range keys {
		f.Add(k)
	}
	return built{bits: 8 * uint64(f.TotalSize()-40), ask: func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Has(k) {
				n++
			}
		}
		return n
	}}
}

// boomCounting has four bits for each of the counters that it tells.
//
//go:noinline
func boomCounting(keys []uint64, rate float64) built {
	f := boom.NewDefaultCountingBloomFilter(uint(len(keys)), rate)
	var b [8]byte
	for _, k := range keys {
		binary.LittleEndian.PutUint64(b[:], k)
		f.Add(b[:])
	}
	return built{bits: 4 * uint64(f.Capacity()), ask: func(keys []uint64) (n int) {
		var b [8]byte
		for _, k := range keys {
			binary.LittleEndian.PutUint64(b[:], k)
			if f.Test(b[:]) {
				n++
			}
		}
		return n
	}}
}

//go:noinline
func seiflotfy(keys []uint64) built {
	f := cuckoo.NewFilter(uint(len(keys)))
	out := built{bits: seiflotfyBits(len(keys))}
	var b [8]byte
	for _, k := range keys {
		binary.LittleEndian.PutUint64(b[:], k)
		if !f.Insert(b[:]) {
			out.refused++
		}
	}
	out.ask = func(keys []uint64) (n int) {
		var b [8]byte
		for _, k := range keys {
			binary.LittleEndian.PutUint64(b[:], k)
			if f.Lookup(b[:]) {
				n++
			}
		}
		return n
	}
	return out
}

// seiflotfyBits is 8 for each of the next power of two, at least a bucket of four.
func seiflotfyBits(n int) uint64 {
	size := 4
	for size < n {
		size *= 2
	}
	return 8 * uint64(size)
}

// binaryFuse has a fingerprint of so many bits in each slot.
func binaryFuse[T xorfilter.Unsigned](width int, loop func(*xorfilter.BinaryFuse[T]) asker) func(context.Context, []uint64) (built, error) {
	return func(_ context.Context, keys []uint64) (built, error) {
		f, err := xorfilter.NewBinaryFuse[T](keys) // reorders nothing: only duplicates make it write
		if err != nil {
			return built{}, err
		}
		return built{bits: uint64(width) * uint64(len(f.Fingerprints)), ask: loop(f)}, nil
	}
}

//go:noinline
func fuse8One(f *xorfilter.BinaryFuse[uint8]) asker {
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Contains(k) {
				n++
			}
		}
		return n
	}
}

//go:noinline
func fuse16One(f *xorfilter.BinaryFuse[uint16]) asker {
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Contains(k) {
				n++
			}
		}
		return n
	}
}

//go:noinline
func goMap(keys []uint64) built {
	m := make(map[uint64]struct{}, len(keys))
	for _, k := range keys {
		m[k] = struct{}{}
	}
	return built{ask: func(keys []uint64) (n int) {
		for _, k := range keys {
			if _, ok := m[k]; ok {
				n++
			}
		}
		return n
	}}
}
