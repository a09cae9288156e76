package publish

import (
	"context"

	"github.com/bloomery/bloomery/shard"
)

// kind is a kind of what is published, with all that differs between them.
type kind interface {
	// folder reports whether the content is the manifest of shards, which are objects of their own. It is followed in a
	// folder.
	folder() bool
	// members returns what the keys are called, rated whether there are false positives.
	members() string
	rated() bool

	// parts returns the objects that a content names, nil if it is not a folder.
	parts(content []byte) ([]part, error)
	// check checks a content whose objects are right.
	check(ctx context.Context, s *objects, content []byte) error
	// diff returns the delta between two contents whose objects are of at most so many bytes each.
	diff(ctx context.Context, s *objects, old, new []byte, most uint64) ([]byte, error)
	// apply returns the content that a delta makes. It compares the parts with those in sums, by name.
	apply(ctx context.Context, s *objects, old, delta []byte, sums map[string]Hash) ([]byte, error)

	// patch returns what a delta makes of what a follower holds, and whole loads all that is not held.
	patch(ctx context.Context, p *poll, delta []byte) (loaded, error)
	whole(ctx context.Context, p *poll) (loaded, error)
	// opens returns an error if this program cannot open what was loaded.
	opens(ctx context.Context, p *poll, c loaded) error
	// install opens what was loaded, writes the state, and replaces what is held.
	install(ctx context.Context, p *poll, c loaded) error
}

// part is an object that a content names.
type part struct {
	name string
	Object
}

// loaded is new content that is ready to be installed.
type loaded struct {
	bytes []byte        // of the file, or of the manifest of a set
	part  string        // or the file that has it
	to    *shard.Folder // of a set with new shards: its transaction
}

var kinds = map[string]kind{File: filterKind{}, Set: setKind{}, Exact: exactKind{}}

// kindOf returns the kind of a release that was checked.
func kindOf(name string) kind {
	if k, ok := kinds[name]; ok {
		return k
	}
	return filterKind{}
}
