package paper

import (
	"encoding/hex"
	"slices"
	"testing"
)

// TestMD5 compares positions with the output of md5sum for "\0abc" and "\1abc".
func TestMD5(t *testing.T) {
	const m = 1_000_000
	whole := []uint64{3930667386, 1622385841, 643805343, 2414603161, 421823248, 2058268752, 2886450203, 3400310065}
	p := MD5Positions{Block: []byte("?abc"), M: m}
	for j, want := range whole {
		if got := p.At(j); got != want%m {
			t.Errorf("position %d is %d, want %d", j, got, want%m)
		}
	}
}

// TestNibbles takes an odd number of digits.
func TestNibbles(t *testing.T) {
	digest, _ := hex.DecodeString("29295e325b77f8f822522728e795c1a4")
	if got := Nibbles(digest, 5); !slices.Equal(got, []uint64{2, 9, 2, 9, 5}) {
		t.Errorf("%x", got)
	}
}
