package bloomery_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// TestAnswersAgree asks sets of all families for keys of all lengths, in each way that a Set has. All must answer as
// the Engine in Go does for the hash of the key.
func TestAnswersAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const n = 400
	texts, integers := make([][]byte, 4*n), make([]uint64, 4*n)
	for i := range texts {
		texts[i] = make([]byte, r.IntN(1+i%200))
		for j := range texts[i] {
			texts[i][j] = byte(r.Uint32())
		}
		integers[i] = r.Uint64()
	}
	for _, spec := range []string{
		"standard(fpr=0.1)", "standard(fpr=0.001)", "blocked(fpr=0.1)", "blocked(fpr=0.000001)",
		"blocked(fpr=0.1,layout=split)",
		"fuse(width=4)", "fuse(width=8)", "fuse(width=16)", "fuse(width=20)", "ribbon(r=3)",
		"ribbon(r=12)", "ribbon(r=5,w=128)",
		"partitioned(effort=fast,fpr=0.05)", "blockpartitioned(effort=fast,fpr=0.05)",
		"twochoice(effort=fast,fpr=0.05)",
		"rankindexed(fpr=0.1)", "rankindexed(fpr=0.1,bucket=512)", "rankindexed(fpr=0.1,growth=8)",
		"counting(fpr=0.1)", "guava(fpr=0.1)",
		"redisbloom(fpr=0.1)", "bitsandblooms(fpr=0.1)", "spark(fpr=0.1)", "spark(fpr=0.1,version=2)",
	} {
		for _, hash := range []bloomery.Config{
			{Spec: spec}, {Spec: spec, Seed: r.Uint64()}, {Spec: spec, Secret: &filter.Secret{1, 2, 3}},
			{Spec: spec, Hash: filter.XXH64},
		} {
			s, err := bloomery.Build(t.Context(), slices.Values(texts[:n]), hash)
			if err != nil {
				if hash.Seed == 0 && hash.Hash == 0 && hash.Secret == nil {
					t.Errorf("%s: %v", spec, err)
				}
				continue // the family has a hash function of its own
			}
			checkAnswers(t, s, texts, n)
			if s, err = bloomery.Build(t.Context(), slices.Values(integers[:n]), hash); err != nil {
				t.Fatal(err)
			}
			checkAnswers(t, s, integers, n)
			if hash.Secret != nil || !bloomery.EngineOf(s).Facts().Hashes { // shards are built from hashes
				continue
			}
			hash.Dir, hash.Shards = t.TempDir(), 3
			if s, err = bloomery.Build(t.Context(), slices.Values(texts[:n]), hash); err != nil {
				t.Fatal(err)
			}
			checkAnswers(t, s, texts, n) // at first, no shard is loaded
			checkAnswers(t, s, texts, n)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// checkAnswers asks a set for keys, of which it has the first n.
func checkAnswers[K []byte | uint64](t *testing.T, s *bloomery.Set, keys []K, n int) {
	t.Helper()
	view, many := bloomery.Keyed[K](s), make([]bool, len(keys))
	first := make([]bool, len(keys)) // single queries before batches, which load all shards
	for i, k := range keys {
		first[i] = view.Contains(k)
	}
	view.ContainsMany(many, keys)
	positives := 0
	for i, k := range keys {
		got := []bool{first[i], view.Contains(k), many[i]}
		var h filter.Hash
		switch k := any(k).(type) {
		case []byte:
			h = s.Hash(k)
			got = append(got, s.Contains(k), s.ContainsString(string(k)), bloomery.Keyed[string](s).Contains(string(k)))
		case uint64:
			h = s.Hasher().SumUint64(k)
		}
		want := got[0]
		if bloomery.EngineOf(s).Facts().Hashes { // of others the key itself is asked for
			want = bloomery.EngineOf(s).Contains(h, nil)
			got = append(got, s.ContainsHash(h), bloomery.Keyed[filter.Hash](s).Contains(h))
		}
		if i < n && !want || slices.Contains(got, !want) {
			t.Fatalf("%s, %s, key %d of %d: %v, want %v", s.Spec(), s.Hasher(), i, n, got, want)
		}
		if want {
			positives++
		}
	}
	if positives == len(keys) {
		t.Errorf("%s: all keys are present", s.Spec())
	}
}
