package main

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// specs lists one filter of each of our families.
var specs = []string{
	"standard(fpr=0.01)", "blocked(bits_per_key=12)", "fuse(width=8)", "partitioned(bits_per_key=8,effort=fast)",
	"blockpartitioned(bits_per_key=8,effort=fast)", "twochoice(bits_per_key=16,effort=fast)", "rankindexed(fpr=0.01)",
	"counting(fpr=0.01)",
}

// concurrentSpecs lists the filters that support Config.Concurrent.
var concurrentSpecs = []string{
	"standard(fpr=0.01)", "blocked(bits_per_key=12)", "rankindexed(fpr=0.01)", "counting(fpr=0.01)",
}

// foreignSpecs lists filters of other systems.
var foreignSpecs = []string{"guava(fpr=0.01)", "bitsandblooms(fpr=0.01)", "redisbloom(fpr=0.01)"}

// removableSpecs are the specs of filters that keys can be removed from.
var removableSpecs = []string{"rankindexed(fpr=0.01)", "counting(fpr=0.01)"}

// words returns n distinct keys that begin with prefix.
func words(prefix string, n int) []string {
	s := make([]string, n)
	for i := range s {
		s[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return s
}

// slicesOf returns the bytes of strings.
func slicesOf(keys []string) [][]byte {
	b := make([][]byte, len(keys))
	for i, k := range keys {
		b[i] = []byte(k)
	}
	return b
}

// le returns the eight bytes of an integer key.
func le(k uint64) []byte { return binary.LittleEndian.AppendUint64(nil, k) }

// must returns v, or ends the test.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// built returns the Set of keys.
func built[K filter.Key](t *testing.T, keys []K, c bloomery.Config) *bloomery.Set {
	t.Helper()
	return must(bloomery.Build(t.Context(), slices.Values(keys), c))(t)
}

// bytesOf returns the file of a Set.
func bytesOf(t *testing.T, s *bloomery.Set) []byte {
	t.Helper()
	return must(s.MarshalBinary())(t)
}

// holds fails the test unless every key is present in queries of every kind.
func holds(t *testing.T, s *bloomery.Set, keys []string) {
	t.Helper()
	dst := make([]bool, len(keys))
	bloomery.Keyed[string](s).ContainsMany(dst, keys)
	for i, k := range keys {
		if !dst[i] || !s.ContainsString(k) || !s.Contains([]byte(k)) || !s.ContainsHash(s.Hasher().SumString(k)) {
			t.Fatalf("%v: %s is missing", s, k)
		}
	}
}

// rateOf returns the false-positive rate of a Set, measured with n absent keys.
func rateOf(t *testing.T, s *bloomery.Set, n int) bloomery.Rate {
	t.Helper()
	v := must(s.Verifier(bloomery.JobConfig{Building: bloomery.Building{TempDir: t.TempDir()}}))(t)
	defer v.Close()
	for chunk := range slices.Chunk(words("absent ", n), 4096) {
		if err := v.AddAbsent(slicesOf(chunk)); err != nil {
			t.Fatal(err)
		}
	}
	return must(v.Commit(t.Context()))(t).Rate
}
