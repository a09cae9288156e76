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

	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/blocked"
)

// peers returns the filters of other libraries. Each is built for the target rate if it has a parameter for the rate,
// uses its own hash function, and receives keys in its own form: an integer, or 8 bytes in a reused buffer.
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
			note:  "the caller hashes: here the key is its own hash, at no cost; every query takes a lock",
			build: func(_ context.Context, keys []uint64) (built, error) { return holimanBloom(keys, rate) },
		},
		{
			name: "parquet-go", module: "github.com/parquet-go/parquet-go", told: fmt.Sprintf("SplitBlockFilter of %d blocks", blocks),
			note:  "takes no rate: as many blocks as blocked-split needs for it",
			build: simple(func(keys []uint64) built { return parquetSplitBlock(keys, blocks) }),
		},
		{
			name: "pebble", module: "github.com/cockroachdb/pebble/v2", told: fmt.Sprintf("FilterPolicy(%d)", lineBits),
			note:  "takes whole bits per key: the fewest that meet the rate in theory; hashes of 32 bits",
			build: simple(func(keys []uint64) built { return pebbleBloom(keys, lineBits) }),
		},
		{
			name: "z.Bloom", module: "github.com/dgraph-io/ristretto/v2", told: fmt.Sprintf("NewBloomFilter(n, %g)", rate),
			note:  "a power of two bits; the caller hashes: here the key is its own hash, as with z.KeyToHash",
			build: simple(func(keys []uint64) built { return zBloom(keys, rate) }),
		},
		{
			name: "BoomFilters", module: "github.com/tylertreat/BoomFilters", told: fmt.Sprintf("NewDefaultCountingBloomFilter(n, %g)", rate),
			note:  "keys can be removed and counted; 64-bit FNV-1",
			build: simple(func(keys []uint64) built { return boomCounting(keys, rate) }),
		},
		{
			name: "cuckoofilter", module: "github.com/seiflotfy/cuckoofilter", told: "NewFilter(n)", fixed: true,
			note:  "keys can be removed; a power of two fingerprints of 8 bits: size and rate depend on the load",
			build: simple(seiflotfy),
		},
		{
			name: "FastFilter-8", module: "github.com/FastFilter/xorfilter", told: "NewBinaryFuse[uint8]", fixed: true,
			note:  "static; fixed rate of 1/256; takes integers and mixes them: no hash of the key",
			build: binaryFuse[uint8](8, fuse8One),
		},
		{
			name: "FastFilter-8-XXH3", module: "github.com/FastFilter/xorfilter", told: "NewBinaryFuse[uint8] of XXH3", fixed: true,
			note:  "the same of hashes of the keys, by our function, as a program needs it whose keys are not integers",
			build: hashedFuse,
		},
		{
			name: "FastFilter-16", module: "github.com/FastFilter/xorfilter", told: "NewBinaryFuse[uint16]", fixed: true,
			note:  "static; fixed rate of 1/65536; takes integers and mixes them: no hash of the key",
			build: binaryFuse[uint16](16, fuse16One),
		},
		{
			name: "map", module: noModule, told: "make(map[uint64]struct{}, n)", fixed: true,
			note:  "exact: holds the keys; bits are of its heap",
			build: simple(goMap),
		},
	}
}

// simple adapts a build that cannot fail.
func simple(f func(keys []uint64) built) func(context.Context, []uint64) (built, error) {
	return func(_ context.Context, keys []uint64) (built, error) { return f(keys), nil }
}

// bitsAndBlooms builds a bits-and-blooms filter. Its size is Cap.
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

// holimanBloom builds a holiman filter. Its size is M.
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

// splitBlocks returns the smallest number of split blocks that meets a rate.
func splitBlocks(keys int, rate float64) int {
	blocks, _, err := blocked.Config{Keys: uint64(keys), Size: family.Sizing{FPR: rate}, Layout: blocked.Split}.Geometry()
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

// pebbleBits returns the smallest number of bits per key that meets a rate with a perfect hash and pebble's number of
// probes: 0.69 times the bits per key, rounded down, at most 30.
func pebbleBits(keys int, rate float64) int {
	for bits := 2; ; bits++ {
		blocks := (uint64(keys)*uint64(bits) + 511) / 512
		if bits == 64 || blocked.FPR(uint64(keys), blocks, min(30, int(0.69*float64(bits))), blocked.Line) <= rate {
			return bits
		}
	}
}

// pebbleBloom queries as pebble does, through the policy. Type 0, the filter of a table, is the only one.
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

// zBloom builds a ristretto filter. Its size is TotalSize without the 40 bytes of its struct.
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

// boomCounting builds a counting filter. Its size is 4 bits for each of its Capacity counters.
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

// seiflotfyBits returns the size in bits: 8 bits times n rounded up to a power of two, at least 4 fingerprints.
func seiflotfyBits(n int) uint64 {
	size := 4
	for size < n {
		size *= 2
	}
	return 8 * uint64(size)
}

// binaryFuse returns the build of a binary fuse filter with fingerprints of width bits.
func binaryFuse[T xorfilter.Unsigned](
	width int, loop func(*xorfilter.BinaryFuse[T]) asker,
) func(context.Context, []uint64) (built, error) {
	return func(_ context.Context, keys []uint64) (built, error) {
		f, err := xorfilter.NewBinaryFuse[T](keys) // writes to keys only if there are duplicates
		if err != nil {
			return built{}, err
		}
		return built{bits: uint64(width) * uint64(len(f.Fingerprints)), ask: loop(f)}, nil
	}
}

// hashedFuse builds a binary fuse filter of hashes of the keys.
func hashedFuse(_ context.Context, keys []uint64) (built, error) {
	hashes := make([]uint64, len(keys))
	for i, k := range keys {
		hashes[i] = hasher.SumUint64(k).Lo
	}
	f, err := xorfilter.NewBinaryFuse[uint8](hashes)
	if err != nil {
		return built{}, err
	}
	return built{bits: 8 * uint64(len(f.Fingerprints)), ask: hashedFuseOne(f)}, nil
}

//go:noinline
func hashedFuseOne(f *xorfilter.BinaryFuse[uint8]) asker {
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if f.Contains(hasher.SumUint64(k).Lo) {
				n++
			}
		}
		return n
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
