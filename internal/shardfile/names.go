package shardfile

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// most is the largest number of shards of a set: shard.Max.
const most = 1 << 20

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

// HashName returns the file name of shard s with a suffix from the SHA-256 of its contents.
func HashName(s, shards int, sum [32]byte) string {
	return Name(s, shards, hex.EncodeToString(sum[:6]))
}

// CheckName returns an error unless name is a Name of that shard. It never is a path.
func CheckName(name string, s, shards int) error {
	plain := strings.TrimSuffix(Name(s, shards, ""), ".bloom")
	rest, ok := strings.CutPrefix(name, plain)
	rest, ends := strings.CutSuffix(rest, ".bloom")
	suffix, dotted := strings.CutPrefix(rest, ".")
	if !ok || !ends || rest != "" && (!dotted || !validSuffix(suffix)) {
		return fmt.Errorf("shard %d of %d is called %q; want %s.bloom, with or without a suffix", s, shards, name, plain)
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

// IsName reports whether name is a Name of some shard of some set.
func IsName(name string) bool {
	_, _, ok := ParseName(name)
	return ok
}

// ParseName returns the number of a shard and the number of shards in a Name.
func ParseName(name string) (s, shards int, ok bool) {
	stem, _, _ := strings.Cut(name, ".")
	number, count, _ := strings.Cut(stem, "-of-")
	i, err := strconv.ParseUint(number, 10, 32)
	n, err2 := strconv.ParseUint(count, 10, 32)
	ok = err == nil && err2 == nil && i < n && n <= most && CheckName(name, int(i), int(n)) == nil
	return int(i), int(n), ok
}
