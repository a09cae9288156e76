package shardset

import (
	"crypto/sha256"
	"strings"

	"github.com/bloomery/bloomery/internal/shardfile"
	"github.com/bloomery/bloomery/shard"
)

// NewName returns the file name for new contents of shard s: the plain shardfile.Name, or with a manifest old of as
// many shards that is in the same place, its HashName, so that readers of old keep their file. If the contents are
// those in old, it is the name in old.
func NewName(old *shard.Manifest, s, shards int, sum [sha256.Size]byte) string {
	switch {
	case old == nil || len(old.Shards) != shards:
		return shardfile.Name(s, shards, "")
	case old.Shards[s].SHA256 == sum:
		return old.Shards[s].File
	}
	return shardfile.HashName(s, shards, sum)
}

// OfSet reports whether name belongs to a shard or to a manifest.
func OfSet(name string) bool { return shardfile.IsName(name) || name == shard.ManifestName }

// IsUnfinished reports whether name belongs to a shard, or to a temporary file of container.WriteAtomic for a shard or
// the manifest. A folder that has only such files has a set whose writer was killed before the manifest.
func IsUnfinished(name string) bool {
	if target, digits, ok := strings.Cut(strings.TrimPrefix(name, "."), ".tmp-"); ok && len(digits) == 16 {
		return OfSet(target)
	}
	return shardfile.IsName(name)
}
