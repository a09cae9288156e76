package run

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
)

// fewShards is a number of shards that a set of any keys may have. A set of so many empty shards has about 1 MB.
const fewShards = 4096

// CheckShards returns an error wrapping filter.ErrConfig if a set of these keys has more shards than keys, and more
// than 4,096: nearly all of its files would be empty.
func CheckShards(shards int, keys uint64) error {
	if most := max(keys, fewShards); uint64(shards) > most {
		return &filter.ConfigError{Field: "shards", Value: shards,
			Reason: fmt.Sprintf("for %d keys at most %d are possible: one a key, or %d", keys, most, fewShards)}
	}
	return nil
}
