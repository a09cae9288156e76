package main

import (
	"encoding/hex"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// TestSpoiledSecret truncates a file with a secret or flips bits of it 2,000 times. The file must be refused, or the
// filter must refuse the secret, or the secret must be unchanged.
func TestSpoiledSecret(t *testing.T) {
	const seed = 28
	r := rand.New(rand.NewPCG(seed, 1))
	var secret filter.Secret
	for i := range secret {
		secret[i] = byte(r.Uint32())
	}
	dir := t.TempDir()
	path, keyed := filepath.Join(dir, "secret"), filepath.Join(dir, "f.bloom")
	good := append([]byte(hex.EncodeToString(secret[:])), '\n')
	b, err := bloomery.NewBuilder(t.Context(), bloomery.Config{Spec: "standard(bytes=1000)",
		Hashing: bloomery.Hashing{Secret: &secret}})
	must(t, err)
	defer b.Close()
	set, err := b.Build(t.Context())
	if err == nil {
		err = set.Save(t.Context(), keyed)
	}
	must(t, err)
	badFile, badSecret := 0, 0
	for round := range 2000 {
		bad, at := slices.Clone(good), r.IntN(len(good))
		switch r.IntN(4) {
		case 0:
			bad = bad[:at]
		case 1:
			bad = slices.Concat(bad[:at], good)
		case 2:
			bad[at] = "0123456789abcdef"[r.IntN(16)]
		default:
			bad[at] ^= 1 << r.IntN(8)
		}
		mustWrite(t, path, bad)
		got, err := readSecret(t.Context(), path)
		if err != nil {
			badFile++
			continue
		}
		set, err := bloomery.Open(t.Context(), keyed, bloomery.WithSecret(got))
		switch {
		case err != nil:
			badSecret++
		case *got != secret:
			t.Fatalf("seed %d, round %d: the filter takes the secret of %q", seed, round, bad)
		default:
			_ = set.Close()
		}
	}
	t.Logf("2000 files: %d refused, %d secrets refused by the filter", badFile, badSecret)
	if badFile < 500 || badSecret < 100 {
		t.Errorf("2000 files: only %d refused, %d secrets refused by the filter", badFile, badSecret)
	}
}
