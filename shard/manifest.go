package shard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Bounds of a manifest.
const (
	maxSpec     = 512 // bytes, as in a filter file
	maxEntry    = 512 // bytes of an entry in JSON
	maxManifest = maxEntry*Max + 1<<16
	maxKeys     = 1 << 56 // largest number of keys of one shard
	maxBytes    = 1 << 56 // largest number of bytes of one shard
)

// Manifest describes a sharded set. It contains no times and does not depend on the order of the input: the same keys,
// spec, seed or secret and number of shards give the same bytes.
type Manifest struct {
	// Spec is the spec of each shard, as it was given to the build: blocked(fpr=0.01). The spec in a shard's file also
	// contains the geometry.
	Spec filter.Spec
	// Hash is the hash function of the keys. For XXH3, filter.NewHasher(Seed) makes its Hasher; for
	// SipHash, filter.NewKeyedHasher does, with the secret whose Hasher.KeyCheck is KeyCheck. Both are 0
	// for other functions.
	Hash     filter.HashID
	Seed     uint64
	KeyCheck uint64
	Form     filter.KeyForm // form of the keys
	// FPRPlanned is the false-positive rate that the set was sized for, or 0.
	FPRPlanned float64
	// Shards are the entries of the shards, in order. Route returns the index of a key's shard.
	Shards []Entry
}

// Entry describes the file of one shard. Its JSON form is one line of the manifest.
type Entry struct {
	File   string `json:"file"`   // name in the folder of the manifest: 00000-of-00016.bloom
	Keys   uint64 `json:"keys"`   // keys in the filter: Info.Keys
	Bytes  uint64 `json:"bytes"`  // length of the file
	SHA256 Sum    `json:"sha256"` // SHA-256 of the file
	// FPRPrior and FPRPosterior are the rates of filter.Info, rounded to four significant digits.
	FPRPrior     float64 `json:"fpr_prior"`
	FPRPosterior float64 `json:"fpr_posterior"`
}

// Sum is a SHA-256. Its text is 64 lower-case hexadecimal digits.
type Sum [sha256.Size]byte

func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText returns the 64 hexadecimal digits.
func (s Sum) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText reads 64 lower-case hexadecimal digits. Any other text is an error.
func (s *Sum) UnmarshalText(b []byte) error {
	var got Sum
	if len(b) != 2*len(got) {
		return fmt.Errorf("a hash of %d digits; want 64", len(b))
	}
	if _, err := hex.Decode(got[:], b); err != nil || got.String() != string(b) { // Decode also accepts upper case
		return fmt.Errorf("hash %.80q; want lower-case hexadecimal digits", b)
	}
	*s = got
	return nil
}

// ID returns the plan id, the field "plan" of the file: 32 hex digits that depend on everything in the manifest except
// its entries. Sets with equal ids have the same spec, hash function, planned rate, routing and number of shards, so
// that MergeFiles can merge them.
func (m *Manifest) ID() string { return m.headJSON().Plan }

// Keys returns the number of keys of all shards.
func (m *Manifest) Keys() (n uint64) {
	for _, e := range m.Shards {
		n += e.Keys
	}
	return n
}

// Bytes returns the length of the files of all shards.
func (m *Manifest) Bytes() (n uint64) {
	for _, e := range m.Shards {
		n += e.Bytes
	}
	return n
}

// FPR returns the prior and the posterior false-positive rate of the set: the means over its shards, since an absent
// key belongs to each shard with the same probability.
func (m *Manifest) FPR() (prior, posterior float64) {
	for _, e := range m.Shards {
		prior += e.FPRPrior
		posterior += e.FPRPosterior
	}
	n := float64(max(len(m.Shards), 1))
	return prior / n, posterior / n
}

// validate returns an error wrapping ErrManifest if a field is out of range or a file name does not match its shard.
func (m *Manifest) validate() error {
	switch {
	case len(m.Shards) == 0 || len(m.Shards) > Max:
		return fmt.Errorf("%w: %d shards; want 1 to %d", ErrManifest, len(m.Shards), Max)
	case m.Spec.Family() == "":
		return fmt.Errorf("%w: no spec", ErrManifest)
	case !family.ValidRate(m.FPRPlanned):
		return fmt.Errorf("%w: planned rate %v", ErrManifest, m.FPRPlanned)
	case m.Seed != 0 && m.Hash != filter.XXH3, (m.KeyCheck != 0) != (m.Hash == filter.SipHash):
		return fmt.Errorf("%w: seed or key check do not belong to hash %s", ErrManifest, m.Hash)
	}

	for i, e := range m.Shards {
		if s, shards, ok := ParseName(e.File); !ok || s != i || shards != len(m.Shards) {
			return fmt.Errorf("%w: shard %d of %d is called %q; want %05[2]d-of-%05[3]d.bloom, with or without a suffix",
				ErrManifest, i, len(m.Shards), e.File)
		}
		if e.Keys > maxKeys || e.Bytes == 0 || e.Bytes > maxBytes ||
			!family.MeasuredRate(e.FPRPrior) || !family.MeasuredRate(e.FPRPosterior) {
			return fmt.Errorf("%w: shard %d: %d keys, %d bytes, rates %v and %v",
				ErrManifest, i, e.Keys, e.Bytes, e.FPRPrior, e.FPRPosterior)
		}
	}
	return nil
}
