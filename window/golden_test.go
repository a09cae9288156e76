package window

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
	"github.com/bloomery/bloomery/internal/filtertest"
)

var update = flag.Bool("update", false, "write the golden files")

// vector is the content of the JSON file for a golden file. See "Test vectors" in docs/format/window.md.
type vector struct {
	File   string      `json:"file"`
	Page   string      `json:"page"`
	Spec   string      `json:"spec"`
	Hash   string      `json:"hash"`
	Seed   string      `json:"seed"`
	Secret string      `json:"secret,omitempty"`
	Now    string      `json:"now"`
	Keys   []vectorKey `json:"keys"`
}

type vectorKey struct {
	Text      string   `json:"text"`
	Hi        string   `json:"hi"`
	Lo        string   `json:"lo"`
	Positions []string `json:"positions"`
	Has       bool     `json:"has"`
	Stamp     string   `json:"stamp,omitempty"`
	Age       string   `json:"age,omitempty"`
	Until     string   `json:"until,omitempty"`
}

var goldenSecret = filter.Secret([]byte("sixteen bytes..."))

// goldens lists how the golden files were made, and the keys of their vectors.
var goldens = []struct {
	name   string
	secret *filter.Secret
	make   func(t *testing.T) *Filter[string]
	keys   []string
}{
	{"few", nil, fewKeys, []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}},
	{"keyed", &goldenSecret, keyedKeys, []string{
		"key-0", "key-1", "key-199", "key-250", "key-499", "key-500", "Grüße", "",
	}},
	{"new", nil, func(t *testing.T) *Filter[string] {
		g := rankindexed.Geometry{Capacity: 11, Buckets: 1, Chains: 18, Cells: [3]int{11}, Remainder: 6}
		return withTable(t, g, Config{Keys: 10, TTL: time.Hour, FPR: 0.01, EventTime: true})
	}, []string{"a"}},
}

func goldenTime(ms int) time.Time { return time.UnixMilli(1_767_225_600_000 + int64(ms)) }

// withTable returns an empty filter with a fixed geometry instead of a planned one, so that golden files do not change
// with plans.
func withTable(t *testing.T, g rankindexed.Geometry, c Config) *Filter[string] {
	t.Helper()
	g.ValueBits = stampBits
	table := must(rankindexed.NewCells(g))
	return &Filter[string]{c.ringOver(table, c.hasher())}
}

// fewKeys returns a filter of two buckets.
func fewKeys(t *testing.T) *Filter[string] {
	g := rankindexed.Geometry{Capacity: 14, Buckets: 2, Chains: 16, Cells: [3]int{8}, Remainder: 4}
	f := withTable(t, g, Config{Keys: 12, TTL: 7 * time.Second, FPR: 0.1, EventTime: true})
	for i := range 9 {
		f.Advance(goldenTime(1500 * i))
		check(t, f.Add(string(rune('a'+i))))
	}
	f.Advance(goldenTime(12_700))
	return f
}

// keyedKeys returns a keyed filter with extensions, whose clock has skipped laps.
func keyedKeys(t *testing.T) *Filter[string] {
	c := Config{
		Keys: 300, TTL: time.Minute, FPR: 0.001, Burst: 0.5, EventTime: true, Secret: &goldenSecret, Overflow: Shorten,
	}
	f := withTable(t, rankindexed.Geometry{
		Capacity: 348, Buckets: 2, Chains: 214, Cells: [3]int{204, 18, 8}, Pools: [3]uint64{1: 2, 2: 1}, Remainder: 10,
	}, c)
	f.Advance(goldenTime(0))
	for i := range 500 {
		f.Advance(goldenTime(86_400_000 + 150*i))
		check(t, f.Add(fmt.Sprintf("key-%d", i)))
	}
	return f
}

// TestGolden reads the golden files, compares their answers with the vectors, and writes them again.
func TestGolden(t *testing.T) {
	for _, c := range goldens {
		path := "testdata/" + c.name
		if *update {
			check(t, c.make(t).Save(t.Context(), path+".window"))
		}
		file := must(os.ReadFile(path + ".window"))
		open := func() *Filter[string] {
			f := must(Open[string](t.Context(), path+".window", Config{EventTime: true, Secret: c.secret}))
			return f
		}
		f := open()
		if again, err := f.MarshalBinary(); err != nil || !bytes.Equal(again, file) {
			t.Errorf("%s is written in another way: %v", path, err)
		}
		v := vector{
			File: c.name + ".window", Page: "window.md", Spec: f.ring.fileSpec(f.ring.table.Geometry().Spec()).String(),
			Hash: f.ring.hash.id.String(), Seed: strconv.FormatUint(f.ring.hash.seed, 10), Now: fmt.Sprint(f.ring.now),
		}
		if c.secret != nil {
			v.Secret = hex.EncodeToString(c.secret[:])
		}
		for _, key := range c.keys {
			k, until := keyOf(f, key)
			v.Keys = append(v.Keys, k)
			if k.Has != f.Contains(key) {
				t.Errorf("%s: key %q: not %t", path, key, k.Has)
			}
			if k.Has && f.ring.started {
				for _, after := range []int64{-1, 0} {
					later := open()
					later.Advance(time.Unix(0, until+after))
					if later.Contains(key) != (after < 0) {
						t.Errorf("%s: key %q is not absent from %d on", path, key, until)
					}
				}
			}
		}
		text := must(json.MarshalIndent(v, "", "  "))
		text = append(text, '\n')
		if *update {
			check(t, os.WriteFile(path+".json", text, 0o666))
		}
		if want, err := os.ReadFile(path + ".json"); err != nil || !bytes.Equal(want, text) {
			t.Errorf("%s.json has other answers than\n%s%v", path, text, err)
		}
	}
}

// keyOf computes a key of a vector from the words of the file, as the page describes it, and the time from which the
// key is absent.
func keyOf(f *Filter[string], key string) (k vectorKey, until int64) {
	r := f.ring
	m := newModel(r)
	m.started, m.origin, m.now = r.started, r.origin, r.now
	h := f.hashKey(key)
	at := m.look(h)
	k = vectorKey{
		Text: key, Hi: fmt.Sprintf("%016x", h.Hi), Lo: fmt.Sprintf("%016x", h.Lo),
		Positions: []string{fmt.Sprint(at.bucket), fmt.Sprint(at.chain), fmt.Sprint(at.remainder)},
	}
	stored, err := rankindexed.Decode(r.table.Encode())
	if err != nil {
		panic(err)
	}
	value, ok := stored.Get(h)
	if !ok {
		return k, 0
	}
	k.Has, k.Stamp = true, fmt.Sprint(value)
	if !r.started {
		return k, 0
	}
	// The bucket was passed epoch times. The cell is removed at the pass after 7-age further passes.
	passes := m.epoch(at.bucket)
	epoch := new(big.Int).Sub(passes, new(big.Int).SetUint64(r.skipped))
	age := epoch.Sub(epoch, new(big.Int).SetUint64(value)).Mod(epoch, big.NewInt(stamps)).Int64()
	k.Age = fmt.Sprint(age)
	n := passes.Add(passes, big.NewInt(epochs-age)) // whole laps before that pass
	n.Mul(n, new(big.Int).SetUint64(m.buckets)).Add(n, new(big.Int).SetUint64(at.bucket+1)).Mul(n, big.NewInt(m.ttl))
	by := new(big.Int).SetUint64(epochs * m.buckets)
	n.Add(n, by).Sub(n, big.NewInt(1)).Div(n, by) // rounded up
	until = n.Add(n, big.NewInt(m.origin)).Int64()
	k.Until = fmt.Sprint(until)
	return k, until
}

// TestDocumented compares the example of docs/format/window.md with a golden file.
func TestDocumented(t *testing.T) {
	file := must(container.ReadFile("testdata/few.window", container.Options{Window: true}))
	f := must(Open[string](t.Context(), "testdata/few.window", Config{EventTime: true}))
	page := must(os.ReadFile("../docs/format/window.md"))
	laps, rest := f.ring.lapsPassed()
	want := []string{
		"    " + file.Spec.String() + "\n", fmt.Sprintf("%d keys", file.Keys), fmt.Sprintf("laps = %d", laps),
		fmt.Sprintf("rest = %d", rest), fmt.Sprintf("passed = %d", point(f.ring.target.Load()).bucket()),
		filtertest.DocumentedWords(file.Sections[0]), filtertest.DocumentedWords(file.Sections[3]),
	}
	for _, key := range []string{"a", "c", "e", "g", "i", "j"} {
		k, until := keyOf(f, key)
		row := fmt.Sprintf("\n| `%s` | %s | %s | %s |", key, k.Hi, k.Lo, strings.Join(k.Positions, " | "))
		if k.Has {
			row += fmt.Sprintf(" %s | %s | %d |\n", k.Stamp, k.Age, until-f.ring.now)
		} else {
			row += " absent | | |\n"
		}
		want = append(want, row)
	}
	for _, text := range want {
		if !strings.Contains(string(page), text) {
			t.Errorf("docs/format/window.md lacks:\n%s", text)
		}
	}
}

// TestGoldenParts checks that the golden files cover the features that they are meant to test.
func TestGoldenParts(t *testing.T) {
	f := must(Open[string](t.Context(), "testdata/keyed.window", Config{EventTime: true, Secret: &goldenSecret}))
	if f.ring.table.Extensions() == 0 || f.ring.skipped == 0 {
		t.Errorf("%d extensions, %d laps skipped", f.ring.table.Extensions(), f.ring.skipped)
	}
}
