package delta

import (
	"context"

	"github.com/bloomery/bloomery/container"
)

// replayed returns the delta of method 3, or nil if it does not fit.
func replayed(context.Context, change, uint64) ([]byte, error) { return nil, nil }

// replay returns the new file of method 3.
func replay(context.Context, *bitReader, *container.Image, header, uint64) ([]byte, error) {
	return nil, errNumber
}
