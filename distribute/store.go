package distribute

import (
	"context"
	"io"
	"iter"

	"github.com/bloomery/bloomery/internal/steps"
)

// Object describes a file, or an object of a bucket. It is an alias, so that a Store can be written without this
// package.
type Object = struct {
	Name string `json:"name"` // slash-separated
	Size int64  `json:"size"` // bytes
	// Version changes when the contents change: a generation, an ETag, a time of modification. It may be
	// empty.
	Version string `json:"version,omitempty"`
}

// Store is a folder, or a bucket, that input is read from or output is written to. Its methods are safe for concurrent
// use. Errors about objects that do not exist wrap fs.ErrNotExist. Of an input only Open, Stat and List are called.
//
// The steps use these methods, too, if a Store has them:
//
//   - Lock(ctx context.Context) (unlock func() error, err error) waits for a lock that nothing else has that replaces
//     or changes a set in the output, and returns ctx.Err() when ctx ends.
//   - Rename(ctx context.Context, from, to []string) error moves object from[i] to the name to[i], for all i, and
//     replaces what was there. The new names are durable when it returns. After an error some objects have moved.
//     Without it, Finish copies the shards through its machine.
//   - WriteIf(ctx context.Context, name, version string, write func(io.Writer) error) error is Write if the object has
//     this version, or with an empty version if it does not exist. Else the error wraps fs.ErrExist and nothing
//     changes. The comparison and the write are one step. Build then creates the shards under their final names, and
//     nothing is copied.
//
// Dir has the first two, the buckets of module github.com/bloomery/bloomery/buckets have the third.
type Store interface {
	// Open reads length bytes of an object from an offset on, or to its end if length is negative. A Read
	// fails soon after ctx is done.
	Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error)
	// Stat describes an object.
	Stat(ctx context.Context, name string) (Object, error)
	// List yields all objects whose names begin with prefix, in any order. It stops after an error.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Write creates or replaces an object with the output of write. The object appears whole or not at all:
	// if write fails, or ctx ends before Write returns nil, a reader sees what was there before.
	Write(ctx context.Context, name string, write func(io.Writer) error) error
	// Remove removes an object. It is no error if there is none.
	Remove(ctx context.Context, name string) error
}

// Dir returns the Store of a folder and the folders in it. With an empty path, which is for input only, it has all
// files of this machine: their names are paths, relative to the current folder or absolute.
//
// The folder may be on a network file system whose renames are atomic. Write creates it if it does not exist. Its lock
// is the one of bloomery.Lock and of builds of sharded sets. Names that are not valid by fs.ValidPath are errors, so
// none leads out of the folder; symbolic links in the folder are followed.
func Dir(path string) Store { return steps.Dir(path) }
