package filter

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/dchest/siphash"
)

// SecretSize is the size of the secret of a keyed Hasher, in bytes.
const SecretSize = 16

// Secret is the secret of a keyed Hasher: two little-endian words. Every value is valid; NewSecret makes a random one,
// and Secret(b) takes the bytes of a slice. fmt, log/slog and JSON show it as REDACTED. In an unexported field, fmt
// does not call its methods and prints the secret: hold a Hasher there instead, which masks it.
type Secret [SecretSize]byte

// redacted is printed in place of a Secret.
const redacted = "REDACTED"

// NewSecret returns a random Secret. Keep it: files do not contain it.
func NewSecret() *Secret {
	s := new(Secret)
	_, _ = rand.Read(s[:]) // documented never to fail
	return s
}

// Format prints REDACTED for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText returns REDACTED, for JSON and log/slog. Nothing reads it back.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// NewKeyedHasher returns a SipHash hasher under a secret.
func NewKeyedHasher(secret Secret) Hasher {
	a, b := binary.LittleEndian.Uint64(secret[:8]), binary.LittleEndian.Uint64(secret[8:])
	kind := uint64(SipHash) | keyCheck(a, b)>>32<<32
	maskA, maskB := mask(kind)
	return Hasher{kind: kind, a: a ^ maskA, b: b ^ maskB}
}

// secret returns the two words of the secret of a SipHash hasher.
func (h Hasher) secret() (a, b uint64) {
	maskA, maskB := mask(h.kind)
	return h.a ^ maskA, h.b ^ maskB
}

// pad is the key of mask: random, and fixed for the life of the process.
var pad = newPad()

func newPad() (p [4]uint64) {
	var b [8 * len(p)]byte
	_, _ = rand.Read(b[:]) // it never fails
	for i := range p {
		p[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return p
}

// mask returns the two words with which a Hasher XORs the two words of its secret. fmt, reflection and debug printers
// reach unexported fields, and their output goes to logs; with the mask they print random words. The mask depends on
// kind, hence on the secret, so that someone who sees two Hashers and knows the secret of one learns nothing about the
// other. It does not protect from code that reads the memory of this process, which also contains pad.
func mask(kind uint64) (a, b uint64) {
	a, b = bits.Mul64(kind&^formBits^pad[0], pad[1]|1) // the words stay the same with another KeyForm
	return a ^ pad[2], b ^ pad[3]
}

// keyCheckLabel is hashed under a secret to recognise the secret. It is longer than any domain or mail address, so it
// is unlikely to be a real key.
const keyCheckLabel = "bloomery: this sentence is hashed to recognise the secret of a keyed filter, format 1"

// KeyCheck returns 64 bits that recognise the secret of a keyed hasher and do not reveal it. They are public: files
// contain them. It returns 0 for a hasher without a secret, and never for one with a secret.
func (h Hasher) KeyCheck() uint64 {
	if h.ID() != SipHash {
		return 0
	}
	return keyCheck(h.secret())
}

func keyCheck(a, b uint64) uint64 {
	_, hi := siphash.Hash128(a, b, []byte(keyCheckLabel))
	return hi | 1
}

// String returns the name of the hash function, with the seed or the KeyCheck in hexadecimal: "xxh3-128(seed=7)",
// "siphash-128(check=85d7c0d7ac54cb05)", "murmur3-x64-128", and the KeyForm unless it is zero: "xxh64 of int32". It
// never contains the secret.
func (h Hasher) String() string {
	text := h.ID().String()
	switch h.ID() {
	case XXH3:
		text = fmt.Sprintf("%s(seed=%d)", XXH3, h.a)
	case SipHash:
		text = fmt.Sprintf("%s(check=%016x)", SipHash, h.KeyCheck())
	}
	if h.Form() != (KeyForm{}) {
		text += " of " + h.Form().String()
	}
	return text
}

// Format prints String for every verb, %#v and %x included.
func (h Hasher) Format(s fmt.State, _ rune) {
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, 's'), h.String())
}

// MarshalText returns String, for JSON, package log/slog and other encodings. Nothing reads it back: a Hasher is made
// from its seed or secret.
func (h Hasher) MarshalText() ([]byte, error) { return []byte(h.String()), nil }
