package shard_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// vector is a line of testdata/routing.json. Key or Integer, Hash and Seed or Secret are empty if only the hash of the
// key is given.
type vector struct {
	Key, Integer, Hash, Seed, Secret string
	Hi, Lo                           string
	Shards                           map[string]int
}

// hash returns the hash in the vector, and the hash of its key if it has one.
func (v vector) hash(t *testing.T) (given, of filter.Hash) {
	number := func(text string, base int) uint64 {
		n, err := strconv.ParseUint(text, base, 64)
		check(t, err)
		return n
	}
	given = filter.Hash{Hi: number(v.Hi, 16), Lo: number(v.Lo, 16)}
	var hasher filter.Hasher
	switch v.Hash {
	case "":
		return given, given
	case filter.XXH3.String():
		hasher = filter.NewHasher(number(v.Seed, 10))
	case filter.SipHash.String():
		var secret filter.Secret
		if n, err := hex.Decode(secret[:], []byte(v.Secret)); n != len(secret) || err != nil {
			t.Fatalf("secret %q: %v", v.Secret, err)
		}
		hasher = filter.NewKeyedHasher(secret)
	default:
		t.Fatalf("hash %q", v.Hash)
	}
	if v.Integer != "" {
		return given, hasher.SumUint64(number(v.Integer, 10))
	}
	return given, hasher.SumString(v.Key)
}

// formula computes routing 1 as docs/format.md defines it, in exact arithmetic.
func formula(h filter.Hash, shards int) int {
	number := func(x uint64) *big.Int { return new(big.Int).SetUint64(x) }
	word := new(big.Int).Lsh(big.NewInt(1), 64)
	m := func(a, b *big.Int) *big.Int {
		high, low := new(big.Int).DivMod(new(big.Int).Mul(a, b), word, new(big.Int))
		return high.Xor(high, low)
	}
	a, b, c := number(0xA54FF53A5F1D36F1), number(0x510E527FADE682D1), number(0x9B05688C2B3E6C1F)
	x := m(number(h.Hi).Xor(number(h.Hi), a), number(h.Lo).Xor(number(h.Lo), b))
	x = m(x.Xor(x, a), c)
	x.Mul(x, big.NewInt(int64(shards)))
	return int(x.Div(x, word).Int64())
}

// TestRouteVectors compares Route, the hash functions and the formula of docs/format.md with testdata/routing.json.
// Readers in other languages may use that file: its vectors never change.
func TestRouteVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/routing.json")
	check(t, err)
	var file struct {
		Routing      int
		Hashes, Keys []vector
	}
	check(t, json.Unmarshal(text, &file))
	if file.Routing != 1 || len(file.Hashes) < 10 || len(file.Keys) < 20 {
		t.Fatalf("routing %d, %d and %d vectors", file.Routing, len(file.Hashes), len(file.Keys))
	}
	for _, v := range append(file.Hashes, file.Keys...) {
		given, of := v.hash(t)
		if given != of {
			t.Errorf("%+v: the hash is %x, %x", v, of.Hi, of.Lo)
		}
		for number, want := range v.Shards {
			shards, err := strconv.Atoi(number)
			check(t, err)
			if got := shard.Route(given, shards); got != want {
				t.Errorf("%+v: shard %d of %d", v, got, shards)
			}
			if got := formula(given, shards); got != want {
				t.Errorf("%+v: by the formula shard %d of %d", v, got, shards)
			}
		}
	}
	checkDocumented(t, file.Keys)
}

// documented returns the line of docs/format.md for a vector.
func documented(v vector) string {
	key := "`" + v.Key + "`"
	switch {
	case v.Integer != "":
		key = "integer " + v.Integer
	case v.Key == "":
		key = "empty"
	}
	return fmt.Sprintf("| %s | %s, %s | %s | %s | %d | %d |", key, v.Hash, v.Seed, v.Hi, v.Lo,
		v.Shards["16"], v.Shards["1000"])
}

// checkDocumented requires that every vector in the table of docs/format.md is in testdata/routing.json.
func checkDocumented(t *testing.T, vectors []vector) {
	doc, err := os.ReadFile("../docs/format.md")
	check(t, err)
	known := map[string]bool{}
	for _, v := range vectors {
		known[documented(v)] = true
	}
	_, table, _ := strings.Cut(string(doc), "| of 16 | of 1000 |\n|---|---|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	lines := strings.Split(table, "\n")
	if len(lines) < 5 {
		t.Errorf("docs/format.md has no table of vectors")
	}
	for _, line := range lines {
		if !known[line] {
			t.Errorf("docs/format.md has a vector that testdata/routing.json does not have: %s", line)
		}
	}
}

// TestManifestExample reads the example of docs/format.md and writes it again.
func TestManifestExample(t *testing.T) {
	want, err := os.ReadFile("testdata/manifest.json")
	check(t, err)
	m, err := shard.ReadManifest(bytes.NewReader(want))
	check(t, err)
	if got := text(t, m); got != string(want) {
		t.Errorf("written again:\n%s", got)
	}
}
