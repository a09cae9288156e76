package shard_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// open reads the manifest of an example.
func open(dir string) *shard.Manifest {
	f, err := os.Open(filepath.Join(dir, shard.ManifestName))
	if err != nil {
		panic(err)
	}
	defer f.Close()
	m, err := shard.ReadManifest(f)
	if err != nil {
		panic(err)
	}
	return m
}

// Query only the machine that stores the shard of a key.
func ExampleRoute() {
	m := open("testdata/sets/blocked")
	h := filter.NewHasher(m.Seed)
	for _, key := range []string{"alice", "bob", "carol"} {
		s := shard.Route(h.SumString(key), len(m.Shards))
		fmt.Println(key, "->", m.Shards[s].File)
	}
	// Output:
	// alice -> 00000-of-00005.bloom
	// bob -> 00002-of-00005.bloom
	// carol -> 00001-of-00005.bloom
}

// A Manifest describes a set without opening a shard.
func ExampleReadManifest() {
	text, err := os.ReadFile("testdata/manifest.json")
	if err != nil {
		panic(err)
	}
	m, err := shard.ReadManifest(bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	_, posterior := m.FPR()
	fmt.Println(m.Spec, m.Hash, len(m.Shards), "shards")
	fmt.Printf("%d keys, %d bytes, false-positive rate %.4f\n", m.Keys(), m.Bytes(), posterior)
	// Output:
	// blocked(fpr=0.01) xxh3-128 3 shards
	// 3000 keys, 4416 bytes, false-positive rate 0.0099
}

// A copy of a shard is intact if its SHA-256 matches the manifest.
func ExampleEntry() {
	const dir = "testdata/sets/blocked"
	e := open(dir).Shards[0]
	b, err := os.ReadFile(filepath.Join(dir, e.File))
	if err != nil {
		panic(err)
	}
	fmt.Println(e.File, sha256.Sum256(b) == e.SHA256)
	// Output: 00000-of-00005.bloom true
}
