package features

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/FastFilter/xorfilter"
	"github.com/bits-and-blooms/bloom/v3"
	pebble "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/dgraph-io/ristretto/v2/z"
	holiman "github.com/holiman/bloomfilter/v2"
	cuckoo "github.com/seiflotfy/cuckoofilter"

	"github.com/bloomery/bloomery/filter"
)

// library is a column of the table.
type library struct {
	name  string   // the heading of the column
	path  string   // path of the package
	types []string // the exported types that are the filter or make one
	proof map[string]func(t *testing.T) verdict
	make  func() subject
}

// subject is a filter of 1000 keys, the numbers 0 to 999 as integers or eight bytes, and the operations of a caller on
// it.
type subject struct {
	value any        // the filter, as encodings take it
	fresh func() any // an empty one to decode into
	// has reports whether v, which is value or a result of fresh, contains a number.
	has func(v any, n uint64) bool
	// Queries for a string, an integer and bytes on the stack. callerHashes is true if they hash the key with a
	// function that is not part of the library.
	text, integer, stack func()
	callerHashes         [3]bool
	// save and load use the library's own stored form. They are nil if it has none.
	save func() []byte
	load func(b []byte) error
}

// verdict is the first word of a cell.
type verdict string

const (
	yes     verdict = "yes"
	partial verdict = "partial"
	no      verdict = "no"
)

const subjectKeys = 1000

// long is a key that is too long for the buffer that the compiler keeps on the stack for conversions.
var long = fmt.Sprintf("%064d", 7)

// callers hashes keys for libraries that take hashes.
var callers = filter.NewHasher(0)

// le returns the eight bytes of a number.
func le(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

// sink keeps queries from being optimized away.
var sink bool

// libraries returns the columns of the table, ours first.
func libraries() []library {
	return []library{
		bloomeryColumn(),
		{
			name: "bits-and-blooms", path: "github.com/bits-and-blooms/bloom/v3", types: []string{"BloomFilter"},
			make: bitsAndBlooms, proof: bitsAndBloomsProofs,
		},
		{
			name: "xorfilter", path: "github.com/FastFilter/xorfilter",
			types: []string{"BinaryFuse", "BinaryFuse8", "BinaryFuseBuilder", "Xor8"},
			make:  xor, proof: xorProofs,
		},
		{
			name: "holiman", path: "github.com/holiman/bloomfilter/v2", types: []string{"Filter"},
			make: holimanBloom, proof: holimanProofs,
		},
		{
			name: "pebble", path: "github.com/cockroachdb/pebble/v2/bloom", types: []string{"FilterPolicy"},
			make: pebbleBloom, proof: pebbleProofs,
		},
		{
			name: "ristretto z", path: "github.com/dgraph-io/ristretto/v2/z", types: []string{"Bloom", "Key"},
			make: zBloom, proof: zProofs,
		},
		{
			name: "cuckoofilter", path: "github.com/seiflotfy/cuckoofilter",
			types: []string{"Filter", "ScalableCuckooFilter", "Hasher", "Store"},
			make:  cuckooFilter, proof: cuckooProofs,
		},
	}
}

func bitsAndBlooms() subject {
	f := bloom.NewWithEstimates(subjectKeys, 0.001)
	for n := range uint64(subjectKeys) {
		f.Add(le(n))
	}
	return subject{
		value: f, fresh: func() any { return new(bloom.BloomFilter) },
		has:  func(v any, n uint64) bool { return v.(*bloom.BloomFilter).Test(le(n)) },
		text: func() { sink = f.TestString(long) },
		integer: func() {
			var key [8]byte
			binary.LittleEndian.PutUint64(key[:], 7)
			sink = f.Test(key[:])
		},
		stack: func() {
			var key [16]byte
			sink = f.Test(key[:])
		},
		save: func() []byte { return check(f.MarshalBinary()) },
		load: func(b []byte) error { return new(bloom.BloomFilter).UnmarshalBinary(b) },
	}
}

func xor() subject {
	keys := make([]uint64, subjectKeys)
	for n := range keys {
		keys[n] = uint64(n)
	}
	f := check(xorfilter.NewBinaryFuse[uint8](keys))
	return subject{
		value: f, fresh: func() any { return new(xorfilter.BinaryFuse[uint8]) },
		has:     func(v any, n uint64) bool { return v.(*xorfilter.BinaryFuse[uint8]).Contains(n) },
		text:    func() { sink = f.Contains(callers.SumString(long).Lo) },
		integer: func() { sink = f.Contains(7) },
		stack: func() {
			var key [16]byte
			sink = f.Contains(callers.Sum(key[:]).Lo)
		},
		callerHashes: [3]bool{true, false, true},
		save:         func() []byte { return written(f.Save) },
		load:         func(b []byte) error { return loaded(xorfilter.LoadBinaryFuse[uint8], b) },
	}
}

func holimanBloom() subject {
	f := check(holiman.NewOptimal(subjectKeys, 0.001))
	for n := range uint64(subjectKeys) {
		f.AddHash(callers.SumUint64(n).Lo)
	}
	return subject{
		value: f, fresh: func() any { return new(holiman.Filter) },
		has:     func(v any, n uint64) bool { return v.(*holiman.Filter).ContainsHash(callers.SumUint64(n).Lo) },
		text:    func() { sink = f.ContainsHash(callers.SumString(long).Lo) },
		integer: func() { sink = f.ContainsHash(callers.SumUint64(7).Lo) },
		stack: func() {
			var key [16]byte
			sink = f.ContainsHash(callers.Sum(key[:]).Lo)
		},
		callerHashes: [3]bool{true, true, true},
		save:         func() []byte { return check(f.MarshalBinary()) },
		load:         func(b []byte) error { return new(holiman.Filter).UnmarshalBinary(b) },
	}
}

// pebbleBloom returns the subject for the filter of a table. The filter is a byte slice that a FilterPolicy queries.
func pebbleBloom() subject {
	policy := pebble.FilterPolicy(15)
	w := policy.NewWriter(0)
	for n := range uint64(subjectKeys) {
		w.AddKey(le(n))
	}
	f := w.Finish(nil)
	return subject{
		value: &f, fresh: func() any { return new([]byte) },
		has:  func(v any, n uint64) bool { return policy.MayContain(0, *v.(*[]byte), le(n)) },
		text: func() { sink = policy.MayContain(0, f, []byte(long)) },
		integer: func() {
			var key [8]byte
			binary.LittleEndian.PutUint64(key[:], 7)
			sink = policy.MayContain(0, f, key[:])
		},
		stack: func() {
			var key [16]byte
			sink = policy.MayContain(0, f, key[:])
		},
		save: func() []byte { return f },
		load: func([]byte) error { return nil },
	}
}

func zBloom() subject {
	f := z.NewBloomFilter(subjectKeys, 0.001)
	for n := range uint64(subjectKeys) {
		f.Add(callers.SumUint64(n).Lo)
	}
	return subject{
		value: f, fresh: func() any { return new(z.Bloom) },
		has: func(v any, n uint64) bool { return v.(*z.Bloom).Has(callers.SumUint64(n).Lo) },
		text: func() {
			h, _ := z.KeyToHash(long)
			sink = f.Has(h)
		},
		integer: func() {
			h, _ := z.KeyToHash(uint64(7))
			sink = f.Has(h)
		},
		stack: func() {
			var key [16]byte
			h, _ := z.KeyToHash(key[:])
			sink = f.Has(h)
		},
		save: f.JSONMarshal,
		load: func(b []byte) error {
			_, err := z.JSONUnmarshal(b)
			return err
		},
	}
}

func cuckooFilter() subject {
	f := cuckoo.NewFilter(2 * subjectKeys)
	for n := range uint64(subjectKeys) {
		f.Insert(le(n))
	}
	return subject{
		value: f, fresh: func() any { return new(cuckoo.Filter) },
		has:  func(v any, n uint64) bool { return v.(*cuckoo.Filter).Lookup(le(n)) },
		text: func() { sink = f.Lookup([]byte(long)) },
		integer: func() {
			var key [8]byte
			binary.LittleEndian.PutUint64(key[:], 7)
			sink = f.Lookup(key[:])
		},
		stack: func() {
			var key [16]byte
			sink = f.Lookup(key[:])
		},
		save: f.Encode,
		load: func(b []byte) error {
			_, err := cuckoo.Decode(b)
			return err
		},
	}
}
