package delta

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
)

// isExact reports whether a file begins like an exact set. Nothing else of such files is read: updates are appended to
// them, so that a delta is what the new file has behind the old one.
func isExact(b []byte) bool { return exact.HasMagic(bytes.NewReader(b)) }

// diffExact is Diff for two exact sets.
func diffExact(ctx context.Context, old, new []byte) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if rest, ok := bytes.CutPrefix(new, old); ok {
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
	case uint64(len(old))+uint64(len(body)) > limit:
		return nil, fmt.Errorf("a file of %d bytes is over the limit of %d: %w",
			uint64(len(old))+uint64(len(body)), limit, filter.ErrTooLarge)
	}
	return slices.Concat(old, body), nil
}
