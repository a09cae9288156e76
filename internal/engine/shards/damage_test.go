package shards_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/shard"
)

// spoil truncates a file, or flips, replaces or repeats some of its bytes. The first rounds truncate it at places
// throughout the file.
func spoil(r *rand.Rand, good []byte, round int) []byte {
	if round < 500 {
		return good[:round*len(good)/500]
	}
	b, at := slices.Clone(good), r.IntN(len(good))
	switch r.IntN(5) {
	case 0:
		b[at] = byte(r.Uint32())
	case 1:
		b = slices.Delete(b, at, min(at+1+r.IntN(16), len(b)))
	case 2:
		b = slices.Concat(b[:at], good)
	default:
		b[at] ^= 1 << r.IntN(8)
	}
	return b
}

// TestSpoiledManifest damages the manifest of a set 2,000 times. Open must refuse it, or the Set must give the same
// answers for members and other keys.
func TestSpoiledManifest(t *testing.T) {
	const seed = 28
	for _, c := range []struct {
		name   string
		config bloomery.Config
	}{
		{"plain", bloomery.Config{Spec: "rankindexed(capacity=1000)"}},
		{"keyed", bloomery.Config{Spec: "blocked(bytes=4096)", Hashing: bloomery.Hashing{Secret: &filter.Secret{1, 2}}}},
	} {
		dir, keys := t.TempDir(), settest.Names("member", 2000)
		writeShards(t, dir, c.config, 5, keys)
		asked := append(keys, settest.Names("absent", 2000)...)
		var options []bloomery.Option
		if c.config.Hashing.Secret != nil {
			options = append(options, bloomery.WithSecret(c.config.Hashing.Secret))
		}
		answers := func() ([]bool, error) {
			set, err := bloomery.Open(t.Context(), dir, options...)
			if err != nil {
				return nil, err
			}
			defer set.Close()
			got := make([]bool, len(asked))
			bloomery.Keyed[string](set).ContainsMany(got, asked)
			return got, set.Err()
		}
		want, err := answers()
		check(t, err)
		path := filepath.Join(dir, shard.ManifestName)
		good := settest.ReadAll(t, path)
		r, refused := rand.New(rand.NewPCG(seed, 1)), 0
		for round := range 2000 {
			bad := spoil(r, good, round)
			check(t, os.WriteFile(path, bad, 0o666))
			switch got, err := answers(); {
			case errors.Is(err, fs.ErrNotExist):
				t.Fatalf("%s, seed %d, round %d: %v", c.name, seed, round, err)
			case err != nil:
				refused++
				for i, k := range keys {
					if got != nil && !got[i] {
						t.Fatalf("%s, seed %d, round %d: %s is absent, and Err is %v", c.name, seed, round, k, err)
					}
				}
			case !slices.Equal(got, want):
				t.Fatalf("%s, seed %d, round %d: other answers with\n%s", c.name, seed, round, bad)
			}
		}
		t.Logf("%s: %d of 2000 refused", c.name, refused)
		if refused < 1000 {
			t.Errorf("%s: only %d of 2000 are refused", c.name, refused)
		}
	}
}
