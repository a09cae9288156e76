package shard

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// NewName returns the file name for new contents of shard s: the plain Name, or with a manifest old of as many shards
// that is in the same place, its HashName, so that readers of old keep their
// file. If the contents are those in old, it is the name in old.
func NewName(old *Manifest, s, shards int, sum [sha256.Size]byte) string {
	switch {
	case old == nil || len(old.Shards) != shards:
		return Name(s, shards, "")
	case old.Shards[s].SHA256 == sum:
		return old.Shards[s].File
	}
	return HashName(s, shards, sum)
}

// HashName returns the file name of shard s with a suffix from the checksum of its contents.
func HashName(s, shards int, sum [sha256.Size]byte) string {
	return Name(s, shards, hex.EncodeToString(sum[:6]))
}

// IsName reports whether name is a Name of some shard of some set.
func IsName(name string) bool {
	_, _, ok := parseName(name)
	return ok
}

// parseName returns the number and the count of shards in a Name.
func parseName(name string) (s, shards int, ok bool) {
	stem, _, _ := strings.Cut(name, ".")
	number, count, _ := strings.Cut(stem, "-of-")
	i, err := strconv.ParseUint(number, 10, 32)
	n, err2 := strconv.ParseUint(count, 10, 32)
	ok = err == nil && err2 == nil && i < n && n <= Max && checkName(name, int(i), int(n)) == nil
	return int(i), int(n), ok
}

// IsUnfinished reports whether name is that of a shard, or of a temporary file of container.WriteAtomic for a shard or
// the manifest. A folder that has only such files is that of a set whose writer was killed before the manifest.
func IsUnfinished(name string) bool {
	if target, digits, ok := strings.Cut(strings.TrimPrefix(name, "."), ".tmp-"); ok && len(digits) == 16 {
		return IsName(target) || target == ManifestName
	}
	return IsName(name)
}

// Chosen returns the false-positive rate that was chosen for a set, from those of its shards: their mean to three
// digits, or the rate itself if they are equal. It is 0 if a shard has none.
func Chosen(rates []float64) float64 {
	sum, equal := 0.0, true
	for _, r := range rates {
		if r == 0 {
			return 0
		}
		sum += r
		equal = equal && r == rates[0]
	}
	if len(rates) == 0 || equal {
		return append(rates, 0)[0]
	}
	return round(sum/float64(len(rates)), 3)
}
