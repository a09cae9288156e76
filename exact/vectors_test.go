package exact

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

var rewrite = flag.Bool("update", false, "rewrite the files of testdata")

// The files of testdata are for readers in other languages: exact sets, and for each a JSON file with keys, their
// hashes and the answers. A key that is "outside" is not in the universe: its answer is meaningless, but must be the
// same in all readers. Hi and Lo are the hash of the key with the name of its partition; the low 32 bits of Lo are
// cleared.

// vectorSet is a set of testdata.
type vectorSet struct {
	name      string
	n         int       // keys of the universe in addition to some of all kinds
	densities []float64 // densities per partition; one for a set that is not partitioned
	secret    bool
	updates   int // number of updates
	changes   int // keys toggled by each update
}

var vectorSets = []vectorSet{
	{name: "empty", densities: []float64{-1}},
	{name: "none", n: 1000, densities: []float64{-1}},
	{name: "all", n: 1000, densities: []float64{2}},
	{name: "few", n: 1000, densities: []float64{.02}},
	{name: "tenth", n: 30_000, densities: []float64{.1}},
	{name: "hundredth", n: 100_000, densities: []float64{.01}},
	{name: "half", n: 20_000, densities: []float64{.5}},
	{name: "wide", n: 140_000, densities: []float64{.45}},
	{name: "most", n: 10_000, densities: []float64{.9}},
	{name: "siphash", n: 5000, densities: []float64{.05}, secret: true},
	{name: "one-partition", n: 2000, densities: []float64{.05}},
	{name: "partitions", n: 40_000, densities: []float64{-1, .001, .005, .01, .05, .1, .2, .3, .5, .7, .95, 2}},
	{name: "partitions-siphash", n: 3000, densities: []float64{.01, .9}, secret: true},
	{name: "update", n: 20_000, densities: []float64{.05}, updates: 1, changes: 300},
	{name: "updates", n: 20_000, densities: []float64{.01, .1, .6}, updates: 4, changes: 5},
}

var vectorSecret = filter.Secret{0: 1, 7: 0x80, 8: 0x42, 15: 0xff}

// member is a key of a set of testdata.
type member struct {
	filtertest.VectorKey
	partition string
	is        bool
}

// partitioned reports whether the set has partitions.
func (v vectorSet) partitioned() bool { return len(v.densities) > 1 || v.name == "one-partition" }

// universe returns the keys of the set, before any update.
func (v vectorSet) universe() (all []member) {
	r := rand.New(rand.NewPCG(uint64(len(v.name)), uint64(v.n)))
	add := func(k filtertest.VectorKey, is func(density float64) bool) {
		p := r.IntN(len(v.densities))
		all = append(all, member{k, strings.Repeat("partition ", p%3) + fmt.Sprint(p), is(v.densities[p])})
	}
	for i := range v.n {
		add(filtertest.TextKey(fmt.Sprintf("key-%d", i)), func(d float64) bool { return r.Float64() < d })
	}
	if v.n == 0 {
		return nil
	}
	yes, no := filtertest.MixedKeys(v.n)
	for i, k := range append(yes, no...) {
		add(k, func(d float64) bool { return d > 1 || d > 0 && i < len(yes) })
	}
	return all
}

// pairs yields the universe, or only its members.
func pairs(all []member, members bool) iter.Seq2[[]byte, []byte] {
	return func(yield func(partition, key []byte) bool) {
		for _, m := range all {
			if (m.is || !members) && !yield([]byte(m.partition), m.Bytes) {
				return
			}
		}
	}
}

// build returns the set, and its keys after the last update.
func (v vectorSet) build(t *testing.T) (*Set, []member) {
	all := v.universe()
	c := Config{Partitioned: v.partitioned(), Seed: uint64(v.n)}
	if v.secret {
		c.Secret, c.Seed = &vectorSecret, 0
	}
	s, err := built(t.Context(), pairs(all, true), pairs(all, false), c)
	check(t, err)
	r := rand.New(rand.NewPCG(1, uint64(v.n)))
	for i := range v.updates {
		for range v.changes << (3 * i) {
			at := r.IntN(len(all))
			all[at].is = !all[at].is
		}
		if s, err = updated(t, s, all); err != nil {
			t.Fatal(err)
		}
	}
	return s, all
}

// updated returns the set with an update to these keys.
func updated(t *testing.T, s *Set, all []member) (*Set, error) {
	b := must(NewBuilder(Config{Base: s, Shrink: 1}))
	for _, bit := range []uint64{0, memberBit} {
		add := func(p, k [][]byte) error { return b.addKeys(p, k, bit) }
		list, _ := sourceOf(pairs(all, bit != 0))
		err := feedKeys(t.Context(), list, s.partitioned(), add)
		check(t, err)
	}
	return b.Build(t.Context())
}

// json returns the vectors of a set.
func (v vectorSet) json(s *Set, all []member) []byte {
	i := s.Info()
	var b strings.Builder
	fmt.Fprintf(&b, "{\n  \"file\": %q,\n  \"page\": \"docs/format/exact.md\",\n", v.name+".exact")
	fmt.Fprintf(&b, "  \"universe\": %d,\n  \"members\": %d,\n  \"partitions\": %d,\n  \"updates\": %d,\n",
		i.Universe, i.Members, i.Partitions, i.Updates)
	fmt.Fprintf(&b, "  \"hash\": %q,\n  \"seed\": \"%d\",\n", s.hasher.ID(), s.hasher.Seed())
	if v.secret {
		fmt.Fprintf(&b, "  \"secret\": %q,\n", hex.EncodeToString(vectorSecret[:]))
	}
	b.WriteString("  \"keys\": [")
	comma := ""
	line := func(m member, outside bool) {
		h, partition := clearUnused(s.hasher.Sum(m.Bytes)), ""
		if v.partitioned() {
			h, _ = sumInPartition(s.hasher, nil, []byte(m.partition), m.Bytes)
			partition = fmt.Sprintf(`"partition": %q, `, m.partition)
		}
		fmt.Fprintf(&b, "%s\n    {%s%s, \"outside\": %t, \"has\": %t}", comma, partition, m.JSON(h), outside,
			s.in([]byte(m.partition), m.Bytes))
		comma = ","
	}
	for _, m := range some(all) {
		line(m, false)
	}
	for i := range 20 {
		line(member{filtertest.TextKey(fmt.Sprintf("outside-%d", i)), fmt.Sprint(i % 6), false}, true)
	}
	b.WriteString("\n  ]\n}\n")
	return []byte(b.String())
}

// some returns at most 25 members and 25 other keys from both ends of a universe, where all kinds of keys occur.
func some(all []member) (list []member) {
	var left = map[bool]int{true: 25, false: 25}
	for i := range all {
		m := all[len(all)-1-i]
		if i%2 == 1 {
			m = all[i/2]
		}
		if left[m.is] > 0 {
			left[m.is]--
			list = append(list, m)
		}
	}
	return list
}

func TestVectors(t *testing.T) {
	for _, v := range vectorSets {
		t.Run(v.name, func(t *testing.T) {
			s, all := v.build(t)
			for _, m := range all {
				if s.in([]byte(m.partition), m.Bytes) != m.is {
					t.Errorf("wrong answer for %s %q of %q", m.Kind, m.Text(), m.partition)
				}
			}

			data := must(s.appendTo(nil))
			text := v.json(s, all)
			var parsed any
			check(t, json.Unmarshal(text, &parsed))
			for name, content := range map[string][]byte{v.name + ".exact": data, v.name + ".json": text} {
				compareFile(t, filepath.Join("testdata", name), content)
			}

			read := must(FromBytes(data, WithSecret(&vectorSecret)))
			if again := v.json(read, all); !bytes.Equal(again, text) {
				t.Error("the file has other answers than the set")
			}
		})
	}
	names, err := filepath.Glob(filepath.Join("testdata", "*.*"))
	if err != nil || len(names) != 2*len(vectorSets) {
		t.Errorf("%d files in testdata, want %d: %v", len(names), 2*len(vectorSets), err)
	}
}

// compareFile requires that a file has the given content. With -update it writes the file.
func compareFile(t *testing.T, path string, content []byte) {
	if *rewrite {
		check(t, os.MkdirAll(filepath.Dir(path), 0o777))
		check(t, os.WriteFile(path, content, 0o644))
	}
	had := must(os.ReadFile(path))
	if !slices.Equal(had, content) {
		t.Errorf("%s has another content than the test writes: -update writes it, if the change is meant", path)
	}
}
