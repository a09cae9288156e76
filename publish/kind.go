package publish

import (
	"context"

	"github.com/bloomery/bloomery/shard"
)

// kind is a kind of what is published, with all that differs between them.
type kind struct {
	folder  bool   // the content is the manifest of shards, which are objects of their own; it is followed in a folder
	members string // what the keys are called
	rated   bool   // it has false positives
	form
}

// form is what a kind does with a content.
type form interface {
	// parts returns the objects that a content names.
	parts(content []byte) ([]part, error)
	// check checks a content whose parts are right.
	check(content []byte, read reader) error
	// diff returns the delta between two contents.
	diff(ctx context.Context, old, new []byte, read reader) ([]byte, error)
	// patch returns the content, of at most so many bytes with its parts, that a delta makes of an old one. It calls put
	// with each part that is new.
	patch(ctx context.Context, old, delta []byte, most uint64, read reader, put writer) ([]byte, error)

	// hold returns the content that a follower holds. c gets its transaction, if there is one.
	hold(ctx context.Context, p *poll, c *loaded) ([]byte, error)
	// whole loads all that a follower does not hold.
	whole(ctx context.Context, p *poll) (loaded, error)
	// install opens what was loaded, writes the state, and replaces what is held.
	install(ctx context.Context, p *poll, c loaded) error
}

// part is an object that a content names.
type part struct {
	name string
	Object
}

// reader reads a part of a content, and writer stores a new one.
type (
	reader func(part) ([]byte, error)
	writer func(name string, content []byte) error
)

// loaded is new content that is ready to be installed.
type loaded struct {
	bytes []byte        // of the file, or of the manifest of a set
	part  string        // or the file that has it
	to    *shard.Folder // of a set with new shards: its transaction
}

var kinds = map[string]kind{
	File:  {members: "keys", rated: true, form: oneFile{checkFilter, openFilter}},
	Set:   {folder: true, members: "keys", rated: true, form: setForm{}},
	Exact: {members: "members", form: oneFile{checkExact, openExact}},
}

// kindOf returns the kind of a release that was checked.
func kindOf(name string) kind {
	if k, ok := kinds[name]; ok {
		return k
	}
	return kinds[File]
}
