package features

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/FastFilter/xorfilter"
	"github.com/bits-and-blooms/bloom/v3"
	pebble "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/dgraph-io/ristretto/v2/z"
	holiman "github.com/holiman/bloomfilter/v2"
	cuckoo "github.com/seiflotfy/cuckoofilter"

	"github.com/bloomery/bloomery/filter"
)

// shows returns v if all facts are true.
func shows(t *testing.T, v verdict, facts ...bool) verdict {
	t.Helper()
	for i, fact := range facts {
		if !fact {
			t.Errorf("fact %d of the proof does not hold", i+1)
		}
	}
	return v
}

// written returns what a function writes.
func written(write func(io.Writer) error) []byte {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// loaded returns the error of reading b.
func loaded[T any](load func(io.Reader) (T, error), b []byte) error {
	_, err := load(bytes.NewReader(b))
	return err
}

// keyed hashes keys with a secret. Callers must do this for a library that takes hashes.
var keyed = filter.NewKeyedHasher(filter.Secret([]byte("0123456789abcdef")))

var bitsAndBloomsProofs = map[string]func(t *testing.T) verdict{
	"Merge (union)": func(t *testing.T) verdict {
		a, b := bloom.New(1000, 3), bloom.New(1000, 3)
		b.AddString("b")
		return shows(t, yes, !a.TestString("b"), a.Merge(b) == nil, a.TestString("b"), a.Merge(bloom.New(999, 3)) != nil)
	},
	"Intersect": func(t *testing.T) verdict { // intersects the bits, which BitSet returns
		a, b := bloom.New(1000, 3), bloom.New(1000, 3)
		a.AddString("a").AddString("both")
		b.AddString("b").AddString("both")
		a.BitSet().InPlaceIntersection(b.BitSet())
		return shows(t, partial, a.TestString("both"), !a.TestString("a"))
	},
	"Clone": func(t *testing.T) verdict {
		a := bloom.New(1000, 3)
		b := a.Copy().AddString("b")
		return shows(t, yes, b.TestString("b"), !a.TestString("b"))
	},
	"Equal": func(t *testing.T) verdict {
		a, b := bloom.New(1000, 3), bloom.New(1000, 3)
		return shows(t, yes, a.Equal(b), !a.Equal(b.AddString("b")))
	},
	"Reset": func(t *testing.T) verdict {
		return shows(t, yes, !bloom.New(1000, 3).AddString("a").ClearAll().TestString("a"))
	},
	"Number of keys, estimated from bits": func(t *testing.T) verdict {
		f := bitsAndBlooms().value.(*bloom.BloomFilter)
		return shows(t, yes, f.ApproximatedSize() > 950, f.ApproximatedSize() < 1050)
	},
	"Keys in common, with an interval": func(t *testing.T) verdict { // from the sizes of both and of their union
		a, b := bloom.New(20000, 5), bloom.New(20000, 5)
		for n := range uint64(1000) {
			a.Add(le(n))
			b.Add(le(n + 700))
		}
		both := a.Copy()
		must(both.Merge(b))
		common := a.ApproximatedSize() + b.ApproximatedSize() - both.ApproximatedSize()
		return shows(t, partial, common > 250, common < 350)
	},
	"Test and add in one call": func(t *testing.T) verdict {
		f := bloom.New(1000, 3)
		return shows(t, yes, !f.TestAndAddString("a"), f.TestAndAdd([]byte("a")))
	},
	"Queries on bytes without a copy": func(t *testing.T) verdict { // reads words, not a file with its header
		words := make([]uint64, 16)
		f := bloom.From(words, 3).AddString("a")
		changed := !slices.Equal(words, make([]uint64, 16))
		return shows(t, partial, changed, bloom.From(words, 3).TestString("a"), f.Cap() == 1024)
	},
}

var xorProofs = map[string]func(t *testing.T) verdict{
	"MarshalBinary and UnmarshalBinary": saveAndLoad,
	"io.WriterTo and io.ReaderFrom":     saveAndLoad,
	"Generic functions or types": func(t *testing.T) verdict {
		f := check(xorfilter.NewBinaryFuse[uint16]([]uint64{1, 2, 3}))
		return shows(t, yes, f.Contains(2))
	},
	"Queries on bytes without a copy": func(t *testing.T) verdict { // the caller stores the other fields
		f := xor().value.(*xorfilter.BinaryFuse[uint8])
		file := bytes.Clone(f.Fingerprints)
		g := *f
		g.Fingerprints = file
		return shows(t, partial, g.Contains(7))
	},
	"Keyed hash (secret)": func(t *testing.T) verdict {
		f := check(xorfilter.NewBinaryFuse[uint8]([]uint64{keyed.SumString("a").Lo, 1, 2}))
		return shows(t, partial, f.Contains(keyed.SumString("a").Lo))
	},
}

func saveAndLoad(t *testing.T) verdict {
	f := check(xorfilter.NewBinaryFuse[uint8]([]uint64{1, 2, 3}))
	g := check(xorfilter.LoadBinaryFuse[uint8](bytes.NewReader(written(f.Save))))
	return shows(t, partial, g.Contains(1), g.Contains(3))
}

var holimanProofs = map[string]func(t *testing.T) verdict{
	"Merge (union)": func(t *testing.T) verdict {
		a := check(holiman.New(1000, 3))
		b := check(a.NewCompatible())
		b.AddHash(5)
		other := check(holiman.New(1000, 3))
		return shows(t, yes, !a.ContainsHash(5), a.UnionInPlace(b) == nil, a.ContainsHash(5), a.UnionInPlace(other) != nil)
	},
	"Clone": func(t *testing.T) verdict {
		a := check(holiman.New(1000, 3))
		b := check(a.Copy())
		b.AddHash(5)
		return shows(t, yes, b.ContainsHash(5), !a.ContainsHash(5))
	},
	"Number of keys, estimated from bits": func(t *testing.T) verdict { // N counts calls
		f := check(holiman.New(1000, 3))
		f.AddHash(5)
		f.AddHash(5)
		return shows(t, partial, f.N() == 2)
	},
	"Writes from many goroutines": func(t *testing.T) verdict {
		f := check(holiman.NewOptimal(4000, 0.01))
		fourTimes(func(g uint64) {
			for n := range uint64(1000) {
				f.AddHash(callers.SumUint64(g<<32 | n).Lo)
			}
		})
		missing := 0
		for g := range uint64(4) {
			for n := range uint64(1000) {
				if !f.ContainsHash(callers.SumUint64(g<<32 | n).Lo) {
					missing++
				}
			}
		}
		return shows(t, yes, missing == 0, f.N() == 4000)
	},
	"Keyed hash (secret)": func(t *testing.T) verdict {
		f := check(holiman.New(1000, 3))
		f.AddHash(keyed.SumString("a").Lo)
		return shows(t, partial, f.ContainsHash(keyed.SumString("a").Lo))
	},
}

// fourTimes calls f from four goroutines at once.
func fourTimes(f func(g uint64)) {
	var wg sync.WaitGroup
	for g := range uint64(4) {
		wg.Go(func() { f(g) })
	}
	wg.Wait()
}

// The filter of a table is a []byte, which package bytes can clone and compare.
var pebbleProofs = map[string]func(t *testing.T) verdict{
	"MarshalBinary and UnmarshalBinary": func(t *testing.T) verdict {
		return shows(t, partial, pebbleHas(pebbleFilter("a"), "a"))
	},
	"Clone": func(t *testing.T) verdict {
		return shows(t, partial, pebbleHas(bytes.Clone(pebbleFilter("a")), "a"))
	},
	"Equal": func(t *testing.T) verdict {
		a, again, b := pebbleFilter("a"), pebbleFilter("a"), pebbleFilter("b")
		return shows(t, partial, bytes.Equal(a, again), !bytes.Equal(a, b))
	},
	"Options": func(t *testing.T) verdict { // bits per key, and nothing else
		w := pebble.FilterPolicy(20).NewWriter(0)
		w.AddKey([]byte("a"))
		return shows(t, no, len(w.Finish(nil)) > 0)
	},
	"Queries on bytes without a copy": func(t *testing.T) verdict {
		f := append([]byte("before"), pebbleFilter("a")...)[len("before"):]
		return shows(t, yes, pebbleHas(f, "a"), !pebbleHas(f, "b"))
	},
}

func pebbleFilter(key string) []byte {
	w := pebble.FilterPolicy(10).NewWriter(0)
	w.AddKey([]byte(key))
	return w.Finish(nil)
}

func pebbleHas(f []byte, key string) bool {
	return pebble.FilterPolicy(10).MayContain(0, f, []byte(key))
}

var zProofs = map[string]func(t *testing.T) verdict{
	"JSON": func(t *testing.T) verdict { // json.Marshal loses the bits without an error: see jsonTrip
		s := zBloom()
		back := check(z.JSONUnmarshal(s.value.(*z.Bloom).JSONMarshal()))
		return shows(t, partial, whole(s, back))
	},
	"Reset": func(t *testing.T) verdict {
		f := z.NewBloomFilter(100, 0.01)
		f.Add(5)
		f.Clear()
		return shows(t, yes, !f.Has(5))
	},
	"Number of keys, estimated from bits": func(t *testing.T) verdict { // ElemNum counts k for each Add
		f := z.NewBloomFilter(100, 3)
		f.Add(5)
		f.Add(5)
		return shows(t, partial, f.ElemNum == 6)
	},
	"Test and add in one call": func(t *testing.T) verdict {
		f := z.NewBloomFilter(100, 0.01)
		return shows(t, yes, f.AddIfNotHas(5), !f.AddIfNotHas(5))
	},
	"Generic functions or types": func(t *testing.T) verdict {
		type named string
		a, _ := z.KeyToHash(named("a"))
		b, _ := z.KeyToHash("a")
		return shows(t, yes, a == b)
	},
	"Keyed hash (secret)": func(t *testing.T) verdict {
		f := z.NewBloomFilter(100, 0.01)
		f.Add(keyed.SumString("a").Lo)
		return shows(t, partial, f.Has(keyed.SumString("a").Lo))
	},
}

var cuckooProofs = map[string]func(t *testing.T) verdict{
	"MarshalBinary and UnmarshalBinary": func(t *testing.T) verdict {
		s := cuckooFilter()
		back := check(cuckoo.Decode(s.value.(*cuckoo.Filter).Encode()))
		return shows(t, partial, whole(s, back))
	},
	"Reset": func(t *testing.T) verdict {
		f := cuckoo.NewFilter(100)
		f.Insert([]byte("a"))
		f.Reset()
		return shows(t, yes, !f.Lookup([]byte("a")), f.Count() == 0)
	},
	"Number of keys, estimated from bits": func(t *testing.T) verdict { // Count counts calls of Insert
		f := cuckoo.NewFilter(100)
		return shows(t, partial, f.Insert([]byte("a")), f.Insert([]byte("a")), f.Count() == 2)
	},
	"Test and add in one call": func(t *testing.T) verdict { // false for a present key and for a full filter
		f := cuckoo.NewFilter(4)
		first, again := f.InsertUnique([]byte("a")), f.InsertUnique([]byte("a"))
		full := errors.New("not full")
		for n := range uint64(100) {
			if key := le(n); !f.InsertUnique(key) && !f.Lookup(key) {
				full = nil
			}
		}
		return shows(t, partial, first, !again, full == nil)
	},
	"Options": func(t *testing.T) verdict { // functions on unexported fields: callers cannot write their own
		return shows(t, no, cuckoo.NewScalableCuckooFilter().Insert([]byte("a")))
	},
	"Remove a key": func(t *testing.T) verdict {
		f := cuckoo.NewFilter(100)
		return shows(t, yes, f.Insert([]byte("a")), f.Delete([]byte("a")), !f.Lookup([]byte("a")), !f.Delete([]byte("a")))
	},
	"Keyed hash (secret)": func(t *testing.T) verdict { // one function for all filters of the program
		cuckoo.SetDefaultHasher(sipHash{})
		f := cuckoo.NewFilter(100)
		return shows(t, partial, f.Insert([]byte("a")), f.Lookup([]byte("a")))
	},
}

// sipHash is a cuckoo.Hasher with a secret. As in the other tests, filters are built and queried with one function.
type sipHash struct{}

func (sipHash) Hash64(data []byte) uint64 { return keyed.Sum(data).Lo }
