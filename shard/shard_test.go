package shard_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/shard"
)

// TestRouteEven counts keys by shard. The counts must vary like counts of random keys. Each hash differs from a fixed
// one in only a few bits, so the test fails if any bit of either half has no effect.
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

// fileName returns the name of the file of a shard.
func fileName(s, shards int) string { return fmt.Sprintf("%05d-of-%05d.bloom", s, shards) }

func manifest(t *testing.T) *shard.Manifest {
	spec, err := filter.ParseSpec("blocked(fpr=0.01)")
	check(t, err)
	m := &shard.Manifest{Spec: spec, Hash: filter.XXH3, Seed: math.MaxUint64, FPRPlanned: 0.01}
	for i := range 3 {
		m.Shards = append(m.Shards, shard.Entry{
			File: fileName(i, 3), Keys: 1000, Bytes: 1472, SHA256: sha256.Sum256([]byte{byte(i)}),
			FPRPrior: 0.00998877, FPRPosterior: 0.0098765,
		})
	}
	m.Shards[1].File = "00001-of-00003.abc123.bloom"
	return m
}

func text(t *testing.T, m *shard.Manifest) string {
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestManifest writes, reads and writes a manifest again, and checks that the bytes are the same.
func TestManifest(t *testing.T) {
	m := manifest(t)
	first := text(t, m)
	if want := `"plan": "` + m.ID() + `"`; !strings.Contains(first, want) {
		t.Errorf("no %s in\n%s", want, first)
	}
	back, err := shard.ReadManifest(strings.NewReader(first))
	check(t, err)
	if again := text(t, back); again != first {
		t.Errorf("read and written again:\n%s\nbefore:\n%s", again, first)
	}
	for i := range m.Shards { // rates are rounded in a file
		m.Shards[i].FPRPrior, m.Shards[i].FPRPosterior = 0.009989, 0.009876
	}
	if back.Keys() != 3000 || back.Bytes() != 3*1472 || !reflect.DeepEqual(back, m) {
		t.Errorf("%d keys, %d bytes, %+v", back.Keys(), back.Bytes(), back)
	}
	if prior, posterior := back.FPR(); prior != 0.009989 || math.Abs(posterior-0.009876) > 1e-12 {
		t.Errorf("rates %v, %v", prior, posterior)
	}
}

// TestManifestHostile changes manifests. Each must be refused with ErrManifest.
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
		{`"fpr_planned": 0.01`, `"fpr_planned": 1.5`},
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
		{`"fpr_planned": 0.01`, `"fpr_planned": null`},
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

// FuzzManifest checks that arbitrary bytes are refused, or are a manifest that is unchanged after writing and reading.
func FuzzManifest(f *testing.F) {
	paths, err := filepath.Glob("testdata/sets/*/" + shard.ManifestName)
	if err != nil || len(paths) == 0 {
		f.Fatalf("%d seeds, %v", len(paths), err)
	}
	for _, path := range append(paths, "testdata/manifest.json") {
		text, err := os.ReadFile(path)
		check(f, err)
		f.Add(text)
	}
	var b bytes.Buffer
	m := &shard.Manifest{
		Spec: family.NewSpec("fuse"), Hash: filter.XXH3, Shards: []shard.Entry{{File: fileName(0, 1), Bytes: 1}},
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

// TestParseName checks that a name consists of the number of its shard, the number of shards, at most Max, and an
// optional suffix.
func TestParseName(t *testing.T) {
	for name, want := range map[string]int{
		"00000-of-00001.bloom": 0, "00017-of-00300.0az9.bloom": 17, "1048575-of-1048576.bloom": 1048575,
		"00003-of-00004." + strings.Repeat("a", 32) + ".bloom": 3, "00003-of-00004." + strings.Repeat("a", 33) + ".bloom": -1,
		"0000000-of-1048577.bloom": -1, "00004-of-00004.bloom": -1, "3-of-00004.bloom": -1, "00003-of-4.bloom": -1,
		"000003-of-00004.bloom": -1, "-0001-of-00004.bloom": -1, "00003-of-00004": -1, "00003-of-00004.": -1,
		"00003-of-00004..bloom": -1, "00003-of-00004.A.bloom": -1, "00003-of-00004.a.b.bloom": -1,
		"a/00003-of-00004.bloom":           -1,
		"00003-of-00004.bloom.bloom.bloom": -1, "00003-of-00004abloom": -1, "00003-of-00004a.bloom": -1, "": -1,
	} {
		s, shards, ok := shard.ParseName(name)
		if ok != (want >= 0) || ok && (s != want || shards <= s) {
			t.Errorf("%s: shard %d of %d, %t", name, s, shards, ok)
		}
	}
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
