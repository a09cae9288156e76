package kernel

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/bloomery/bloomery/filter"
)

// only holds one hash.
type only filter.Hash

func (o only) Has(h filter.Hash) bool { return h == filter.Hash(o) }

// TestQueryHashes compares the hashes of ask with filter.Hasher for keys of all lengths, by queries of a filter that
// contains one hash.
func TestQueryHashes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	xxh64, err := filter.ForeignHasher(filter.XXH64)
	if err != nil {
		t.Fatal(err)
	}
	hashers := []filter.Hasher{
		filter.NewHasher(0), filter.NewHasher(1), filter.NewHasher(r.Uint64()), xxh64,
		filter.NewKeyedHasher(filter.Secret{1}),
	}
	for _, h := range hashers {
		for n := range 300 {
			key := make([]byte, n)
			for i := range key {
				key[i] = byte(r.Uint32())
			}
			want := h.Sum(key)
			q := NewQuery(h, only(want), nil)
			if !q.Bytes(key) || !q.String(string(key)) || !q.Hash(want) {
				t.Fatalf("%s, seed %#x, %d bytes: another hash", h.ID(), h.Seed(), n)
			}
			if n == 0 {
				continue
			}
			key[r.IntN(n)] ^= 1 << r.IntN(8)
			if q.Bytes(key) || q.Hash(filter.Hash{Hi: want.Hi ^ 1, Lo: want.Lo}) ||
				q.Hash(filter.Hash{Hi: want.Hi, Lo: ^want.Lo}) {
				t.Fatalf("%s, %d bytes: the hash of another key", h.ID(), n)
			}
		}
	}
}

// TestSums hashes batches of keys of which the assembly can hash all, some or none.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	xxh64, err := filter.ForeignHasher(filter.XXH64)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []filter.Hasher{filter.NewHasher(r.Uint64()), xxh64, filter.NewKeyedHasher(filter.Secret{1})} {
		for _, most := range []int{1, 17, 200} {
			for _, n := range []int{0, 1, 2, 100, 1024, 1024 + 16, 1024 + 17, 3000} {
				texts, slices, got := make([]string, n), make([][]byte, n), make([]filter.Hash, n+1)
				for i := range texts {
					slices[i] = make([]byte, r.IntN(most))
					for j := range slices[i] {
						slices[i][j] = byte(r.Uint32())
					}
					texts[i] = string(slices[i])
				}
				for name, sum := range map[string]func(){
					"strings": func() { Sums(got, h, texts) }, "slices": func() { Sums(got, h, slices) },
				} {
					clear(got)
					sum()
					for i, text := range texts {
						if got[i] != h.SumString(text) {
							t.Fatalf("%s, %s, key %d of %d, %d bytes: another hash", h.ID(), name, i, n, len(text))
						}
					}
					if got[n] != (filter.Hash{}) {
						t.Fatalf("%s, %s, %d keys: one hash more", h.ID(), name, n)
					}
				}
			}
		}
	}
}

// raw is an Engine that contains all keys of its length, and one hash.
type raw int

func (r raw) Contains(h filter.Hash, key []byte) bool {
	if key == nil {
		return h == filter.Hash{Hi: 1, Lo: 2}
	}
	return len(key) == int(r)
}

// TestQueryOfEngine queries an Engine with unhashed keys.
func TestQueryOfEngine(t *testing.T) {
	for n := range 40 {
		q := NewQuery(filter.NewHasher(1), nil, raw(n))
		for m := range 40 {
			if got := q.Bytes(make([]byte, m)); got != (n == m) {
				t.Errorf("%d bytes where %d are held: %v", m, n, got)
			}
		}
		if !q.Hash(filter.Hash{Hi: 1, Lo: 2}) || q.Hash(filter.Hash{Hi: 1}) {
			t.Error("another answer for a hash")
		}
	}
	var none Query
	if none.Bytes(nil) || none.String("key") || none.Hash(filter.Hash{}) {
		t.Error("the zero Query holds a key")
	}
}

// TestQueryOnGrowingStack queries a key on a stack that must grow in the call into Go.
func TestQueryOnGrowingStack(t *testing.T) {
	h := filter.NewHasher(3)
	text := "a key of more than one hundred and twenty-eight bytes, for which the assembly calls the hash function in Go, " +
		"and the stack of a new goroutine has to grow on the way"
	q := NewQuery(h, only(h.SumString(text)), nil)
	for depth := range 400 {
		done := make(chan bool)
		go func() { done <- askBelow(&q, text, depth) }()
		if !<-done {
			t.Fatalf("depth %d: the key is lost", depth)
		}
	}
}

// askBelow queries key below depth nested calls.
//
//go:noinline
func askBelow(q *Query, key string, depth int) bool {
	var on [136]byte
	if depth > 0 {
		return askBelow(q, key, depth-1) && on[0] == 0
	}
	return q.Bytes(on[:copy(on[:], key)]) == (len(key) <= len(on)) && q.String(key)
}

// BenchmarkAsk queries a filter in Go, so that it measures the hash and the call.
func BenchmarkAsk(b *testing.B) {
	h := filter.NewHasher(1)
	q := NewQuery(h, only{}, nil)
	for _, n := range []int{8, 16, 25, 100} {
		key := make([]byte, n)
		b.Run(fmt.Sprintf("bytes=%d/how=ask", n), func(b *testing.B) {
			for b.Loop() {
				q.Bytes(key)
			}
		})
		b.Run(fmt.Sprintf("bytes=%d/how=go", n), func(b *testing.B) {
			for b.Loop() {
				q.filter.Has(h.Sum(key))
			}
		})
	}
}

// positions calls f with the positions of the probes of a key, by their definition: see package standard.
func (b *Bits) positions(h filter.Hash, f func(at uint64)) {
	x := h.Lo
	for range b.K {
		at, _ := bits.Mul64(x, b.M)
		f(at)
		x = bits.RotateLeft64(9*x, 25) + h.Hi
	}
}

// TestBits compares the code for many keys with the definition of their bits, for all numbers of probes, and for
// numbers of keys that do and do not fill groups.
func TestBits(t *testing.T) {
	if !probes {
		t.Skip("NOT TESTED: there is no assembly here")
	}
	r := rand.New(rand.NewPCG(11, 12))
	for k := uint64(1); k <= 64; k++ {
		for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 67, 128, 1027} {
			m := 1 + r.Uint64N(uint64(n+1)*k*3/2)
			b := &Bits{Words: make([]uint64, (m+63)/64), M: m, K: k}
			hs := make([]filter.Hash, n)
			for i := range hs {
				hs[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
			}
			want := slices.Clone(b.Words)
			for _, h := range hs {
				b.positions(h, func(at uint64) { want[at/64] |= 1 << (at % 64) })
			}
			if !b.AddMany(hs) || !slices.Equal(b.Words, want) {
				t.Fatalf("k=%d, %d keys: other bits", k, n)
			}
			for i := range hs { // some keys are absent
				if r.IntN(3) > 0 {
					hs[i].Lo = r.Uint64()
				}
			}
			got := make([]bool, n+1)
			got[n] = true
			if !b.HasMany(got, hs) || !got[n] {
				t.Fatalf("k=%d, %d keys: one answer more", k, n)
			}
			for i, h := range hs {
				has := true
				b.positions(h, func(at uint64) { has = has && want[at/64]>>(at%64)&1 == 1 })
				if got[i] != has {
					t.Fatalf("k=%d, key %d of %d: %v, want %v", k, i, n, got[i], has)
				}
			}
		}
	}
}

// TestWindows compares the code for many keys, and for one key, with the definition of their windows.
func TestWindows(t *testing.T) {
	if !probes {
		t.Skip("NOT TESTED: there is no assembly here")
	}
	r := rand.New(rand.NewPCG(13, 14))
	for k := uint64(1); k <= 64; k++ {
		for _, n := range []int{0, 1, 2, 63, 64, 65, 200} {
			c := 2 + r.Uint64N(24)
			w := &Windows{K: k, Shards: 1 + r.Uint64N(9), Bytes: 4 + r.Uint64N(60), All: 1<<c - 1, More: 1 + r.Uint64N(9)}
			w.Starts = 8*w.Bytes - c + 1
			w.Words = make([]uint64, w.Shards*w.Bytes/8+2)
			zeros := math.Pow(r.Float64(), 5)
			for i := range w.Shards * w.Bytes * 8 {
				if r.Float64() > zeros {
					w.Words[i/64] |= 1 << (i % 64)
				}
			}

			hs, got := make([]filter.Hash, n), make([]bool, n+1)
			for i := range hs {
				hs[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
			}
			if got[n] = true; !w.HasMany(got, hs) || !got[n] {
				t.Fatalf("k=%d, %d keys: one answer more", k, n)
			}
			q := Query{how: howWindows, probe: unsafe.Pointer(w)}
			for i, h := range hs {
				shard, by := bits.Mul64(h.Hi, w.Shards)
				all, x := w.All, h.Lo
				for range k {
					at, _ := bits.Mul64(x, w.Starts)
					for j := range c {
						if bit := shard*w.Bytes*8 + at + j; w.Words[bit/64]>>(bit%64)&1 == 0 {
							all &^= 1 << j
						}
					}
					x = bits.RotateLeft64(9*x, 25) + by
				}
				if got[i] != (all != 0) || q.Hash(h) != got[i] {
					t.Fatalf("k=%d, %d groups, key %d of %d: %v, %v, want %v", k, c, i, n, got[i], q.Hash(h), all != 0)
				}
			}
		}
	}
}
