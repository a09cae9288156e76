package distribute

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/run"
	"github.com/bloomery/bloomery/shard"
)

// Status says what of a plan is not finished.
type Status struct {
	Ranges, Shards               int    // of the plan
	MissingRanges, MissingShards []int  // that are not finished, or damaged as far as their sizes and headers tell
	Keys                         uint64 // in the finished ranges
	// SetChanged reports that the output has another set than when the plan was saved, so that Finish refuses to replace
	// it; see ErrSetChanged.
	SetChanged bool
}

// Status looks at the run files and the shards. It reads their sizes, headers and indexes.
func (p *Plan) Status(ctx context.Context, out Source) (st Status, err error) {
	st.Ranges, st.Shards = len(p.Ranges), p.Shards
	var mu sync.Mutex
	ranges, shards := make([]bool, st.Ranges), make([]bool, st.Shards)
	err = parallel.Do(ctx, st.Ranges, planReads, func(ctx context.Context, i int) error {
		x, err := p.finished(ctx, out, i)
		if missing(err) || errors.Is(err, run.ErrDamaged) {
			return nil
		}
		if err == nil {
			mu.Lock()
			st.Keys += x.Keys()
			mu.Unlock()
			ranges[i] = true
		}
		return err
	})
	if err != nil {
		return st, err
	}
	old, err := ReadManifest(ctx, out)
	if err != nil {
		return st, err
	}
	err = parallel.Do(ctx, st.Shards, planReads, func(ctx context.Context, s int) error {
		_, err := p.find(ctx, out, s, func() (*shard.Manifest, error) { return old, nil }, func(r result) error {
			o, err := out.Stat(ctx, r.File)
			if err == nil && uint64(o.Size) != r.Bytes {
				err = shard.ErrChanged
			}
			return err
		})
		if missing(err) || errors.Is(err, run.ErrDamaged) || errors.Is(err, shard.ErrChanged) {
			return nil
		}
		shards[s] = err == nil
		return err
	})
	st.MissingRanges, st.MissingShards = lacking(ranges), lacking(shards)
	if err != nil {
		return st, err
	}
	if m, err := p.wasFinished(ctx, out); m != nil || err != nil { // what is left is removing
		return st, err
	}
	there, err := p.replaces(ctx, out)
	if st.SetChanged = there.changed; err != nil || !there.changed || len(st.MissingShards) > 0 {
		return st, err
	}
	m, err := p.Manifest(ctx, out) // an interrupted Finish may have written it
	if err == nil {
		st.SetChanged = there.by([]byte(manifestText(m))) != nil
	}
	return st, nil // Finish says what is wrong with the set
}

// lacking returns the indexes of false values.
func lacking(found []bool) (missing []int) {
	for i, ok := range found {
		if !ok {
			missing = append(missing, i)
		}
	}
	return missing
}

// foreign returns an error if an output has objects that belong to no sharded set.
func foreign(ctx context.Context, out Source) error {
	for o, err := range out.List(ctx, "") {
		if err != nil {
			return err
		}
		n := o.Name
		if _, _, work := shard.CutWork(n); !work && n != shard.ManifestName && !shard.IsName(n) {
			return fmt.Errorf("there is %s in the output, which belongs to no sharded set; name an empty folder", n)
		}
	}
	return nil
}
