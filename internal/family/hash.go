package family

import (
	"fmt"
	"math"
	"strings"

	"github.com/bloomery/bloomery/filter"
)

// Foreign reports whether a hash function belongs to another system.
func Foreign(id filter.HashID) bool { return id >= filter.XXH64 && id <= filter.Uint64 }

// ParseHashID returns the hash function with that name, or an error that lists all names.
func ParseHashID(name string) (filter.HashID, error) {
	var names []string
	for id := filter.XXH3; id <= filter.Uint64; id++ {
		if id.String() == name {
			return id, nil
		}
		names = append(names, id.String())
	}
	return 0, fmt.Errorf("hash function %.40q: want one of %s", name, strings.Join(names, ", "))
}

// HashBits returns the number of bits of a hash that a filter can use.
func HashBits(id filter.HashID) int {
	switch id {
	case filter.XXH64, filter.Murmur3x86, filter.Uint64:
		return 64
	case filter.Murmur3Twice:
		return 256
	}
	return 128
}

// LowestRate returns the lowest false-positive rate of a filter of keys: the probability keys/2^HashBits that an absent
// key has the same hash as one of them.
func LowestRate(id filter.HashID, keys uint64) float64 {
	return math.Ldexp(float64(keys), -HashBits(id))
}
