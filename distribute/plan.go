package distribute

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/shard"
)

// Plan describes the set to build and its input. It has no secret, and it is the same for the same Config and input.
// Its methods are safe for concurrent use. Do not change its fields.
type Plan struct {
	ID     string // 32 hex digits that depend on the whole plan, for ReadPlan
	Ranges int    // Range takes numbers from 0 to Ranges-1
	Shards int    // Build takes numbers from 0 to Shards-1

	steps *steps.Plan
}

func planOf(p *steps.Plan, err error) (*Plan, error) {
	if err != nil {
		return nil, err
	}
	return &Plan{ID: p.ID(), Ranges: len(p.Ranges), Shards: p.Shards, steps: p}, nil
}

// NewPlan lists the objects of the input that match the patterns and divides them into ranges. It reads the first bytes
// of large objects. Errors of Config wrap filter.ErrConfig. A pattern is
//
//   - the name of an object, also one with characters of patterns,
//   - a pattern of path.Match, in which * does not match a slash,
//   - a prefix that ends in a slash, for all objects below it.
//
// A pattern without an object is an error wrapping fs.ErrNotExist.
func NewPlan(ctx context.Context, in Store, patterns []string, c Config) (*Plan, error) {
	return planOf(steps.NewPlan(ctx, in, patterns, steps.Config{
		Build: c.Build, Keys: steps.KeyFormat(c.Keys), RangeBytes: c.RangeBytes,
	}))
}

// ReadPlan reads the plan with an ID from the output, or with an empty id the only plan. The error wraps ErrNoPlan if
// it is not there.
func ReadPlan(ctx context.Context, out Store, id string) (*Plan, error) {
	p, err := steps.ReadPlan(ctx, out, id, nil)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", ErrNoPlan, err)
	}
	return planOf(p, err)
}

// Save writes the plan to the output, unless it is already there, and records for Finish which set the output has. It
// returns an error if the output has objects that belong to no sharded set. In a Store with WriteIf it removes the
// shards that no manifest names, so an unfinished plan there must build its shards again. If out has a lock, the error
// wraps filter.ErrLocked if another process builds or changes a set there and does not end within two seconds.
func (p *Plan) Save(ctx context.Context, out Store) error { return p.steps.Save(ctx, out) }

// Range hashes the keys of range i, writes its run file, and returns the number of keys. It keeps a finished run file,
// after checking its size, header and index; Build compares the checksums of the hashes. Errors name the input, with
// the line if it is about a key or a value. They wrap ErrChanged if an object has changed since the plan was made,
// ErrNoPlan if a Finish has removed the plan meanwhile, or come from in and out.
func (p *Plan) Range(ctx context.Context, in, out Store, i int, o Options) (keys uint64, err error) {
	done, err := p.steps.Range(ctx, in, out, i, steps.Options(o))
	return done.Keys, err
}

// Gather requires the run files of all ranges and writes the shard index, which Build reads. It keeps a finished shard
// index. It returns the number of keys. The error wraps ErrMissing and names the ranges that are not finished,
// filter.ErrConfig if there are more shards than keys, and more than 4,096, filter.ErrKeys if Build.Keys of the Config
// must be exact and differs from the number of keys, or filter.ErrTooLarge if the set would exceed
// bloomery.Limits.Bytes.
func (p *Plan) Gather(ctx context.Context, out Store, o Options) (keys uint64, err error) {
	return p.steps.Gather(ctx, out, nil, steps.Options(o))
}

// Build builds the filter of shard s from the run files and writes it. The File of the entry is the path of the filter
// until Finish: see the package comment. Build keeps a finished shard, after reading it and comparing its SHA-256. If
// Gather has not run, or the shard index is damaged, Build gathers.
//
// If a run file is damaged, Build removes it, and the error wraps ErrMissing and says which range to run again. If a
// key has two values, the error wraps filter.ErrValues and names the inputs. If a Finish has removed the plan
// meanwhile and the set that is there now has another shard, the error wraps ErrNoPlan. Other errors come from
// bloomery.Builder and out.
func (p *Plan) Build(ctx context.Context, out Store, s int, o Options) (shard.Entry, error) {
	return p.steps.Build(ctx, out, s, steps.Options(o))
}

// Finish requires all shards, checks that their files are as Build wrote them, gives them their final names, and writes
// the manifest, after which the set can be opened. Then it removes the working files of this plan and of plans that
// were saved earlier, which cannot finish any more, and the shards that the manifest does not name. If an earlier
// Finish was interrupted after it wrote the manifest, this Finish only removes these files.
//
// The error wraps ErrMissing and names the shards that are not built, filter.ErrRate if the set exceeds
// bloomery.Limits.FPR, filter.ErrFull if it has more distinct keys than bloomery.Config.Capacity, ErrSetChanged if the
// output has neither the set that it had when the plan was saved nor the set of this plan. Other errors come from out.
// An error before the manifest is written leaves the old set unchanged.
//
// If out has a lock, Finish waits for the lock and holds it until Finish returns. In a Store with WriteIf and without a
// lock, a Finish that runs after the set has changed also returns ErrSetChanged.
func (p *Plan) Finish(ctx context.Context, out Store, o Options) (*shard.Manifest, error) {
	return p.steps.Finish(ctx, out, steps.Options(o))
}

// Config describes the set to build. Spec or Needs, FPR, Keys, Capacity, Hashing, Sharding.Shards and Limits of Build
// mean what they mean for bloomery.Build. Build.Sharding.Shards must be set. If Build has Needs or Capacity but no
// Spec, Build.Keys must be set and may be approximate: nothing counts the keys before the plan. Fields that a
// distributed build cannot use, such as Like and Allow, must be zero. Range trims and lowers keys
// if Hashing.Form says so.
type Config struct {
	Build bloomery.Config
	Keys  KeyFormat
	// RangeBytes is the size of a range of plain text. Small files share a range; a file that is compressed or has
	// columns is one range. Below 64 KiB, the files and requests of a build take more time than its keys. Default: 32
	// MiB.
	RangeBytes int64
}

// KeyFormat is the format of the keys in the input. The zero value is one key per line. Input that is compressed with
// gzip, zstd or bzip2 is decompressed.
type KeyFormat struct {
	// Name is "lines", "fields", "csv", "tsv", "jsonl", "hex" or "null" (keys end in NUL bytes). Default: "lines".
	Name      string
	Column    string // of the keys: a name in the header row, or a number from 1, by default 1; in JSONL a path as user.id
	Header    bool   // the first row of a file with columns is a header row; implied if a column is given by name
	Delimiter string // between the fields: one character. Default: a comma in CSV, blanks in "fields".
	Comments  string // what a comment begins with: rows that begin so, and ends of lines behind a blank, are left out
	KeepEmpty bool   // empty lines and fields are keys
	MaxKey    int    // length limit of a key in bytes, at most 1 GiB. Default: 1 MiB.

	// ValueColumn is the column of the values, given like Column, and Separator is the byte between the key and the
	// value of a line, below 0x80. Both need a Spec with values, such as ribbon(value_bits=8). Defaults: the second
	// column, and a tab. A run file stores the value in place of 32 bits of the hash. If a key has two values, in any
	// ranges, Build returns an error.
	ValueColumn string
	Separator   string
}

// Options control how a step runs. They do not change its result.
//
// Range takes at most 64 MiB of memory for hashes, 48 bytes and 2 KiB per shard, and with n workers 2n+2 blocks of 256
// KiB of input and 24 bytes per key. Build takes the memory of bloomery.Build for one shard, limited by Memory, the
// filter, and 512 KiB for each segment that it reads at the same time. It reads 16 segments at a time, or fewer so that
// they fit in an eighth of Memory, but at least 2 and at least one per worker. Gather takes at most 28 bytes x shards x
// groups: 8 for the indexes of the run files, 20 for the shard index. A range has one group for each 4,194,304 keys,
// rounded up.
type Options struct {
	// Secret is bloomery.Config.Hashing.Secret: Range and Build need it if the hash is keyed.
	Secret *filter.Secret
	// Workers is the number of goroutines that hash, read and search. Default: GOMAXPROCS.
	Workers int
	// Memory is the maximum size in bytes of the key hashes that Build holds in memory; see
	// bloomery.Config.Building.Memory.
	Memory int64
	// TempDir is the folder of temporary files. Default: os.TempDir().
	TempDir string
	// Progress, if not nil, is called now and then with the part of the step that is done, in [0, 1], by
	// one goroutine at a time.
	Progress func(done float64)
	// Removed, if not nil, is called by Finish for each file of an earlier set or plan that it removes.
	Removed func(name string)
}

// Errors of the steps, besides errors of packages bloomery and filter and of the Store.
var (
	// ErrChanged means that an input has changed since the plan was made. Make a new plan.
	ErrChanged = steps.ErrChanged
	// ErrMissing means that ranges or shards are not finished. The error names the first ten. Run these, or run all
	// again: finished ones keep their files. Then run the step again.
	ErrMissing = steps.ErrMissing
	// ErrNoPlan means that the output does not have the plan: it was never saved, or was removed because its set, or
	// the set of another plan, is finished.
	ErrNoPlan = steps.ErrNoPlan
	// ErrSetChanged means that the set in the output has changed since the plan was saved. Finish would lose that
	// change. Make a new plan, or remove the file that the error names.
	ErrSetChanged = steps.ErrSetChanged
)

// Object describes a file, or an object of a bucket. It is an alias, so that a Store can be implemented without
// importing this package.
type Object = struct {
	Name string `json:"name"` // slash-separated
	Size int64  `json:"size"` // bytes
	// Version changes when the contents change: a generation, an ETag, a time of modification. It may be
	// empty.
	Version string `json:"version,omitempty"`
}

// Store is a folder or bucket for the input or the output. Its methods are safe for concurrent use. Errors about
// objects that do not exist wrap fs.ErrNotExist. For an input, only Open, Stat and List are called.
//
// The steps use these methods, too, if a Store has them:
//
//   - Lock(ctx context.Context) (unlock func() error, err error) waits for the lock against all other programs that
//     replace or change a set in the output, and returns ctx.Err() when ctx ends.
//   - Rename(ctx context.Context, from, to []string) error moves object from[i] to the name to[i], for all i, and
//     replaces what was there. The new names are durable when it returns. After an error some objects may have moved.
//     Without Rename, Finish reads and writes all shards.
//   - WriteIf(ctx context.Context, name, version string, write func(io.Writer) error) error is Write on the condition
//     that the object has this version, or with an empty version that it does not exist. Otherwise the error wraps
//     fs.ErrExist and nothing changes. The comparison and the write are atomic. Build then creates the shards under
//     their final names, and nothing is copied.
//
// Dir has Lock and Rename; the buckets of module github.com/bloomery/bloomery/buckets have WriteIf.
type Store interface {
	// Open reads length bytes of an object from offset, or to its end if length is negative. A Read fails soon after
	// ctx is done.
	Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error)
	// Stat describes an object.
	Stat(ctx context.Context, name string) (Object, error)
	// List yields all objects whose names begin with prefix, in any order. It stops after an error.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Write creates or replaces an object with the output of write. The object appears whole or not at all: if write
	// fails, or ctx ends before Write returns nil, readers see the old object, if any.
	Write(ctx context.Context, name string, write func(io.Writer) error) error
	// Remove removes an object. It returns nil if the object does not exist.
	Remove(ctx context.Context, name string) error
}

// Dir returns the Store of a folder and its subfolders. With an empty path, which is for input only, it contains all
// files of this machine: their names are paths, relative to the current folder or absolute.
//
// The folder may be on a network file system whose renames are atomic. Write creates it if it does not exist. It uses
// the same lock as bloomery.Lock and builds of sharded sets. Names that filepath.Localize refuses are errors, so none
// leads out of the folder; symbolic links in the folder are followed.
func Dir(path string) Store { return steps.Dir(path) }
