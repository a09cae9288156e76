package keyio

import (
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestHex(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		keep       bool
		want       []string
	}{
		{"empty file", "", true, nil},
		{"both cases", "6a6B\n4F\n", false, []string{"jk", "O"}},
		{"all bytes", "000a0d09ff\n0a\n00\n", false, []string{"\x00\n\r\t\xff", "\n", "\x00"}},
		{"CRLF, no last newline", "61\r\n62", false, []string{"a", "b"}},
		{"empties skipped", "\n\r\n61\n\n62\n\n", false, []string{"a", "b"}},
		{"empties kept", "\n\r\n61\n\n62\n", true, []string{"", "", "a", "", "b"}},
	} {
		for _, block := range []int{1, 2, 3, 7, blockSize} {
			got, err := keysOf(t, open(t, Options{Format: Hex, KeepEmpty: tt.keep}, block, tt.text))
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s, blocks of %d: %q, %v; want %q", tt.name, block, got, err, tt.want)
			}
		}
	}
}

// TestHexErrors looks for the line number behind keys that have line ends.
func TestHexErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"0a0a0a\n\n0a\n6\n", ":4: not a key in hexadecimal digits"},
		{"0a0a\nzz\n", ":2: not a key in hexadecimal digits"},
		{"61 62\n", ":1: not a key"},
		{"0x61\n", ":1: not a key"},
		{"0a0a\n61\x00\n", ":2: not a key"},
	} {
		for _, block := range []int{1, 3, blockSize} {
			_, err := keysOf(t, open(t, Options{Format: Hex}, block, tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%q, blocks of %d: error %v; want %q", tt.text, block, err, tt.want)
			}
		}
	}
	for _, tt := range []struct {
		text string
		line int64 // of the long key; 0: none is too long
	}{
		{"0a0a\n616263\n", 0},
		{"0a0a\r\n616263\r\n", 0},
		{"0a0a\n61626364\n", 2},
		{"0a0a\n" + strings.Repeat("6", 2000) + "\n", 2},
	} {
		for _, block := range []int{1, 3, blockSize} {
			_, err := keysOf(t, open(t, Options{Format: Hex, MaxKey: 3}, block, tt.text))
			var long *KeyTooLongError
			if errors.As(err, &long) != (tt.line > 0) || long != nil && long.Line != tt.line {
				t.Errorf("%.20q, blocks of %d: error %v; want line %d", tt.text, block, err, tt.line)
			}
		}
	}
	for _, o := range []Options{{Column: "2"}, {Header: true}, {Rows: true}, {Second: "2"}, {Delimiter: ';'}} {
		o.Format = Hex
		if _, err := o.check(); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// TestHexRandom reads keys of any bytes.
func TestHexRandom(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, seed))
	for range 100 {
		var text strings.Builder
		var want []string
		for range rng.IntN(200) {
			key := make([]byte, rng.IntN(20))
			for i := range key {
				key[i] = byte(rng.Uint32())
			}
			want = append(want, string(key))
			text.WriteString(hex.EncodeToString(key) + "\n")
		}
		got, err := keysOf(t, open(t, Options{Format: Hex, KeepEmpty: true}, 1+rng.IntN(60), text.String()))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q: %q, %v", text.String(), got, err)
		}
	}
}
