package delta

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/trailer"
)

// isExact reports whether a file begins like an exact set. Of such files only the trailer is read besides: an update
// replaces the trailer, so that a delta is what the new file has behind the records of the old one.
func isExact(b []byte) bool { return bytes.HasPrefix(b, []byte(container.ExactMagic)) }

// diffExact is Diff for two exact sets.
func diffExact(ctx context.Context, old, new []byte) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	records, err := trailer.Records(old)
	if err != nil {
		return nil, fmt.Errorf("old file: %w", err)
	}
	if _, err := trailer.Records(new); err != nil {
		return nil, fmt.Errorf("new file: %w", err)
	}
	if rest, ok := bytes.CutPrefix(new, records); ok {
		return append(start(Append, 0, BaseOf(old), new), rest...), nil
	}
	return append(start(Whole, 0, BaseOf(old), new), new...), nil
}

// patchExact is apply for an exact set.
func patchExact(ctx context.Context, old []byte, what byte, body []byte, limit uint64) ([]byte, error) {
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case Method(what&15) == Whole:
		return apply(ctx, nil, what, body, limit)
	case what != byte(Append):
		return nil, errNumber
	}
	records, err := trailer.Records(old)
	if err != nil {
		return nil, fmt.Errorf("the file to patch: %w", err)
	}
	if n := uint64(len(records)) + uint64(len(body)); n > limit {
		return nil, fmt.Errorf("a file of %d bytes is over the limit of %d: %w", n, limit, filter.ErrTooLarge)
	}
	return slices.Concat(records, body), nil
}
