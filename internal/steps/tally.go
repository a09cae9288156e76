package steps

import (
	"context"
	"path"
	"strings"

	"github.com/bloomery/bloomery/internal/hashes"
)

// Tally says how much of a plan is done, by the names and sizes of its working files: for a progress line. Status looks
// into the files.
type Tally struct {
	Ranges, Shards int
	Keys           uint64 // in the ranges
}

// Tally lists the working files and reads none: in a bucket, that is one request for each 1,000 run files, and after
// all ranges are done, one for each 1,000 shards. before is the Tally before this one, or zero.
func (p *Plan) Tally(ctx context.Context, out Source, before Tally) (t Tally, err error) {
	if t = before; t.Ranges < len(p.Ranges) {
		t.Ranges, t.Keys = 0, 0
		for o, err := range out.List(ctx, p.work(rangePrefix)) {
			if err != nil {
				return before, err
			}
			t.Ranges++
			t.Keys += hashes.KeysOf(o.Size, p.Shards)
		}
		if t.Ranges < len(p.Ranges) {
			return t, nil
		}
	}
	t.Shards = 0
	for o, err := range out.List(ctx, p.work(shardPrefix)) {
		if err != nil {
			return before, err
		}
		if strings.HasSuffix(path.Base(o.Name), resultSuffix) { // not the filter
			t.Shards++
		}
	}
	return t, nil
}
