// Package shard describes sharded sets: which shard a key belongs to, and the manifest that lists the shards. A sharded
// set is a folder, or a prefix of a bucket, with these files:
//
//	manifest.json                 written last: without it there is no set
//	00000-of-00016.bloom          the filter of the keys of shard 0, a file as any other (docs/format.md)
//	00001-of-00016.3f2a9c.bloom   a shard that was replaced gets a suffix, so that readers keep the old one
//	...
//
// All shards have the same spec, hash function and seed or secret. The file of a shard is what `bloomery build` writes
// for its keys, byte for byte. Package bloomery opens and builds sharded sets; distribute builds them on many machines.
package shard

import (
	"errors"
	"fmt"
	"strings"
)

// Max is the largest number of shards of a set.
const Max = 1 << 20

// ManifestName is the name of the manifest in the folder of a set.
const ManifestName = "manifest.json"

// ErrManifest means that a manifest is damaged, contradicts itself, or was written by a newer version.
var ErrManifest = errors.New("invalid manifest of a sharded set")

// Error is an error of one shard. It names the shard and wraps the cause.
type Error struct {
	File string // name in the manifest, or path
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("shard %s: %v", e.File, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// Causes of an Error, besides those of package container and of the file system.
var (
	// ErrForeign means that a file is a filter, but not of this set: its family, hash function, seed, secret or number
	// of keys differs from the manifest.
	ErrForeign = errors.New("the file does not belong to this set")
	// ErrChanged means that size or SHA-256 of a file differ from the manifest.
	ErrChanged = errors.New("the file is not the one in the manifest")
)

// maxSuffix is the largest length of the suffix in a file name.
const maxSuffix = 32

// Name returns the file name of a shard. suffix is empty, or 1 to 32 lower-case letters and digits that make the name
// different from that of an earlier file of the shard.
func Name(s, shards int, suffix string) string {
	if suffix != "" {
		suffix = "." + suffix
	}
	return fmt.Sprintf("%05d-of-%05d%s.bloom", s, shards, suffix)
}

// checkName returns an error unless name is a Name of that shard. It never is a path.
func checkName(name string, s, shards int) error {
	plain := strings.TrimSuffix(Name(s, shards, ""), ".bloom")
	rest, ok := strings.CutPrefix(name, plain)
	rest, ends := strings.CutSuffix(rest, ".bloom")
	suffix, dotted := strings.CutPrefix(rest, ".")
	if !ok || !ends || rest != "" && (!dotted || !validSuffix(suffix)) {
		return fmt.Errorf("%w: shard %d of %d is called %q; want %s.bloom, with or without a suffix",
			ErrManifest, s, shards, name, plain)
	}
	return nil
}

func validSuffix(s string) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return 0 < len(s) && len(s) <= maxSuffix
}
