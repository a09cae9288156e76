package bloomery_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/shardtest"
)

// forms returns a Set of the same keys in each form: in memory, mapped, of raw keys, for many writers and sharded.
func forms(b *testing.B, keys []string) map[string]*bloomery.Set {
	all := map[string]*bloomery.Set{}
	built := func(c bloomery.Config) *bloomery.Set {
		s, err := bloomery.NewBuilder(b.Context(), c)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		for _, k := range keys {
			if err := s.AddString(k); err != nil {
				b.Fatal(err)
			}
		}
		set, err := s.Build(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		return set
	}
	all["plain"] = built(bloomery.Config{Spec: "blocked(bits_per_key=10)"})
	all["many_writers"] = built(bloomery.Config{Spec: "blocked(bits_per_key=10)", Concurrent: true})
	all["raw_keys"] = built(bloomery.Config{Spec: "redisbloom(bits_per_key=10)"})
	path := filepath.Join(b.TempDir(), "f.bloom")
	if err := built(bloomery.Config{Spec: "blocked(bytes=1100000)"}).Save(b.Context(), path); err != nil {
		b.Fatal(err)
	}
	all["mapped"] = openSet(b, path)
	dir := b.TempDir()
	s, err := shardtest.NewBuilder(dir, bloomery.Config{Spec: "blocked(bits_per_key=10)", Shards: 16})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for _, k := range keys {
		if err := s.AddString(k); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := s.Build(b.Context()); err != nil {
		b.Fatal(err)
	}
	all["sharded"] = openSet(b, dir)
	return all
}

// BenchmarkForms queries a Set of 32,768 keys in each form, for keys of which half are present.
func BenchmarkForms(b *testing.B) {
	const n = 1 << 16
	var texts []string
	for i := range n {
		texts = append(texts, "https://example.org/"+strconv.Itoa(i*7919))
	}
	all := forms(b, texts[:n/2])
	blobs, hs := make([][]byte, n), make([]filter.Hash, n)
	for i, k := range texts {
		blobs[i], hs[i] = []byte(k), all["plain"].Hasher().SumString(k)
	}
	answers := make([]bool, n)
	for _, form := range []string{"plain", "many_writers", "mapped", "raw_keys", "sharded"} {
		s := all[form]
		for at := range blobs { // load all shards
			answers[at] = s.Contains(blobs[at])
		}
		b.Run("op=contains/form="+form, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				answers[0] = s.Contains(blobs[i*31&(n-1)])
			}
		})
		b.Run("op=containsString/form="+form, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				answers[0] = s.ContainsString(texts[i*31&(n-1)])
			}
		})
		b.Run("op=containsUint64/form="+form, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				answers[0] = bloomery.Keyed[uint64](s).Contains(uint64(i))
			}
		})
		b.Run("op=has/form="+form, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				answers[0] = s.ContainsHash(hs[i*31&(n-1)])
			}
		})
		for _, batch := range []int{16, 1024} {
			b.Run("op=containsMany/batch="+strconv.Itoa(batch)+"/form="+form, func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					at := i * batch & (n - 1)
					bloomery.Keyed[[]byte](s).ContainsMany(answers[:batch], blobs[at:at+batch])
				}
			})
			b.Run("op=hasMany/batch="+strconv.Itoa(batch)+"/form="+form, func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					at := i * batch & (n - 1)
					s.ContainsHashes(answers[:batch], hs[at:at+batch])
				}
			})
		}
	}
}
