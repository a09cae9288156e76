package storetest

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/shard"
)

// ErrInjected is the error of Faulty.
var ErrInjected = errors.New("injected")

// Faulty is a Store whose reads fail with these probabilities. Set them before use, or Off at any time.
type Faulty struct {
	buckets.Store
	Refuse, Cut, Flip, Slow float64
	Off                     atomic.Bool
	flips                   atomic.Uint64
	Opens                   atomic.Int64  // number of opened objects
	Block                   chan struct{} // shards are opened when it is closed
}

func (f *Faulty) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	return f.OpenVersion(ctx, name, "", offset, length)
}

func (f *Faulty) OpenVersion(ctx context.Context, name, version string, offset, length int64) (io.ReadCloser, error) {
	f.Opens.Add(1)
	if f.Block != nil && name != shard.ManifestName {
		select {
		case <-f.Block:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if !f.Off.Load() && rand.Float64() < f.Refuse {
		return nil, ErrInjected
	}

	r, err := f.Store.OpenVersion(ctx, name, version, offset, length)
	if err != nil || f.Off.Load() {
		return r, err
	}
	if rand.Float64() < f.Slow {
		time.Sleep(time.Millisecond)
	}

	switch p := rand.Float64(); {
	case p < f.Cut:
		return &broken{ReadCloser: r, left: rand.IntN(2000), err: []error{ErrInjected, io.EOF}[rand.IntN(2)]}, nil
	case p < f.Cut+f.Flip:
		return &broken{ReadCloser: r, left: math.MaxInt, flips: &f.flips}, nil
	}
	return r, nil
}

// broken is a Reader that ends early, or changes a bit of every Read. It changes another bit each time: two fetches
// with the same wrong bytes mean that the stored object is wrong.
type broken struct {
	io.ReadCloser
	left  int
	err   error
	flips *atomic.Uint64 // number of changes so far, of all Readers
}

func (b *broken) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	if b.flips != nil && n > 0 {
		bit := b.flips.Add(1) % uint64(8*n)
		p[bit/8] ^= 1 << (bit % 8)
	}
	return n, err
}
