package publish

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/strictjson"
	"github.com/bloomery/bloomery/internal/untrusted"
)

const (
	publicPrefix  = "ed25519:"
	privatePrefix = "ed25519-private:"
	signedPrefix  = "bloomery-release-v1\n" // prefix of the signed text
	maxSignatures = 16
)

// PublicKey checks signatures of releases. Keys are equal if they are ==. The zero value is not a key.
type PublicKey struct{ key [ed25519.PublicKeySize]byte }

// PrivateKey signs releases. The zero value is not a key. fmt never prints its secret part.
type PrivateKey struct{ key ed25519.PrivateKey }

// NewKey returns a new private key from the system's secure random numbers.
func NewKey() (PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(nil)
	return PrivateKey{key}, err
}

// ParsePublicKey returns the key of the text "ed25519:" and 44 characters of base64. Leading and trailing space is
// ignored. The error wraps ErrKey.
func ParsePublicKey(text string) (k PublicKey, err error) {
	b, err := parseKey(text, publicPrefix, ed25519.PublicKeySize)
	if err == nil {
		k.key = [ed25519.PublicKeySize]byte(b)
	}
	return k, err
}

// ParsePrivateKey returns the key of the text that PrivateKey.Text returns. Leading and trailing space is ignored. The
// error wraps ErrKey and does not contain the text.
func ParsePrivateKey(text string) (k PrivateKey, err error) {
	seed, err := parseKey(text, privatePrefix, ed25519.SeedSize)
	if err == nil {
		k.key = ed25519.NewKeyFromSeed(seed)
	}
	return k, err
}

func parseKey(text, prefix string, size int) ([]byte, error) {
	digits, ok := strings.CutPrefix(strings.TrimSpace(text), prefix)
	switch {
	case !ok && strings.HasPrefix(digits, privatePrefix):
		return nil, fmt.Errorf("%w: this is a private key; give the public one, with %s", ErrKey, publicPrefix)
	case !ok && strings.HasPrefix(digits, publicPrefix):
		return nil, fmt.Errorf("%w: this is a public key; give the file with the private one", ErrKey)
	case !ok && strings.Contains(digits, ":"):
		return nil, fmt.Errorf("%w: a key of another kind, not %s; a newer Bloomery may know it", ErrKey, prefix)
	}

	// DecodeString skips line breaks, so they are refused below: a key has one spelling.
	b, err := base64.StdEncoding.Strict().DecodeString(digits)
	if !ok || err != nil || len(b) != size || strings.ContainsAny(digits, "\r\n") {
		return nil, fmt.Errorf("%w: want %s and %d characters of base64, as bloomery keygen writes them", ErrKey,
			prefix, base64.StdEncoding.EncodedLen(size))
	}
	return b, nil
}

// Public returns the public key of a private one.
func (k PrivateKey) Public() PublicKey {
	return PublicKey{[ed25519.PublicKeySize]byte(k.key.Public().(ed25519.PublicKey))}
}

// Text returns the secret text of a private key, which ParsePrivateKey reads: the content of its file.
func (k PrivateKey) Text() string {
	return privatePrefix + base64.StdEncoding.EncodeToString(k.key.Seed())
}

// String returns the id of the key, never the key.
func (k PrivateKey) String() string {
	if k.key == nil {
		return "no private key"
	}
	return "private key " + k.Public().ID()
}

// GoString returns String, so that no format prints the key.
func (k PrivateKey) GoString() string { return k.String() }

// String returns the text of the key, which ParsePublicKey reads.
func (k PublicKey) String() string { return publicPrefix + base64.StdEncoding.EncodeToString(k.key[:]) }

// ID returns 16 hexadecimal digits that tell keys apart: the first 8 bytes of the SHA-256 of the key.
func (k PublicKey) ID() string {
	sum := sha256.Sum256(k.key[:])
	return hex.EncodeToString(sum[:8])
}

// idsOf returns the ids of keys.
func idsOf(keys []PublicKey) (ids []string) {
	for _, k := range keys {
		ids = append(ids, k.ID())
	}
	return ids
}

type signature struct {
	Key       string `json:"key"`
	Signature string `json:"signature"`
}

func message(signed []byte) []byte { return append([]byte(signedPrefix), signed...) }

func signAll(signed []byte, keys []PrivateKey) []signature {
	out := []signature{}
	for _, k := range keys {
		s := ed25519.Sign(k.key, message(signed))
		out = append(out, signature{k.Public().ID(), base64.StdEncoding.EncodeToString(s)})
	}
	return out
}

// signedBy returns the ids of the keys that claim to have signed a release.json. It checks no signature. The error
// wraps ErrRelease.
func signedBy(b []byte) (ids []string, err error) {
	_, tail, err := splitSigned(b)
	if err != nil {
		return nil, err
	}
	all, err := signatures(tail)
	for _, s := range all {
		ids = append(ids, s.Key)
	}
	return ids, err
}

func signatures(tail []byte) ([]signature, error) {
	var all struct {
		Signatures []signature `json:"signatures"`
	}
	err := strictjson.Unmarshal(tail, &all)
	if n := len(all.Signatures); err == nil && n > maxSignatures {
		err = fmt.Errorf("%d signatures; want at most %d", n, maxSignatures)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRelease, err)
	}
	return all.Signatures, nil
}

// Verify checks that a pinned key has signed a release.json, and returns that key. One right signature is enough;
// signatures of other keys are ignored, so that keys can be replaced one after the other. The error wraps ErrUnsigned,
// ErrOtherKey, ErrSignature or ErrRelease.
func Verify(b []byte, pinned ...PublicKey) (PublicKey, error) {
	signed, tail, err := splitSigned(b)
	if err != nil {
		return PublicKey{}, err
	}

	all, err := signatures(tail)
	switch {
	case err != nil:
		return PublicKey{}, err
	case len(all) == 0:
		return PublicKey{}, ErrUnsigned
	}

	var wrong, others []string
	for _, s := range all {
		others = append(others, fmt.Sprintf("%.16q", s.Key))
		for _, k := range pinned {
			// An ID is only 64 bits and not secret, so it selects a key to try and proves nothing.
			if k.ID() != s.Key {
				continue
			}
			sig, err := base64.StdEncoding.DecodeString(s.Signature)
			if err == nil && ed25519.Verify(k.key[:], message(signed), sig) {
				return k, nil
			}
			wrong = append(wrong, s.Key)
		}
	}
	if wrong != nil {
		return PublicKey{}, fmt.Errorf("%w (key %s)", ErrSignature, strings.Join(wrong, ", "))
	}
	return PublicKey{}, fmt.Errorf("%w, but by %s", ErrOtherKey, strings.Join(others, ", "))
}

// PublicSuffix is the suffix of the file with the public key, beside the file of the private one.
const PublicSuffix = ".pub"

const maxKeyFile = 4 << 10

// CreateKey makes a new key. It writes the private key to path, readable by its owner only, and the public one to
// path.pub. It replaces no file: the error then wraps fs.ErrExist.
func CreateKey(ctx context.Context, path string) (PublicKey, error) {
	if ctx.Err() != nil {
		return PublicKey{}, context.Cause(ctx)
	}

	k, err := NewKey()
	if err != nil {
		return PublicKey{}, err
	}
	// The private key comes last, so it never exists without its public file.
	if err := createFile(path+PublicSuffix, k.Public().String(), 0o644); err != nil {
		return PublicKey{}, err
	}
	if err := createFile(path, k.Text(), 0o600); err != nil {
		return PublicKey{}, errors.Join(err, os.Remove(path+PublicSuffix))
	}
	return k.Public(), nil
}

// createFile creates a file with a line of text. On error it leaves none.
func createFile(path, text string, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text+"\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// isKeyText reports whether the content of a file begins like a key.
func isKeyText(b []byte) bool {
	return bytes.HasPrefix(b, []byte(privatePrefix)) || bytes.HasPrefix(b, []byte(publicPrefix))
}

// ReadPrivateKey reads a private key from a file. If the file with its public key exists at path.pub, the two must
// match, because a key has no checksum. The error wraps ErrKey, or is an error of the file system.
func ReadPrivateKey(ctx context.Context, path string) (PrivateKey, error) {
	k, err := readKey(ctx, path, ParsePrivateKey)
	if err != nil {
		return PrivateKey{}, err
	}

	public, err := ReadPublicKey(ctx, path+PublicSuffix)
	switch {
	case errors.Is(err, ErrKey):
		return PrivateKey{}, err
	case err != nil: // there is none
		return k, nil
	case public != k.Public():
		return PrivateKey{}, fmt.Errorf("%s: %w: %s is the public key of another one, or one of the two is damaged", path,
			ErrKey, path+PublicSuffix)
	}
	return k, nil
}

// ReadPublicKey reads a public key from a file. The error wraps ErrKey, or is one of the file system.
func ReadPublicKey(ctx context.Context, path string) (PublicKey, error) {
	return readKey(ctx, path, ParsePublicKey)
}

func readKey[K any](ctx context.Context, path string, parse func(text string) (K, error)) (k K, err error) {
	b, err := untrusted.ReadFile(ctx, path, untrusted.Limit{MaxBytes: maxKeyFile})
	if errors.Is(err, filter.ErrTooLarge) {
		err = fmt.Errorf("%s: %w: more than %d bytes; want a file as bloomery keygen writes them", path, ErrKey,
			maxKeyFile)
	}
	if err != nil {
		return k, err
	}
	if k, err = parse(string(b)); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return k, err
}
