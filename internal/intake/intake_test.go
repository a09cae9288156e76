package intake

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
)

const testKeys = 10_000

var hasher = filter.NewHasher(7)

// testKey returns the i-th key, and its value.
func testKey(i int) (key string, value uint64) { return fmt.Sprint("key-", i), uint64(i) & 255 }

// recorder is a Sink that stores hashes and values.
type recorder struct {
	mu     sync.Mutex
	bits   int
	got    map[filter.Hash]uint64
	n      int
	closed int
}

func (r *recorder) AddMany(hs []filter.Hash) error { return r.AddValues(hs, make([]uint64, len(hs))) }

func (r *recorder) AddValues(hs []filter.Hash, values []uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, h := range hs {
		r.got[h] = values[i]
	}
	r.n += len(hs)
	return nil
}

func (r *recorder) ValueBits() (int, error) { return r.bits, nil }

func (r *recorder) Close() error { r.closed++; return nil }

func newRecorder(bits int) *recorder { return &recorder{bits: bits, got: map[filter.Hash]uint64{}} }

// want returns the expected content of a recorder after all keys.
func want(values bool) map[filter.Hash]uint64 {
	all := map[filter.Hash]uint64{}
	for i := range testKeys {
		key, value := testKey(i)
		if !values {
			value = 0
		}
		all[hasher.SumString(key)] = value
	}
	return all
}

// add adds all keys from four goroutines, each by another method.
func add(t *testing.T, in *Intake, values bool) {
	t.Helper()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			keys, hs, vs := [][]byte{}, []filter.Hash{}, []uint64{}
			for i := g * testKeys / 4; i < (g+1)*testKeys/4; i++ {
				k, v := testKey(i)
				keys, hs, vs = append(keys, []byte(k)), append(hs, hasher.SumString(k)), append(vs, v)
			}
			seq := func(yield func([]byte, uint64) bool) {
				for i := 0; i < len(keys) && yield(keys[i], vs[i]); i++ {
				}
			}
			var err error
			switch way := (map[bool]int{true: 4}[values]) + g; way {
			case 0:
				for i := range keys[:len(keys)/2] {
					err = errors.Join(err, in.Add(keys[2*i]), in.AddString(string(keys[2*i+1])))
				}
			case 1:
				err = in.AddMany(keys)
			case 2:
				err = in.AddHashes(hs)
			case 3:
				err = Feed(t.Context(), in, slices.Values(keys))
			case 4:
				for i, h := range hs {
					err = errors.Join(err, in.AddValueHash(h, vs[i]))
				}
			case 5:
				err = in.AddManyValues(keys, vs)
			case 6:
				err = in.AddValueHashes(hs, vs)
			case 7:
				err = FeedValues(t.Context(), in, seq)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := in.Flush(); err != nil {
		t.Error(err)
	}
	if err := in.Check(testKeys, values); err != nil {
		t.Error(err)
	}
	if err := in.Check(testKeys-1, false); !errors.Is(err, filter.ErrKeys) {
		t.Errorf("wrong number: %v", err)
	}
	if err := in.Check(0, !values); !values && !errors.Is(err, filter.ErrConfig) {
		t.Errorf("no values: %v", err)
	}
}

// TestSources adds keys from all sources, with and without values, and with and without a spool.
func TestSources(t *testing.T) {
	for _, values := range []bool{false, true} {
		for _, counted := range []bool{false, !values} { // a spool does not support values
			for _, keep := range []bool{false, true} {
				r := newRecorder(8)
				in := New(hasher, r)
				if counted {
					in = Counted(hasher, 1<<10, t.TempDir(), NoValues(filter.Spec{}))
					if err := in.AddValueHash(filter.Hash{}, 1); !errors.Is(err, errNoSpec) {
						t.Error(err)
					}
				}
				if keep {
					in.Keep(1<<10, t.TempDir())
				}
				add(t, in, values)
				if counted != in.Counting() {
					t.Error("Counting is wrong")
				}
				if counted {
					if err := in.Start(t.Context(), r); err != nil {
						t.Fatal(err)
					}
				}
				if r.n != testKeys || !maps.Equal(r.got, want(values)) {
					t.Errorf("values %v, counted %v, keep %v: the Sink has %d keys", values, counted, keep, r.n)
				}
				if keep {
					members := newRecorder(0)
					err := in.Members(t.Context(), members.AddMany)
					if err != nil || !maps.Equal(members.got, want(false)) {
						t.Errorf("Members: %v, or other keys", err)
					}
				}
				if err := errors.Join(in.Close(ErrSpent), in.Close(ErrSpent)); err != nil {
					t.Error(err)
				}
				key := [][]byte{{1}}
				for i, err := range []error{
					in.Add(key[0]), in.AddString("a"), in.AddMany(key), in.AddHashes(nil), in.Flush(),
					in.AddManyValues(key, []uint64{1}), in.AddValueHash(filter.Hash{}, 1),
					Feed(t.Context(), in, slices.Values(key)),
				} {
					if !errors.Is(err, ErrSpent) {
						t.Errorf("way %d after Close: %v", i, err)
					}
				}
			}
		}
	}
}

// TestShards adds more keys to Shards than fit into its memory, and passes them on.
func TestShards(t *testing.T) {
	for text, static := range map[string]bool{
		"ribbon(value_bits=8)": true, "rankindexed(value_bits=8)": false, "standard": false,
	} {
		spec, err := filter.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		const shards = 3
		s := NewShards(shards, 1, t.TempDir(), spec, nil)
		in := New(hasher, s)
		values := family.Given(spec, "value_bits")
		if err := in.AddValueHash(filter.Hash{}, 256); err == nil || values != errors.Is(err, filter.ErrConfig) {
			t.Errorf("%s: a value: %v", text, err)
		}
		add(t, in, values)
		to := newRecorder(8)
		next := New(hasher, to)
		var keys uint64
		for i := range shards {
			keys += s.Keys(i)
			if err := s.Pass(t.Context(), i, next); err != nil {
				t.Fatal(err)
			}
		}
		all := map[filter.Hash]uint64{}
		for h, v := range want(values) {
			if static { // the value is in the low half of Lo
				h = hashes.WithValue(h, v)
			}
			all[h] = v
		}
		if keys != testKeys || to.n != testKeys || !maps.Equal(to.got, all) {
			t.Errorf("%s: %d keys in shards, %d passed on, or others", text, keys, to.n)
		}
		if err := in.Close(ErrSpent); err != nil {
			t.Error(err)
		}
	}
}

// TestList checks that an error names a key by its text in the list, or else by the text that the caller gives.
func TestList(t *testing.T) {
	keys := [][]byte{[]byte("b"), []byte("a")}
	l, err := NewList(t.Context(), slices.Values(keys), hasher, hashes.NewByShard(2, 1, t.TempDir()))
	if err != nil || l.Count(0)+l.Count(1) != 2 {
		t.Fatal(err)
	}
	if err := errors.Join(l.Err(t.Context()), (*List)(nil).Err(t.Context())); err != nil {
		t.Error(err)
	}
	l.Both(map[filter.Hash]string{hasher.SumString("a"): "hash", hasher.SumString("c"): "other"})
	var both *filter.AllowedError
	if !errors.As(l.Err(t.Context()), &both) || !slices.Equal(both.Keys, []string{"a", "other"}) {
		t.Errorf("%v", both)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestStart checks that the Sink passed to Start receives the counted keys and all later keys, from every source, and
// is closed.
func TestStart(t *testing.T) {
	in := Counted(hasher, 1<<10, t.TempDir(), NoValues(filter.Spec{}))
	want := map[filter.Hash]uint64{}
	more := func(from int) {
		t.Helper()
		var hs []filter.Hash
		for i := from; i < from+1000; i++ {
			hs = append(hs, filter.Hash{Hi: uint64(i)})
			want[hs[len(hs)-1]] = 0
		}
		err := in.AddHashes(hs[:500])
		for _, h := range hs[500:] {
			err = errors.Join(err, in.AddHash(h))
		}
		if err := errors.Join(err, in.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	more(0)
	r := newRecorder(8)
	if err := in.Start(t.Context(), r); err != nil || in.Counting() || !maps.Equal(r.got, want) {
		t.Errorf("%v, counting %v, the Sink has %d keys", err, in.Counting(), r.n)
	}
	more(1000)
	want[filter.Hash{}] = 7
	if err := errors.Join(in.AddValueHash(filter.Hash{}, 7), in.Flush()); err != nil {
		t.Errorf("a value for a Sink that takes them: %v", err)
	}
	if r.n != 2001 || in.Len() != 2001 || in.Valued() != 1 || !maps.Equal(r.got, want) {
		t.Errorf("the Sink has %d keys, Len is %d, Valued %d", r.n, in.Len(), in.Valued())
	}
	if err := in.Close(ErrSpent); err != nil || r.closed != 1 {
		t.Errorf("%v, the Sink was closed %d times", err, r.closed)
	}
}

// TestFullStripes adds enough single keys to fill a stripe before Flush.
func TestFullStripes(t *testing.T) {
	const keys = stripes*stripeLen + 100
	for _, values := range []bool{false, true} {
		r := newRecorder(20)
		in := New(hasher, r)
		for i := range keys {
			h, err := filter.Hash{Hi: uint64(i), Lo: 1}, error(nil)
			if values {
				err = in.AddValueHash(h, uint64(i))
			} else {
				err = in.AddHash(h)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if r.n == 0 || r.n%stripeLen != 0 || in.Len() != uint64(r.n) || values != (in.Valued() == in.Len()) {
			t.Errorf("values %v: %d keys before Flush, Len is %d, Valued %d", values, r.n, in.Len(), in.Valued())
		}
		if err := errors.Join(in.Flush(), in.Check(keys, values)); err != nil {
			t.Error(err)
		}
		if r.n != keys || len(r.got) != keys {
			t.Errorf("values %v: %d keys, %d of them different, want %d", values, r.n, len(r.got), keys)
		}
		for h, v := range r.got {
			if values != (v == h.Hi) && h.Hi != 0 {
				t.Fatalf("values %v: key %d has the value %d", values, h.Hi, v)
			}
		}
	}
}
