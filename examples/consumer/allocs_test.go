package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// TestAllocations queries and changes sets with keys on the stack, with strings and with integers. Nothing may be
// allocated on the heap, in any of our families, with either of our hash functions, and in a mapped file.
func TestAllocations(t *testing.T) {
	long := strings.Repeat("a long key ", 20)
	for _, spec := range specs {
		for _, c := range []bloomery.Config{{Spec: spec},
			{Spec: spec, Hashing: bloomery.Hashing{Secret: filter.NewSecret()}}} {
			keys := words("key ", 200)
			if spec == "standard(fpr=0.01)" {
				c.Spec = "standard(m=20000000,k=7)" // of 2.5 MB, so that its file is mapped
			}
			set := built(t, keys, c)
			path := filepath.Join(t.TempDir(), "keys.bloom")
			if err := set.Save(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			opened := must(bloomery.Open(t.Context(), path, bloomery.WithSecret(c.Hashing.Secret)))(t)
			for what, s := range map[string]*bloomery.Set{"built": set, "opened": opened} {
				queries := func() {
					var key [16]byte
					key[3] = 7
					s.Contains(key[:])
					s.ContainsString(keys[5])
					s.ContainsString(long)
					bloomery.Keyed[uint64](s).Contains(77)
					s.ContainsHash(s.Hasher().SumUint64(5))
				}
				if n := testing.AllocsPerRun(50, queries); n != 0 {
					t.Errorf("%s, %s, %v: queries allocate %v times", spec, what, s.Hasher().ID(), n)
				}
			}
		}
	}
	for _, spec := range concurrentSpecs {
		for _, concurrent := range []bool{false, true} {
			c := bloomery.Config{Spec: spec, Keys: 10_000, Concurrent: concurrent}
			set, err := bloomery.New(c)
			if err != nil {
				t.Errorf("%s: %v", spec, err)
				continue
			}
			texts, ids := bloomery.Keyed[string](set), bloomery.Keyed[uint64](set)
			i := byte(0)
			var failed error
			changes := func() {
				var key [16]byte
				key[3] = i
				i++
				for _, err := range [...]error{set.Add(key[:]), set.AddString(long[:10+i%100]), ids.Add(uint64(i))} {
					if err != nil {
						failed = err
					}
				}
				if _, err := set.TestAndAdd(key[:]); err != nil {
					failed = err
				}
				if _, err := texts.TestAndAdd(long); err != nil {
					failed = err
				}
				if _, err := ids.TestAndAdd(uint64(i) << 20); err != nil {
					failed = err
				}
				if !strings.HasPrefix(spec, "standard") && !strings.HasPrefix(spec, "blocked") {
					removed := [...]error{set.Remove(key[:]), texts.Remove(long[:10+i%100]), ids.Remove(uint64(i))}
					for _, err := range removed {
						if err != nil {
							failed = err
						}
					}
				}
			}
			if n := testing.AllocsPerRun(50, changes); n != 0 || failed != nil {
				t.Errorf("%s, concurrent %t: changes allocate %v times, %v", spec, concurrent, n, failed)
			}
		}
	}
}
