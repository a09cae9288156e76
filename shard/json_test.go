package shard_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/shard"
)

// endless is a reader of a head and then of endless entries. It counts the bytes that were read.
type endless struct {
	head io.Reader
	n    int
}

func (r *endless) Read(p []byte) (int, error) {
	n, err := r.head.Read(p)
	if err != nil {
		const empty = "{},"
		for n = 0; n+len(empty) <= len(p); n += len(empty) {
			copy(p[n:], empty)
		}
	}
	r.n += n
	return n, nil
}

// TestManifestEndless checks that reading stops at the first excess entry.
func TestManifestEndless(t *testing.T) {
	for head, most := range map[string]int{
		`{"format":"bloomery-shards","version":1,"count":1000,"shards":[`: 1 << 16,
		`{"shards":[`: 3*shard.Max + 1<<16,
		`{"count":4611686018427387904,"shards":[`: 3*shard.Max + 1<<16,
		`{"count":-1,"shards":[`:                  3*shard.Max + 1<<16,
		`{"unknown":1,"shards":[`:                 3*shard.Max + 1<<16,
	} {
		r := &endless{head: strings.NewReader(head)}
		_, err := shard.ReadManifest(r)
		if !errors.Is(err, shard.ErrManifest) || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: error %v", head, err)
		}
		if r.n > most {
			t.Errorf("%s: %d bytes were read, want at most %d", head, r.n, most)
		}
	}
}

// TestManifestOrder checks that fields may have any order, and that unknown fields do not hide a newer version.
func TestManifestOrder(t *testing.T) {
	good := text(t, manifest(t))
	list := regexp.MustCompile(`(?s)"shards": \[.*\]`).FindString(good)
	other := strings.Replace(strings.Replace(good, ",\n  "+list, "", 1), "{", "{"+list+",", 1)
	m, err := shard.ReadManifest(strings.NewReader(other))
	check(t, err)
	if text(t, m) != good {
		t.Error("another manifest if the shards come first")
	}
	newer := strings.Replace(other, `"version": 1`, `"version": 2`, 1)
	for _, change := range [][2]string{
		{`{"shards"`, `{"new": [{"a": {}}, 2], "shards"`}, {`"keys"`, `"new": {}, "keys"`}, {`"keys":1000`, `"keys":"many"`},
		{`"count": 3`, `"count": "three"`},
	} {
		bad := strings.Replace(newer, change[0], change[1], 1)
		if bad == newer {
			t.Fatalf("%s is not in %s", change[0], newer)
		}
		_, err := shard.ReadManifest(strings.NewReader(bad))
		if err == nil || !strings.Contains(err.Error(), "newer Bloomery") {
			t.Errorf("%s: error %v", change[1], err)
		}
		older := strings.Replace(bad, `"version": 2`, `"version": 1`, 1)
		if _, err := shard.ReadManifest(strings.NewReader(older)); !errors.Is(err, shard.ErrManifest) {
			t.Errorf("version 1, %s: error %v", change[1], err)
		}
	}
}

// BenchmarkReadManifest reads manifests of different sizes.
func BenchmarkReadManifest(b *testing.B) {
	for _, shards := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("shards=%d", shards), func(b *testing.B) {
			m := &shard.Manifest{Spec: family.NewSpec("fuse"), Hash: filter.XXH3, Shards: make([]shard.Entry, shards)}
			for i := range m.Shards {
				m.Shards[i] = shard.Entry{
					File: fileName(i, shards), Keys: 1000, Bytes: 1472, FPRPrior: 0.01, FPRPosterior: 0.01,
				}
			}
			var text bytes.Buffer
			if _, err := m.WriteTo(&text); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := shard.ReadManifest(bytes.NewReader(text.Bytes())); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
