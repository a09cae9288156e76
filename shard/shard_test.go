package shard_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/shardfile"
	"github.com/bloomery/bloomery/shard"
)

// TestRouteEven counts keys by shard: the counts must have the spread of random ones. Each of the hashes differs from a
// fixed one in a few bits only, so that every bit of both halves must matter.
func TestRouteEven(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, hash := range map[string]func(i uint64) filter.Hash{
		"random":   func(uint64) filter.Hash { return filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()} },
		"high":     func(i uint64) filter.Hash { return filter.Hash{Hi: i << 40, Lo: 12345} },
		"low":      func(i uint64) filter.Hash { return filter.Hash{Hi: 54321, Lo: i} },
		"low high": func(i uint64) filter.Hash { return filter.Hash{Hi: 54321, Lo: i << 40} },
		"both":     func(i uint64) filter.Hash { return filter.Hash{Hi: i & 0x3ff, Lo: i >> 10} },
	} {
		for _, shards := range []int{2, 16, 1000} {
			const keys = 1 << 18
			counts := make([]float64, shards)
			for i := range uint64(keys) {
				counts[shard.Route(hash(i), shards)]++
			}
			mean, chi := float64(keys)/float64(shards), 0.0
			for _, c := range counts {
				chi += (c - mean) * (c - mean) / mean
			}
			free := float64(shards - 1)
			if z := (chi - free) / math.Sqrt(2*free); z > 6 {
				t.Errorf("%s hashes, %d shards: chi square %.1f for %.0f degrees of freedom", name, shards, chi, free)
			}
		}
	}
}

func manifest(t *testing.T) *shard.Manifest {
	spec, err := filter.ParseSpec("blocked(fpr=0.01)")
	if err != nil {
		t.Fatal(err)
	}
	m := &shard.Manifest{Spec: spec, Hash: filter.XXH3, Seed: math.MaxUint64, FPRChosen: 0.01}
	for i := range 3 {
		m.Shards = append(m.Shards, shard.Entry{
			File: shardfile.Name(i, 3, ""), Keys: 1000, Bytes: 1472, SHA256: sha256.Sum256([]byte{byte(i)}),
			FPRPrior: 0.00998877, FPRPosterior: 0.0098765,
		})
	}
	m.Shards[1].File = shardfile.Name(1, 3, "abc123")
	return m
}

func text(t *testing.T, m *shard.Manifest) string {
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// rounded returns a copy of m as it stands in a file.
func rounded(m *shard.Manifest) *shard.Manifest {
	c := *m
	c.Shards = slices.Clone(m.Shards)
	for i := range c.Shards {
		e := &c.Shards[i]
		e.FPRPrior, e.FPRPosterior = shardfile.Rate(e.FPRPrior), shardfile.Rate(e.FPRPosterior)
	}
	return &c
}

// TestManifest writes, reads and writes again: the same bytes.
func TestManifest(t *testing.T) {
	m := manifest(t)
	first := text(t, m)
	back, err := shard.ReadManifest(strings.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if again := text(t, back); again != first {
		t.Errorf("read and written again:\n%s\nbefore:\n%s", again, first)
	}
	if back.Keys() != 3000 || back.Bytes() != 3*1472 || !reflect.DeepEqual(back, rounded(m)) {
		t.Errorf("%d keys, %d bytes, %+v", back.Keys(), back.Bytes(), back)
	}
	if prior, posterior := back.FPR(); prior != 0.009989 || math.Abs(posterior-0.009876) > 1e-12 {
		t.Errorf("rates %v, %v", prior, posterior)
	}
}

// TestManifestHostile changes manifests: each must be refused with ErrManifest.
func TestManifestHostile(t *testing.T) {
	good := text(t, manifest(t))
	for _, change := range [][2]string{
		{`"bloomery-shards"`, `"other"`},
		{`"version": 1`, `"version": 2`},
		{`"version": 1`, `"version": 0`},
		{`"routing": 1`, `"routing": 2`},
		{`"count": 3`, `"count": 4`},
		{`"count": 3`, `"count": 2`},
		{`blocked(fpr=0.01)`, `standard(fpr=0.01)`},
		{`blocked(fpr=0.01)`, `blocked(`},
		{`xxh3-128`, `md5`},
		{`xxh3-128`, `siphash-128`},
		{`18446744073709551615`, `18446744073709551616`},
		{`"fpr_chosen": 0.01`, `"fpr_chosen": 1.5`},
		{`00000-of-00003.bloom`, `../0-of-00003.bloom`},
		{`00000-of-00003.bloom`, `00000-of-00003.x/y.bloom`},
		{`00000-of-00003.bloom`, `00000-of-00003..bloom`},
		{`00000-of-00003.bloom`, `00001-of-00003.bloom`},
		{`00000-of-00003.bloom`, `00000-of-00003`},
		{`"bytes":1472`, `"bytes":-1`},
		{`"bytes":1472`, `"bytes":0`},
		{`"bytes":1472`, `"bytes":99999999999999999999`},
		{`"keys":1000`, `"keys":9223372036854775807`},
		{`"fpr_prior":0.009989`, `"fpr_prior":2`},
		{`"sha256":"`, `"sha256":"00`},
		{`"sha256":"6`, `"sha256":"x`},
		{`"sha256":"6e340b`, `"sha256":"6E340b`},
		{`"routing"`, `"secret": 1, "routing"`},
		{`"routing"`, `"Routing"`},
		{`"routing"`, `"key_check": "", "routing"`},
		{`"routing"`, `"key_check": null, "routing"`},
		{`"fpr_chosen": 0.01`, `"fpr_chosen": null`},
		{`"seed": "`, `"seed": "0`},
		{`"seed": "`, `"seed": "+`},
		{`blocked(fpr=0.01)`, `blocked( fpr=0.01)`},
		{`"keys":1000`, `"Keys":1000`},
		{`"keys":1000`, `"keys":1000,"more":[1,{"keys":2}]`},
		{`"keys":1000`, `"keys":1000,"":1`},
		{`"keys":1000,`, ``},
		{`"fpr_prior":0.009989,`, ``},
		{`"fpr_prior":0.009989`, `"fpr_prior":null`},
		{`"shards"`, `"Shards"`},
		{"\n}\n", "\n}\n{}"},
		{"\n}\n", "\n"},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Fatalf("%q is not in the manifest:\n%s", change[0], good)
		}
		if _, err := shard.ReadManifest(strings.NewReader(bad)); !errors.Is(err, shard.ErrManifest) {
			t.Errorf("%s to %s: error %v", change[0], change[1], err)
		}
	}
	for i := range good[:len(good)-2] {
		if _, err := shard.ReadManifest(strings.NewReader(good[:i])); !errors.Is(err, shard.ErrManifest) {
			t.Fatalf("cut to %d bytes: error %v", i, err)
		}
	}
}

// FuzzManifest: any bytes are refused, or are a manifest that is the same after it was written and read again.
func FuzzManifest(f *testing.F) {
	paths, err := filepath.Glob("testdata/sets/*/" + shard.ManifestName)
	if err != nil || len(paths) == 0 {
		f.Fatalf("%d seeds, %v", len(paths), err)
	}
	for _, path := range append(paths, "testdata/manifest.json") {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	var b bytes.Buffer
	m := &shard.Manifest{
		Spec: family.NewSpec("fuse"), Hash: filter.XXH3, Shards: []shard.Entry{{File: shardfile.Name(0, 1, ""), Bytes: 1}},
	}
	if _, err := m.WriteTo(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := shard.ReadManifest(bytes.NewReader(in))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if _, err := m.WriteTo(&out); err != nil {
			t.Fatalf("a manifest that was read cannot be written: %v", err)
		}
		first := out.String()
		again, err := shard.ReadManifest(&out)
		if err != nil {
			t.Fatalf("a manifest that was written cannot be read: %v", err)
		}
		var second bytes.Buffer
		if _, err := again.WriteTo(&second); err != nil || second.String() != first {
			t.Fatalf("%s became %s, %v", first, &second, err)
		}
	})
}

// TestMost: the names end where the numbers of shards of package shard end.
func TestMost(t *testing.T) {
	if !shardfile.IsName(shardfile.Name(0, shard.Max, "")) || shardfile.IsName(shardfile.Name(0, shard.Max+1, "")) {
		t.Error("IsName has another limit than shard.Max")
	}
}
