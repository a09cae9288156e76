package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// TestBatches compares batches with single queries, at lengths around the internal batch sizes.
func TestBatches(t *testing.T) {
	keys := words("key ", 700)
	var ints []uint64
	for i := range uint64(700) {
		ints = append(ints, i)
	}
	for _, spec := range slices.Concat(specs, foreignSpecs) {
		set, numbers := built(t, keys[:350], bloomery.Config{Spec: spec}), built(t, ints[:350], bloomery.Config{Spec: spec})
		h := set.Hasher()
		for _, n := range []int{0, 1, 7, 255, 256, 257, 700} {
			text, raw, number, hashed := make([]bool, n), make([]bool, n), make([]bool, n), make([]bool, n)
			hs := make([]filter.Hash, n)
			for i := range hs {
				hs[i] = h.SumString(keys[i])
			}
			bloomery.Keyed[string](set).ContainsMany(text, keys[:n])
			bloomery.Keyed[[]byte](set).ContainsMany(raw, slicesOf(keys[:n]))
			set.ContainsHashes(hashed, hs)
			bloomery.Keyed[uint64](numbers).ContainsMany(number, ints[:n])
			for i := range n {
				want := set.ContainsString(keys[i])
				same := text[i] == want && raw[i] == want && hashed[i] == set.ContainsHash(hs[i])
				if !same || number[i] != bloomery.Keyed[uint64](numbers).Contains(ints[i]) {
					t.Fatalf("%s: key %d of %d: batch and single query differ", spec, i, n)
				}
			}
		}
	}
}

// TestBatchLengths checks that every batch with wrong lengths panics before it writes, with both lengths in the
// message.
func TestBatchLengths(t *testing.T) {
	sets := map[string]*bloomery.Set{"zero": new(bloomery.Set)}
	for _, spec := range slices.Concat(specs, foreignSpecs) {
		sets[spec] = built(t, words("key ", 100), bloomery.Config{Spec: spec})
	}
	for what, set := range sets {
		for _, n := range []int{0, 2, 4, 300} {
			dst := make([]bool, 3, 400)
			keys := words("key ", n)
			for name, batch := range map[string]func(){
				"bytes":    func() { bloomery.Keyed[[]byte](set).ContainsMany(dst, slicesOf(keys)) },
				"strings":  func() { bloomery.Keyed[string](set).ContainsMany(dst, keys) },
				"integers": func() { bloomery.Keyed[uint64](set).ContainsMany(dst, make([]uint64, n)) },
				"hashes":   func() { set.ContainsHashes(dst, make([]filter.Hash, n)) },
			} {
				message := panicOf(batch)
				for _, part := range []string{"3", fmt.Sprint(n), "dst"} {
					if !strings.Contains(message, part) {
						t.Errorf("%s: %s of 3 places and %d keys: %q", what, name, n, message)
						break
					}
				}
			}
			for i, wrote := range dst[:400] {
				if wrote {
					t.Errorf("%s: place %d was written", what, i)
				}
			}
		}
	}
}

// panicOf returns what f panics with, or "".
func panicOf(f func()) (message string) {
	defer func() {
		if r := recover(); r != nil {
			message = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}
