package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// Status lists the unfinished parts of a plan.
type Status struct {
	Ranges, Shards               int    // numbers of the plan
	MissingRanges, MissingShards []int  // unfinished ones, and damaged ones as far as sizes and headers show it
	Keys                         uint64 // number of keys in the finished ranges
	// SetChanged is true if the output has another set than when the plan was saved, so Finish would return
	// ErrSetChanged.
	SetChanged bool
}

// Status checks the sizes, headers and indexes of the run files and the shards.
func (p *Plan) Status(ctx context.Context, out Source) (st Status, err error) {
	st.Ranges, st.Shards = len(p.Ranges), p.Shards
	var keys atomic.Uint64
	st.MissingRanges, err = unfinished(ctx, st.Ranges, mustRunAgain, func(ctx context.Context, i int) error {
		x, err := p.finished(ctx, out, i)
		if err == nil {
			keys.Add(x.Keys())
		}
		return err
	})
	st.Keys = keys.Load()
	if err != nil {
		return st, err
	}

	old, err := ReadManifest(ctx, out)
	if err != nil {
		return st, err
	}

	st.MissingShards, err = unfinished(ctx, st.Shards, mustRunAgain, func(ctx context.Context, s int) error {
		_, err := p.findShard(ctx, out, s, func() (*shard.Manifest, error) { return old, nil }, func(r result) error {
			o, err := out.Stat(ctx, r.File)
			if err == nil && uint64(o.Size) != r.Bytes {
				err = shard.ErrChanged
			}
			return err
		})
		return err
	})
	if err != nil {
		return st, err
	}
	if m, err := p.wasFinished(ctx, out); m != nil || err != nil { // Finish has only files left to remove
		return st, err
	}

	there, err := p.replaces(ctx, out)
	if st.SetChanged = there.changed; err != nil || !there.changed || len(st.MissingShards) > 0 {
		return st, err
	}

	m, _, err := p.shards(ctx, out) // an interrupted Finish may have written it
	if err == nil {
		st.SetChanged = there.checkNext([]byte(manifestText(m))) != nil
	}
	return st, nil // Finish reports the error of the set
}

// mustRunAgain reports whether err means that a step is not finished and must run again.
func mustRunAgain(err error) bool {
	return missing(err) || errors.Is(err, hashes.ErrDamaged) || errors.Is(err, shard.ErrChanged)
}

// unfinished calls f for all i below n, some of them at the same time. It returns the numbers whose error lacks
// accepts. Any other error stops it.
func unfinished(
	ctx context.Context, n int, lacks func(error) bool, f func(ctx context.Context, i int) error,
) (numbers []int, err error) {
	var mu sync.Mutex
	err = parallel.Do(ctx, n, planReads, func(ctx context.Context, i int) error {
		err := f(ctx, i)
		if lacks(err) {
			mu.Lock()
			defer mu.Unlock()
			numbers, err = append(numbers, i), nil
		}
		return err
	})
	slices.Sort(numbers)
	return numbers, err
}

// require is unfinished with an error: a *MissingError if any number is unfinished.
func require(ctx context.Context, what string, n int, f func(ctx context.Context, i int) error) error {
	numbers, err := unfinished(ctx, n, missing, f)
	if err == nil && len(numbers) > 0 {
		err = &MissingError{What: what, Numbers: numbers, Of: n}
	}
	return err
}

// MissingError lists ranges or shards that are not finished. It wraps ErrMissing.
type MissingError struct {
	What    string // "range" or "shard"
	Numbers []int
	Of      int
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%d of %d %ss are %v: %s", len(e.Numbers), e.Of, e.What, ErrMissing, firstFew(e.Numbers))
}

func (e *MissingError) Unwrap() error { return ErrMissing }

// firstFew lists the first values for an error.
func firstFew[T any](all []T) (text string) {
	const most = 10
	for i, v := range all[:min(len(all), most)] {
		text += strings.Repeat(", ", min(i, 1)) + fmt.Sprint(v)
	}
	if len(all) > most {
		text += ", ..."
	}
	return text
}

// foreign returns an error if an output has objects that belong to no sharded set.
func foreign(ctx context.Context, out Source) error {
	for o, err := range out.List(ctx, "") {
		if err != nil {
			return err
		}
		n := o.Name
		if _, _, work := shardset.CutWork(n); !work && n != shard.ManifestName && !shardset.IsName(n) {
			return fmt.Errorf("there is %s in the output, which belongs to no sharded set; name an empty folder", n)
		}
	}
	return nil
}
