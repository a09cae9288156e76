package publish

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/publish/transport"
)

// objectName returns the name of the object with a hash in the folder of a publisher.
func objectName(h Hash) string { return ObjectsName + "/" + h.String() }

// match returns an error wrapping ErrObject unless b is the object.
func (o Object) match(b []byte) error {
	if uint64(len(b)) != o.Bytes {
		return fmt.Errorf("%w: %d bytes, and the release names %d", ErrObject, len(b), o.Bytes)
	}
	if sum := Hash(sha256.Sum256(b)); sum != o.SHA256 {
		return fmt.Errorf("%w: SHA-256 %.8s, and the release names %.8s", ErrObject, sum, o.SHA256)
	}
	return nil
}

// inMemory is the largest object in bytes that is loaded without a part file. A larger one is resumed by the next poll.
const inMemory = 64 << 10

// object loads an object into memory and checks it.
func (p *poll) object(ctx context.Context, o Object) ([]byte, error) {
	if o.Bytes > p.options.maxBytes {
		return nil, fmt.Errorf("an object of %d bytes, and at most %d are allowed: %w", o.Bytes, p.options.maxBytes,
			filter.ErrTooLarge)
	}
	if o.Bytes > inMemory {
		path, err := p.download(ctx, o)
		if err != nil {
			return nil, err
		}
		b, err := untrusted.ReadFile(ctx, path, untrusted.Limit{MaxBytes: o.Bytes})
		if err != nil {
			return nil, err
		}
		return b, o.match(b)
	}
	b, _, err := p.load(ctx, objectName(o.SHA256), transport.Request{MaxBytes: int64(o.Bytes)})
	if err != nil {
		return nil, err
	}
	return b, o.match(b)
}
