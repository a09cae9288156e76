package buckets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/publish"
	"github.com/bloomery/bloomery/publish/transport"
)

// Follow is publish.Follow for a published folder in a bucket, such as s3://bucket/list. The address is as in
// OpenStore; http:// and https:// are as in publish.Follow. The connections of the bucket are released when ctx ends.
func Follow(ctx context.Context, address, file string, o ...publish.FollowOption) (*bloomery.Live, error) {
	return follow(ctx, address, file, o, publish.Follow)
}

// FollowExact is Follow for an exact set, like publish.FollowExact.
func FollowExact(ctx context.Context, address, file string, o ...publish.FollowOption) (*exact.Live, error) {
	return follow(ctx, address, file, o, publish.FollowExact)
}

// follow calls open. If the address names a bucket, it adds the bucket as the source.
func follow[L any](
	ctx context.Context, address, file string, o []publish.FollowOption,
	open func(ctx context.Context, address, file string, o ...publish.FollowOption) (L, error),
) (live L, err error) {
	if scheme, _, ok := strings.Cut(address, "://"); !ok || scheme == "file" || scheme == "http" || scheme == "https" {
		return open(ctx, address, file, o...)
	}

	s, err := OpenStore(ctx, address)
	if err != nil {
		return live, err
	}

	live, err = open(ctx, address, file, append(slices.Clip(o), publish.WithSource(Published(s, address)))...)
	if err != nil {
		return live, errors.Join(err, s.Close())
	}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	return live, nil
}

// Published returns the source of the releases in a Store, for publish.WithSource. The source drops the question mark
// of the address and the parameters behind it, which may be secret. It does not close the Store.
func Published(s Store, address string) transport.Source {
	address, _, _ = strings.Cut(address, "?")
	return published{s, address}
}

type published struct {
	store   Store
	address string
}

func (p published) String() string { return p.address }

// Get opens the version of an object that Stat reports, which is its ETag. If the object is replaced meanwhile, it
// tries again.
func (p published) Get(ctx context.Context, name string, r transport.Request) (*transport.Object, error) {
	for try := 1; ; try++ {
		o, err := p.getOnce(ctx, name, r)
		if err == nil || !errors.Is(err, ErrReplaced) || try == tries {
			return o, err
		}
	}
}

// getOnce is Get without another attempt.
func (p published) getOnce(ctx context.Context, name string, r transport.Request) (*transport.Object, error) {
	st, err := p.store.Stat(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.address, err)
	}
	if st.Size > r.MaxBytes {
		return nil, fmt.Errorf("%s: %s: %d bytes, expected at most %d: %w", p.address, name, st.Size, r.MaxBytes,
			transport.ErrTooLarge)
	}

	o := &transport.Object{Size: st.Size, Validators: transport.Validators{ETag: st.Version}}
	if r.Offset == 0 && st.Version != "" && r.Have.ETag == st.Version {
		o.NotModified = true
		return o, nil
	}
	if r.Offset <= st.Size { // else the object is shorter than what the Follower has: read it from the start
		o.Offset = r.Offset
	}

	rest, err := p.store.OpenVersion(ctx, name, st.Version, o.Offset, -1)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.address, err)
	}
	o.Body = &namedBody{rest, st.Size - o.Offset, p.address + "/" + name}
	return o, nil
}

// namedBody is a body of at most left bytes, whose errors name the object. It sets no limit of time, because a Follower
// sets one.
type namedBody struct {
	io.ReadCloser
	left int64
	name string
}

func (b *namedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one more byte shows that the body is too long
	}

	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		b.left = 0
		return max(n-1, 0), fmt.Errorf("%s: %w", b.name, transport.ErrTooLarge)
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%s: %w", b.name, err)
	}
	return n, err
}
