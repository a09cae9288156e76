package features

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

const ours = "github.com/bloomery/bloomery"

func bloomeryColumn() library {
	return library{
		name: "Bloomery", path: ours, types: []string{"Set", "Builder", "Live", "Config", "Hashing", "Key", "Option"},
		make: ourSubject, proof: ourProofs,
	}
}

func ourSubject() subject {
	s := newSet("standard(fpr=0.001)", subjectKeys)
	for n := range uint64(subjectKeys) {
		must(s.Add(le(n)))
	}
	return subject{
		value: s, fresh: func() any { return new(bloomery.Set) },
		has: func(v any, n uint64) bool {
			return bloomery.Keyed[uint64](v.(*bloomery.Set)).Contains(n) && v.(*bloomery.Set).Contains(le(n))
		},
		text:    func() { sink = s.ContainsString(long) },
		integer: func() { sink = bloomery.Keyed[uint64](s).Contains(7) },
		stack: func() {
			var key [16]byte
			sink = s.Contains(key[:])
		},
		save: func() []byte { return check(s.MarshalBinary()) },
		load: func(b []byte) error { return new(bloomery.Set).UnmarshalBinary(b) },
	}
}

func newSet(spec string, keys uint64) *bloomery.Set {
	return check(bloomery.New(bloomery.Config{Spec: spec, Keys: keys}))
}

// must panics if err is not nil.
func must(err error) { check(0, err) }

// TestAllocations measures queries in all of our families, with both hash functions, and in a mapped file.
func TestAllocations(t *testing.T) {
	var keys []uint64
	for n := range uint64(subjectKeys) {
		keys = append(keys, n)
	}
	secret := filter.NewSecret()
	for _, f := range families.All() {
		if f.Foreign() {
			continue
		}
		for _, c := range []bloomery.Config{{Spec: f.Name}, {Spec: f.Name, Hashing: bloomery.Hashing{Secret: secret}}} {
			set := check(bloomery.Build(t.Context(), slices.Values(keys), c))
			measure(t, set, f.Name)
		}
	}
	big := newSet("standard(m=20000000,k=7)", 0) // above 1 MiB, so that it is mapped
	path := filepath.Join(t.TempDir(), "big.bloom")
	must(big.Save(t.Context(), path))
	mapped := check(bloomery.Open(t.Context(), path))
	measure(t, mapped, "mapped")
	must(mapped.Close())
}

func measure(t *testing.T, s *bloomery.Set, what string) {
	t.Helper()
	for kind, query := range map[string]func(){
		"string":  func() { sink = s.ContainsString(long) },
		"integer": func() { sink = bloomery.Keyed[uint64](s).Contains(7) },
		"stack": func() {
			var key [16]byte
			sink = s.Contains(key[:])
		},
	} {
		if n := testing.AllocsPerRun(50, query); n != 0 {
			t.Errorf("%s, %v: queries by %s allocate %v times", what, s.Hasher().ID(), kind, n)
		}
	}
}

var ourProofs = map[string]func(t *testing.T) verdict{
	"Merge (union)": func(t *testing.T) verdict {
		a, b := newSet("blocked", 100), newSet("blocked", 100)
		must(b.AddString("b"))
		return shows(t, yes, !a.ContainsString("b"), a.Merge(b) == nil, a.ContainsString("b"), a.Merge(nil) != nil)
	},
	"Intersect": func(t *testing.T) verdict {
		a, b := newSet("standard", 100), newSet("standard", 100)
		must(errors.Join(a.AddString("a"), a.AddString("both"), b.AddString("both")))
		return shows(t, yes, a.Intersect(b) == nil, a.ContainsString("both"), !a.ContainsString("a"))
	},
	"Clone": func(t *testing.T) verdict {
		a := newSet("rankindexed", 100)
		b := check(a.Clone())
		must(b.AddString("b"))
		return shows(t, yes, b.ContainsString("b"), !a.ContainsString("b"))
	},
	"Equal": func(t *testing.T) verdict {
		a, b := newSet("counting", 100), newSet("counting", 100)
		return shows(t, yes, a.Equal(b), b.AddString("b") == nil, !a.Equal(b))
	},
	"Reset": func(t *testing.T) verdict {
		s := newSet("counting", 100)
		return shows(t, yes, s.AddString("a") == nil, s.Reset() == nil, !s.ContainsString("a"), s.Len() == 0)
	},
	"Number of keys, estimated from bits": func(t *testing.T) verdict {
		s := newSet("standard", 2000)
		for n := range uint64(2000) {
			must(bloomery.Keyed[uint64](s).Add(n % 1000))
		}
		n := check(s.EstimateInterval()).Keys
		return shows(t, yes, n > 950, n < 1050, s.Len() == 2000)
	},
	"Keys in common, with an interval": func(t *testing.T) verdict {
		a, b := newSet("standard(m=20000,k=5)", 0), newSet("standard(m=20000,k=5)", 0)
		for n := range uint64(1000) {
			must(bloomery.Keyed[uint64](a).Add(n))
			must(bloomery.Keyed[uint64](b).Add(n + 700))
		}
		common := check(a.EstimateOverlap(b)).Intersection
		return shows(t, yes, common.Low <= 300, common.High >= 300, common.High-common.Low < 100)
	},
	"Test and add in one call": func(t *testing.T) verdict {
		s := newSet("standard", 100)
		return shows(t, yes, !check(bloomery.Keyed[string](s).TestAndAdd("a")), check(s.TestAndAdd([]byte("a"))),
			!check(bloomery.Keyed[uint64](s).TestAndAdd(5)))
	},
	"Writes from many goroutines": func(t *testing.T) verdict {
		for _, name := range families.With(family.CanConcurrent) {
			s, err := bloomery.New(bloomery.Config{Spec: name, Keys: 8000, Concurrent: true})
			if err != nil {
				t.Error(err)
				continue
			}
			var fresh [4]int
			fourTimes(func(g uint64) {
				for n := range uint64(1000) {
					must(bloomery.Keyed[uint64](s).Add(g<<32 | n))
					if !check(bloomery.Keyed[uint64](s).TestAndAdd(n | 1<<60)) {
						fresh[g]++
					}
				}
			})
			for g := range uint64(4) {
				for n := range uint64(1000) {
					shows(t, yes, bloomery.Keyed[uint64](s).Contains(g<<32|n))
				}
			}
			if sum := fresh[0] + fresh[1] + fresh[2] + fresh[3]; sum > 1000 || sum < 900 {
				t.Errorf("%s: of 1000 keys that four goroutines brought, %d were new", name, sum)
			}
		}
		return yes
	},
	"Generic functions or types": func(t *testing.T) verdict {
		type name string
		type id uint64
		a := check(bloomery.Build(t.Context(), slices.Values([]name{"a"}), bloomery.Config{}))
		b := check(bloomery.Build(t.Context(), slices.Values([]id{5}), bloomery.Config{}))
		return shows(t, yes, a.ContainsString("a"), bloomery.Keyed[uint64](b).Contains(5))
	},
	"Builds from an iterator (iter.Seq)": func(t *testing.T) verdict {
		s := check(bloomery.Build(t.Context(), func(yield func(string) bool) { yield("a") }, bloomery.Config{}))
		return shows(t, yes, s.ContainsString("a"))
	},
	"Options": func(t *testing.T) verdict {
		b := check(newSet("standard", 100).MarshalBinary())
		_, err := bloomery.FromBytes(b, bloomery.WithMaxBytes(8), bloomery.InMemory())
		return shows(t, yes, errors.Is(err, filter.ErrTooLarge))
	},
	"Remove a key": func(t *testing.T) verdict {
		s := newSet("rankindexed", 100)
		return shows(t, yes, s.AddString("a") == nil, bloomery.Keyed[string](s).Remove("a") == nil, !s.ContainsString("a"),
			errors.Is(bloomery.Keyed[string](s).Remove("a"), filter.ErrNotFound))
	},
	"Count how often a key was added": func(t *testing.T) verdict {
		s := newSet("rankindexed(counting=1)", 100)
		must(errors.Join(s.AddString("a"), s.AddString("a")))
		n, saturated, err := s.Count([]byte("a"))
		return shows(t, yes, n == 2, !saturated, err == nil)
	},
	"A value with each key": func(t *testing.T) verdict {
		s := newSet("rankindexed(value_bits=8)", 100)
		must(s.AddValue([]byte("a"), 200))
		v, ok, err := s.Get([]byte("a"))
		return shows(t, yes, v == 200, ok, err == nil)
	},
	"Batch queries": func(t *testing.T) verdict {
		s := newSet("blocked", 100)
		must(s.AddString("a"))
		dst := make([]bool, 2)
		bloomery.Keyed[string](s).ContainsMany(dst, []string{"a", "b"})
		return shows(t, yes, dst[0], !dst[1])
	},
	"Files mapped into memory": func(t *testing.T) verdict {
		path := filepath.Join(t.TempDir(), "big.bloom")
		must(newSet("blocked(blocks=100000,k=8)", 0).Save(t.Context(), path))
		_, m, err := container.Map(path, container.Options{MaxBytes: 1 << 30})
		s := check(bloomery.Open(t.Context(), path))
		return shows(t, yes, err == nil, m != nil, m.Close() == nil, !s.ContainsString("a"), s.Close() == nil)
	},
	"Queries on bytes without a copy": func(t *testing.T) verdict {
		s := newSet("standard", 1_000_000)
		must(s.AddString("a"))
		file := check(s.MarshalBinary())
		shared := check(bloomery.FromBytes(file))
		found := shared.ContainsString("a")
		clear(file[binary.Size(uint64(0))*64:]) // clears the keys; a Set that reads these bytes loses them
		return shows(t, yes, found, !shared.ContainsString("a"))
	},
	"Keyed hash (secret)": func(t *testing.T) verdict {
		secret := filter.NewSecret()
		s := check(bloomery.New(bloomery.Config{Hashing: bloomery.Hashing{Secret: secret}, Keys: 100}))
		must(s.AddString("a"))
		file := check(s.MarshalBinary())
		_, err := bloomery.FromBytes(file)
		back := check(bloomery.FromBytes(file, bloomery.WithSecret(secret)))
		return shows(t, yes, errors.Is(err, filter.ErrSecret), back.ContainsString("a"), !bytes.Contains(file, secret[:]))
	},
	"Follows a file that is replaced": func(t *testing.T) verdict {
		path := filepath.Join(t.TempDir(), "live.bloom")
		s := newSet("standard", 100)
		must(s.Save(t.Context(), path))
		live := check(bloomery.OpenLive(t.Context(), path))
		before := live.ContainsString("a")
		must(errors.Join(s.AddString("a"), s.Save(t.Context(), path), live.Reload(t.Context())))
		return shows(t, yes, !before, live.ContainsString("a"), live.Close() == nil)
	},
}
