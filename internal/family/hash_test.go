package family

import (
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestHashIDs: every hash function of package filter has a name that comes back, and belongs to us or to others.
func TestHashIDs(t *testing.T) {
	for id := range filter.HashID(10) {
		_, err := filter.ForeignHasher(id)
		if Foreign(id) != (err == nil) {
			t.Errorf("%s: foreign %t, %v", id, Foreign(id), err)
		}
		known := err == nil || id == filter.XXH3 || id == filter.SipHash
		if back, err := ParseHashID(id.String()); known != (err == nil) || known && back != id {
			t.Errorf("%s is parsed as %s, %v", id, back, err)
		} else if !known && !strings.HasSuffix(err.Error(), "xxh3-128, siphash-128, xxh64, murmur3-x64-128, "+
			"murmur3-x64-128-twice, murmur64a-twice, murmur3-x86-32-twice, uint64") {
			t.Error(err)
		}
	}
	if HashBits(filter.XXH64) != 64 || HashBits(filter.SipHash) != 128 || LowestRate(filter.XXH64, 1<<32) != 1.0/(1<<32) {
		t.Error("the bits of a hash are wrong")
	}
}
