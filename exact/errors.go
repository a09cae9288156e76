package exact

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bloomery/bloomery/filter"
)

// ErrFilter means that a file is a filter file, which bloomery.Open reads. It wraps filter.ErrMagic.
var ErrFilter error = isFilter{}

type isFilter struct{}

func (isFilter) Error() string { return "a filter file, not an exact set" }

func (isFilter) Unwrap() error { return filter.ErrMagic }

// ErrUpdates means that Config.Base has as many updates as a file may have: build the set again without a Base.
var ErrUpdates = errors.New("the set has as many updates as a file may have; build it anew, by exact build")

// OutsideError means that members are not in the universe. Add them to the universe, or remove them from the members.
type OutsideError struct {
	Count uint64 // how many
	// Keys lists at most ten of these members, each as "partition: key" in a partitioned set. A Builder knows only
	// hashes: Name adds the keys.
	Keys []string

	hasher filter.Hasher
	hashes []filter.Hash // the hashes of the keys to name
}

func (e *OutsideError) Error() string {
	text, them := fmt.Sprintf("%d members are not in the universe", e.Count), "them"
	if e.Count == 1 {
		text, them = "1 member is not in the universe", "it"
	}
	if len(e.Keys) > 0 {
		text += ", such as " + strings.Join(e.Keys, ", ")
	}
	return text + "; add " + them + " to the universe, or remove " + them + " from the members"
}

// Name adds the members that are among the keys to name. It must not be called from several goroutines at
// once. See Builder.AddMembers for partitions.
func (e *OutsideError) Name(members [][]byte, partitions ...[]byte) {
	if len(members) > 0 {
		e.addNames(partitionsOf(members, partitions), members)
	}
}
