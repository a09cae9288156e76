package shardset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/bloomery/bloomery/shard"
)

// Name returns the file name of a shard; see shard.ParseName. suffix may be empty.
func Name(s, shards int, suffix string) string {
	if suffix != "" {
		suffix = "." + suffix
	}
	return fmt.Sprintf("%05d-of-%05d%s.bloom", s, shards, suffix)
}

// HashName returns the file name of shard s with a suffix from the SHA-256 of its contents.
func HashName(s, shards int, sum [sha256.Size]byte) string {
	return Name(s, shards, hex.EncodeToString(sum[:6]))
}

// NewName returns the file name for new contents of shard s: the plain Name, or with a manifest old of as many shards
// that is in the same place, its HashName, so that readers of old keep their file. If the contents are those in old, it
// is the name in old.
func NewName(old *shard.Manifest, s, shards int, sum [sha256.Size]byte) string {
	switch {
	case old == nil || len(old.Shards) != shards:
		return Name(s, shards, "")
	case old.Shards[s].SHA256 == sum:
		return old.Shards[s].File
	}
	return HashName(s, shards, sum)
}

// IsName reports whether name is a Name of some shard of some set.
func IsName(name string) bool {
	_, _, ok := shard.ParseName(name)
	return ok
}

// OfSet reports whether name belongs to a shard or to a manifest.
func OfSet(name string) bool { return IsName(name) || name == shard.ManifestName }

// IsUnfinished reports whether name belongs to a shard, or to a temporary file of container.WriteAtomic for a shard or
// the manifest. A folder that has only such files has a set whose writer was killed before the manifest.
func IsUnfinished(name string) bool {
	if target, digits, ok := strings.Cut(strings.TrimPrefix(name, "."), ".tmp-"); ok && len(digits) == 16 {
		return OfSet(target)
	}
	return IsName(name)
}

// WorkPrefix begins the name of the folder with the working files of a distributed build, which lies in the folder of
// the set. The id of the plan, 32 hexadecimal digits, ends it.
const WorkPrefix = "work-"

const workDigits = 32

// WorkName returns the name of a working file of the plan with that id. With an empty file it is the prefix of all.
func WorkName(id, file string) string { return WorkPrefix + id + "/" + file }

// CutWork splits the slash-separated name of a working file, or of the folder of working files, into the id of the plan
// and the name in that folder. ok is false for other names.
func CutWork(name string) (id, file string, ok bool) {
	folder, file, _ := strings.Cut(name, "/")
	id, ok = strings.CutPrefix(folder, WorkPrefix)
	_, err := hex.DecodeString(id)
	return id, file, ok && err == nil && len(id) == workDigits
}
