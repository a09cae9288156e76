package distribute

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/shard"
)

// Plan says what to build from what. It has no secret, and it is the same for the same Config and input. Its methods
// are safe for concurrent use; its fields are not to be changed.
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

// NewPlan looks at the objects of the input that match the patterns and divides them into ranges. Of large objects it
// reads the first bytes. Errors of Config wrap filter.ErrConfig. A pattern is
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

// Save writes the plan to the output, unless it is there, and records which set is there, for Finish. It returns an
// error if the output has objects that belong to no sharded set. From a Store with WriteIf it removes the shards that
// no manifest names, so a plan there that is not finished must build its shards again. If out has a lock, the error
// wraps filter.ErrLocked if another process builds or changes a set there and does not end within two seconds.
func (p *Plan) Save(ctx context.Context, out Store) error { return p.steps.Save(ctx, out) }

// Range hashes the keys of range i, writes its run file, and returns the number of keys. It keeps a finished run file,
// after checking its size, header and index; Build compares the checksums of the hashes. Errors name the input, with
// the line if it is about a key or a value. They wrap ErrChanged if an object is not the one in the plan, ErrNoPlan if
// a Finish has removed the plan meanwhile, or come from in and out.
func (p *Plan) Range(ctx context.Context, in, out Store, i int, o Options) (keys uint64, err error) {
	done, err := p.steps.Range(ctx, in, out, i, steps.Options(o))
	return done.Keys, err
}

// Gather requires the run files of all ranges and writes the shard index, which Build reads. It keeps a finished one.
// It returns the number of keys. The error wraps ErrMissing and names the ranges that are not finished, or
// filter.ErrConfig if there are more shards than keys, and more than 4,096.
func (p *Plan) Gather(ctx context.Context, out Store, o Options) (keys uint64, err error) {
	return p.steps.Gather(ctx, out, nil, steps.Options(o))
}

// Build builds the filter of shard s from the run files and writes it. The File of the entry is where it is until
// Finish: see the package comment. Build keeps a finished shard, after reading it and comparing its SHA-256. If Gather
// has not run, or the shard index is damaged, Build gathers.
//
// If a run file is damaged, Build removes it, and the error wraps ErrMissing and says which range to run again. If a
// key has two values, the error wraps filter.ErrValues and names the inputs. If a Finish has removed the plan
// meanwhile and the set that is there now has another shard, the error wraps ErrNoPlan. Other errors come from
// bloomery.Builder and out.
func (p *Plan) Build(ctx context.Context, out Store, s int, o Options) (shard.Entry, error) {
	return p.steps.Build(ctx, out, s, steps.Options(o))
}

// Finish requires all shards, checks that their files are those that Build wrote, gives them their final names, and
// writes the manifest, after which the set can be opened. Then it removes the working files of this plan and of
// plans that cannot finish any more because they were saved before, and the shards that the manifest does not name. If
// Finish was interrupted after the manifest, it only removes.
//
// The error wraps ErrMissing and names the shards that are not built, filter.ErrRate if the set exceeds
// bloomery.Config.MaxFPR, ErrSetChanged if the output has another set than when the plan was saved and not the one of
// this plan, or is one of out. Before the manifest is written, an error leaves the set that is there as it is.
//
// If out has a lock, Finish waits for it and has it all the time. In a Store with WriteIf and without a lock, a Finish
// that comes too late is refused, too: ErrSetChanged.
func (p *Plan) Finish(ctx context.Context, out Store, o Options) (*shard.Manifest, error) {
	return p.steps.Finish(ctx, out, steps.Options(o))
}
