package kernel

import (
	"cmp"
	"math/bits"
	"reflect"
	"unsafe"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// Query answers whether a key may be in a set. For short keys and the most used filters, the assembly hashes the key
// and probes the filter in one call, and the methods are small enough to be inlined. askGo answers all other queries
// and is the specification. The zero Query is the query of a set without keys.
//
// A Query is as safe for concurrent use as its filter. It keeps no key.
type Query struct {
	// The assembly depends on the order of these fields.
	how   uint64         // what is probed; 0: the engine is asked
	probe unsafe.Pointer // Probe.at
	hash  uint64         // the hash function that the assembly has: hashXXH3, hashXXH64 or 0
	flips [3]uint64      // for XXH3: what is XORed with the words of a key

	hasher filter.Hasher
	filter Filter // nil if the set needs raw keys or is in an engine
	engine Engine // nil in the zero Query
	typed  bool   // the form of keys has a type
}

// Filter answers for the hash of a key.
type Filter interface{ Has(h filter.Hash) bool }

// Engine answers for the hash of a key, or if the set needs raw keys, for its bytes, which are not nil. It does not
// keep the bytes.
type Engine interface {
	Contains(h filter.Hash, raw []byte) bool
}

// Prober is a Filter that the assembly can probe.
type Prober interface{ Probe() Probe }

// Probe tells the assembly how to probe a filter. The zero Probe means that the assembly cannot.
type Probe struct {
	how uint64
	at  unsafe.Pointer // *Blocks, *Fuse, *Bits, *Chains, *Ribbon, *Slots, *Windows or *Shards
}

// The values of Query.how besides 0.
const (
	howSplit = 1 + iota
	howLine
	howBits
	howChains
	howRibbon
	howSlots
	howShards
	howGo // the filter is probed in Go
	howWindows
	howFuse8
	howFuse16
)

// The values of Query.hash besides 0.
const (
	hashXXH3  = 1
	hashXXH64 = 2
)

// These are passed as the length of a key: Hashed if it is a filter.Hash, Typed if it is a uint64 in the byte order of
// the machine, whose bytes depend on the type in the form of keys.
const (
	Hashed = -1
	Typed  = -2
)

// NewQuery returns a Query of a filter in memory, or of an engine if f is nil.
func NewQuery(h filter.Hasher, f Filter, e Engine) Query {
	q := Query{hasher: h, filter: f, engine: e, typed: h.Form().Type != filter.KeyBytes}
	if f != nil {
		q.how = howGo
	}

	if p, ok := f.(Prober); ok && probes {
		probe := p.Probe()
		q.how, q.probe = cmp.Or(probe.how, howGo), probe.at
	}

	switch h.ID() {
	case filter.XXH3: // see filter.Hasher.Sum
		seed := h.Seed()
		q.hash = hashXXH3
		q.flips = [3]uint64{
			(0x78E5C0CC4EE679CB ^ 0x2172FFCC7DD05A82) - seed,
			(0x8E2443F7744608B8 ^ 0x4C263A81E69035E0) + seed,
			(0xDB979083E96DD4DE ^ 0x1F67B3B7A4A44072) + (seed ^ uint64(bits.ReverseBytes32(uint32(seed)))<<32),
		}
	case filter.XXH64:
		q.hash = hashXXH64
	}
	return q
}

// Hasher returns the hasher of the keys.
func (q *Query) Hasher() filter.Hasher { return q.hasher }

// Hashes reports whether queries by hash read the filter itself, without an engine.
func (q *Query) Hashes() bool { return q.filter != nil }

// Bytes reports whether key may be in the set.
func (q *Query) Bytes(key []byte) bool { return q.Ask(unsafe.Pointer(unsafe.SliceData(key)), len(key)) }

// String reports whether key may be in the set.
func (q *Query) String(key string) bool {
	return q.Ask(unsafe.Pointer(unsafe.StringData(key)), len(key))
}

// Uint64 reports whether an integer, whose key has no type, may be in the set.
func (q *Query) Uint64(key uint64) bool {
	if !bitvec.LittleEndian {
		ToLittleEndian(&key)
	}
	return q.Ask(unsafe.Pointer(&key), 8)
}

// Integer returns the length that is passed for an integer: Typed, or 8 for its bytes, which it makes little endian.
func (q *Query) Integer(key *uint64) int {
	if q.typed {
		return Typed
	}
	if !bitvec.LittleEndian {
		ToLittleEndian(key)
	}
	return 8
}

// ToLittleEndian reverses the bytes of an integer; big-endian machines need it.
func ToLittleEndian(key *uint64) { *key = bits.ReverseBytes64(*key) }

// Hash reports whether a key with this hash may be in the set.
func (q *Query) Hash(h filter.Hash) bool { return q.Ask(unsafe.Pointer(&h), Hashed) }

// answerInGo answers a query without the assembly.
func (q *Query) answerInGo(key unsafe.Pointer, n int) bool {
	if n == Hashed {
		h := *(*filter.Hash)(key)
		if q.filter != nil {
			return q.filter.Has(h)
		}
		return q.engine != nil && q.engine.Contains(h, nil)
	}
	if n == Typed {
		return q.askTyped(*(*uint64)(key))
	}
	if q.filter != nil {
		return q.filter.Has(q.hasher.Sum(unsafe.Slice((*byte)(key), n)))
	}
	return q.askRaw(key, n)
}

// askTyped asks for an integer in a set whose form of keys has a type. No set has an integer without a key.
//
//go:noinline
func (q *Query) askTyped(key uint64) bool {
	b, err := q.hasher.Form().AppendUint64(make([]byte, 0, 20), key)
	return err == nil && q.Bytes(b)
}

// askRaw asks the engine for the bytes of a key.
//
//go:noinline
func (q *Query) askRaw(key unsafe.Pointer, n int) bool {
	raw := unsafe.Slice((*byte)(key), n)
	if raw == nil { // to an engine, nil means that it gets a hash
		raw = []byte{}
	}
	return q.engine != nil && q.engine.Contains(filter.Hash{}, raw)
}

// Probe returns the Probe of b.
func (b *Blocks) Probe() Probe {
	switch b.how {
	case bySplit:
		return Probe{howSplit, unsafe.Pointer(b)}
	case byLine:
		return Probe{howLine, unsafe.Pointer(b)}
	}
	return Probe{}
}

// Probe returns the Probe of c, for a filter whose own Has handles ChainBeyond.
func (c *Chains) Probe() Probe { return Probe{howChains, unsafe.Pointer(c)} }

// Probe returns the Probe of r.
func (r *Ribbon) Probe() Probe { return Probe{howRibbon, unsafe.Pointer(r)} }

// Probe returns the Probe of s.
func (s *Slots) Probe() Probe { return Probe{howSlots, unsafe.Pointer(s)} }

// Shards finds the shard of a key, as shard.Route does, in slots of ShardSize bytes. The first byte of a slot is 1 if
// the shard is loaded. The slot then contains, at ProbeOffset, the address of the shard's Probe, or nil if the shard is
// queried in Go.
type Shards struct {
	// The assembly depends on the order of these fields.
	Slots unsafe.Pointer
	Count uint64
}

// The layout of a slot.
const (
	ShardSize   = 64
	ProbeOffset = 56
)

// Probe returns the Probe of s.
func (s *Shards) Probe() Probe { return Probe{howShards, unsafe.Pointer(s)} }

// ProbeInShard returns the Probe of the filter of a shard, or nil if the filter has no Probe.
func ProbeInShard(f Filter) *Probe {
	p, ok := f.(Prober)
	if !ok || !probes {
		return nil
	}
	probe := p.Probe()
	if probe.how == 0 || probe.how == howChains { // howChains needs the filter of the Query
		return nil
	}
	return &probe
}

// Sums sets dst[i] to the hash of keys[i]. It prefetches the bytes of later keys, so that keys that are scattered in
// memory take half the time of calls of Sum. It panics if dst is shorter than keys.
func Sums[K filter.Key](dst []filter.Hash, h filter.Hasher, keys []K) {
	dst = dst[:len(keys)]
	switch kind := reflect.TypeFor[K]().Kind(); {
	case kind == reflect.Struct:
		copy(dst, bitvec.As[[]filter.Hash](keys))
		return
	case kind == reflect.Uint64 && (h.ID() == filter.XXH3 || h.ID() == filter.XXH64):
		h.SumUint64s(dst, bitvec.As[[]uint64](keys)) // which is faster than the assembly
		return
	}

	q := NewQuery(h, nil, nil)
	for i := 0; i < len(keys); i++ {
		i += q.sumKeys(dst[i:], unsafe.Pointer(&keys[i]), unsafe.Sizeof(keys[i]))
		if i < len(keys) { // the assembly stops at keys of some lengths
			dst[i] = filter.SumOf(h, keys[i])
		}
	}
}

// AskIntegers sets dst[i] to the answer for keys[i] and returns true, or returns false if it would be no faster than
// Sums and a batch of hashes. It panics if dst is shorter than keys.
func (q *Query) AskIntegers(dst []bool, keys []uint64) bool {
	if q.how < howFuse8 || q.hash != hashXXH3 || q.typed {
		return false
	}
	const most = 1024 // keys per call, which the scheduler cannot interrupt
	dst = dst[:len(keys)]
	for len(keys) > 0 {
		n := min(len(keys), most)
		q.fuseIntegers(dst[:n], keys[:n])
		dst, keys = dst[n:], keys[n:]
	}
	return true
}

// Fuse is a binary fuse filter with slots of 8 or 16 bits. Package fuse describes the layout.
type Fuse struct {
	// The assembly depends on the order of these fields.
	Words   []uint64
	Seed    uint64
	Count   uint64 // first positions
	Segment uint64 // slots per segment
}

// Probe returns the Probe of f for slots of width bits.
func (f *Fuse) Probe(width uint) Probe {
	switch width {
	case 8:
		return Probe{howFuse8, unsafe.Pointer(f)}
	case 16:
		return Probe{howFuse16, unsafe.Pointer(f)}
	}
	return Probe{}
}

// Bits is a standard Bloom filter. Package standard describes the layout.
type Bits struct {
	// The assembly depends on the order of these fields.
	Words []uint64
	M     uint64 // bits
	K     uint64 // probes per key, at least 1
}

// Probe returns the Probe of b.
func (b *Bits) Probe() Probe { return Probe{howBits, unsafe.Pointer(b)} }

// Windows is a Bloom filter whose keys choose among groups of bits. Package twochoice describes the layout.
type Windows struct {
	// The assembly depends on the order of these fields.
	Words  []uint64 // at least 32 bits follow the last shard
	Starts uint64   // positions of a shard at which a window starts
	K      uint64   // windows per key, at least 1
	Shards uint64
	Bytes  uint64 // of a shard; not used for a single shard
	All    uint64 // a bit per group, at most 25
	More   uint64 // windows that HasMany reads together after the first ones, at least 1
}

// Probe returns the Probe of w.
func (w *Windows) Probe() Probe { return Probe{howWindows, unsafe.Pointer(w)} }

// Peel is a system of equations whose solution is the slots of a binary fuse filter. Package fuse describes the fields
// and contains the same steps in Go, which are the specification. Methods return false if the machine has no assembly.
type Peel struct {
	// The assembly depends on the order of these fields.
	Xors    []uint64
	Uses    []uint8
	Mixed   []uint64
	Places  []uint8
	Single  []uint32
	Seed    uint64
	Count   uint64 // first positions
	Segment uint64 // slots per segment
	Top     uint64 // top of the stack Single
	Peeled  uint64 // keys that are left out
	after   [8]uint8
}

// nextPlaces are the places that follow 0, 1 and 2 by one, and from the fourth on by two.
var nextPlaces = [8]uint8{1, 2, 0, 0, 2, 0, 1, 0}
