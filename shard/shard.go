// Package shard tells which shard of a sharded set a key belongs to, and reads the manifest that lists the shards. Use
// it to send a query to the machine with the shard of a key: read the manifest with [ReadManifest], make the Hasher
// that it names, hash the key, and call [Route].
//
// Package bloomery builds, opens and changes sharded sets, and package distribute builds them on many machines; the
// [guide] shows both. A sharded set is a folder, or a prefix of a bucket, with these files:
//
//	manifest.json                 written last: a folder without it contains no set
//	00000-of-00016.bloom          the filter of the keys of shard 0, a file as any other
//	00001-of-00016.3f2a9c.bloom   a shard that was replaced gets a suffix, so that readers keep the old one
//	...
//
// All shards have the same spec, hash function and seed or secret. The file of a shard is byte-identical to the file
// that bloomery.Build and Set.Save write for its keys. The [format] describes the manifest.
//
// [guide]: https://github.com/bloomery/bloomery/blob/main/docs/guides/large.md
// [format]: https://github.com/bloomery/bloomery/blob/main/docs/format.md#sharded-sets
package shard

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/hashes"
)

// Max is the largest number of shards of a set.
const Max = hashes.MaxShards

// ManifestName is the name of the manifest in the folder of a set.
const ManifestName = "manifest.json"

// ErrManifest means that a manifest is damaged, contradicts itself, or was written by a newer version of Bloomery.
var ErrManifest = errors.New("invalid manifest of a sharded set")

// Error is an error of one shard. It names the shard and wraps the cause.
type Error struct {
	File string // name in the manifest, or path
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("shard %s: %v", e.File, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// Causes of an Error, in addition to errors of the file system and of package filter.
var (
	// ErrForeign means that a file is a filter of another set: its family, hash function, seed, secret or number of
	// keys differs from the manifest.
	ErrForeign = errors.New("the file does not belong to this set")
	// ErrChanged means that the size or the SHA-256 of a file differs from the manifest.
	ErrChanged = errors.New("the file is not the one in the manifest")
)

// Route returns the shard of a key, in [0, shards), by routing 1. It panics if shards is 0 or negative.
//
// The shard depends on all 128 bits of the hash, and is independent of every family's use of these bits. The [format]
// describes the function and lists test vectors. Do not choose the shard by bits of the hash instead: if a family uses
// these bits for positions, the keys of a shard crowd into the same blocks, and up to 99.8% of the absent keys are
// false positives.
//
// [format]: https://github.com/bloomery/bloomery/blob/main/docs/format.md#sharded-sets
func Route(h filter.Hash, shards int) int {
	if shards <= 0 {
		panic("shard: Route needs at least one shard")
	}
	return hashes.Route(h, shards)
}

// maxSuffix is the largest length of the suffix in a file name.
const maxSuffix = 32

// ParseName returns the number of a shard and the number of shards in the name of a shard's file: 00000-of-00016.bloom,
// or with a suffix of 1 to 32 lower-case letters and digits 00001-of-00016.3f2a9c.bloom. ok is false for other names.
func ParseName(name string) (s, shards int, ok bool) {
	number, rest, _ := strings.Cut(name, "-of-")
	count, _, _ := strings.Cut(rest, ".")
	s, err := strconv.Atoi(number)
	shards, err2 := strconv.Atoi(count)
	if err != nil || err2 != nil || s < 0 || s >= shards || shards > Max {
		return 0, 0, false
	}

	// Format the numbers again, so that every shard has one name: Atoi accepts signs and any number of leading zeros.
	rest, plain := strings.CutPrefix(name, fmt.Sprintf("%05d-of-%05d", s, shards))
	suffix, ends := strings.CutSuffix(rest, ".bloom")
	letters, dotted := strings.CutPrefix(suffix, ".")
	valid := dotted && letters != "" && len(letters) <= maxSuffix &&
		strings.Trim(letters, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
	return s, shards, plain && ends && (suffix == "" || valid)
}
