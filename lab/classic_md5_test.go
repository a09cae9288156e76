package lab

import (
	"encoding/hex"
	"slices"
	"testing"
)

// TestMD5 holds the positions against md5sum of "\0abc" and "\1abc", cut by hand.
func TestMD5(t *testing.T) {
	const m = 1_000_000
	whole := []uint64{3930667386, 1622385841, 643805343, 2414603161, 421823248, 2058268752, 2886450203, 3400310065}
	p := md5Position{block: []byte("?abc"), m: m}
	for j, want := range whole {
		if got := p.at(j); got != want%m {
			t.Errorf("position %d is %d, want %d", j, got, want%m)
		}
	}
}

// TestNibbles takes the first digits of a digest, an odd number of them.
func TestNibbles(t *testing.T) {
	digest, _ := hex.DecodeString("29295e325b77f8f822522728e795c1a4")
	if got := nibbles(digest, 5); !slices.Equal(got, []uint64{2, 9, 2, 9, 5}) {
		t.Errorf("%x", got)
	}
}
