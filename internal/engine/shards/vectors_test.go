package shards_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

var update = flag.Bool("update", false, "write the sharded sets of shard/testdata/sets anew")

// vectorSet is a sharded set of shard/testdata/sets with its vectors, which are for readers in other languages. Each
// vector holds a key with its hash, the shard that follows from routing 1, and the answer.
type vectorSet struct {
	name   string
	config bloomery.Config
	keys   int
	suffix string // suffix of the name of shard 1, as if the shard had been replaced
}

var vectorSecret = filter.Secret{1, 2, 3}

var vectorSets = []vectorSet{
	{"blocked", bloomery.Config{Spec: "blocked(fpr=0.01)", Hashing: bloomery.Hashing{Seed: 1<<53 + 1},
		Sharding: bloomery.Sharding{Shards: 5}}, 300, ""},
	{"counting", bloomery.Config{Spec: "rankindexed(counting=1,fpr=0.001)",
		Hashing: bloomery.Hashing{Secret: &vectorSecret}, Sharding: bloomery.Sharding{Shards: 3}}, 90,
		"3f2a9c"},
	{"one-shard", bloomery.Config{Spec: "standard(fpr=0.1)", Hashing: bloomery.Hashing{Seed: 7},
		Sharding: bloomery.Sharding{Shards: 1}}, 18, ""},
	{"empty-shards", bloomery.Config{Spec: "fuse(width=9)", Sharding: bloomery.Sharding{Shards: 7}}, 2, ""},
}

// TestShardVectors builds the sets and compares each file, then the answers with the vectors.
func TestShardVectors(t *testing.T) {
	for i, v := range vectorSets {
		t.Run(v.name, func(t *testing.T) {
			held, absent := filtertest.MixedKeys(i)
			for n := len(held); n < v.keys; n++ {
				held = append(held, filtertest.TextKey(fmt.Sprintf("member-%d", n)))
			}
			dir := filepath.Join(t.TempDir(), v.name)
			v.build(t, dir, held[:v.keys])
			text := v.vectors(t, dir, held[:min(v.keys, 20)], absent)
			golden := filepath.Join("..", "..", "..", "shard", "testdata", "sets", v.name)
			if *update {
				check(t, os.RemoveAll(golden))
				check(t, os.CopyFS(golden, os.DirFS(dir)))
				check(t, os.WriteFile(golden+".json", []byte(text), 0o644))
			}
			got, want := settest.FilesOf(t, dir), settest.FilesOf(t, golden)
			if !maps.Equal(got, want) || len(want) != v.config.Sharding.Shards+1 {
				t.Errorf("%s has %d files, the same keys give %d, or they differ: -update writes them",
					golden, len(want), len(got))
			}
			if want, err := os.ReadFile(golden + ".json"); err != nil || text != string(want) {
				t.Errorf("%s.json has other vectors: %v", golden, err)
			}
		})
	}
}

// build builds the set in dir. In counting sets some keys are added more than once.
func (v vectorSet) build(t *testing.T, dir string, keys []filtertest.VectorKey) {
	b, err := settest.NewShardBuilder(dir, v.config)
	check(t, err)
	defer b.Close()
	for i, k := range keys {
		times := 1
		if strings.Contains(v.config.Spec, "counting") {
			times += i % 6
		}
		for range times {
			check(t, b.AddHashes([]filter.Hash{k.Hash(b.Hasher())}))
		}
	}
	m, err := b.Build(t.Context())
	check(t, err)
	if v.suffix != "" {
		old := m.Shards[1].File
		m.Shards[1].File = shardset.Name(1, len(m.Shards), v.suffix)
		check(t, os.Rename(filepath.Join(dir, old), filepath.Join(dir, m.Shards[1].File)))
		writeManifest(t, dir, m)
	}
	// Only the files of the set: no lock file, no file that was replaced.
	names := []string{shard.ManifestName}
	for _, e := range m.Shards {
		names = append(names, e.File)
	}
	for name := range settest.FilesOf(t, dir) {
		if !slices.Contains(names, name) {
			check(t, os.Remove(filepath.Join(dir, name)))
		}
	}
}

// vectors returns the JSON of the vectors. All keys of held must be present.
func (v vectorSet) vectors(t *testing.T, dir string, held, absent []filtertest.VectorKey) string {
	set, err := bloomery.Open(t.Context(), dir, bloomery.WithSecret(v.config.Hashing.Secret))
	check(t, err)
	defer set.Close()
	var b bytes.Buffer
	hasher := set.Hasher()
	fmt.Fprintf(&b, "{\n  \"set\": %q,\n  \"hash\": %q,\n  \"seed\": \"%d\",\n", v.name, hasher.ID(), hasher.Seed())
	if v.config.Hashing.Secret != nil {
		fmt.Fprintf(&b, "  \"secret\": %q,\n", hex.EncodeToString(v.config.Hashing.Secret[:]))
	}
	fmt.Fprintf(&b, "  \"shards\": %d,\n  \"keys\": [", v.config.Sharding.Shards)
	for i, k := range slices.Concat(held, absent) {
		h := k.Hash(hasher)
		has := set.ContainsHash(h)
		if i < len(held) && !has {
			t.Errorf("key %s %q is absent", k.Kind, k.Text())
		}
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n    {%s, \"shard\": %d, \"has\": %t", k.JSON(h), shard.Route(h, v.config.Sharding.Shards), has)
		if n, _, err := bloomery.Keyed[filter.Hash](set).Count(h); err == nil {
			fmt.Fprintf(&b, `, "count": "%d"`, n)
		}
		b.WriteString("}")
	}
	b.WriteString("\n  ]\n}\n")
	check(t, set.Err())
	return b.String()
}
