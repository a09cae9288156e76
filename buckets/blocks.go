package buckets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// withoutBlocks adds a hint to an error of a set whose blocks cannot be read.
func withoutBlocks(err error) error {
	if errors.Is(err, filter.ErrUnsupported) {
		return fmt.Errorf("%w; open the set without Blocks", err)
	}
	return err
}

const (
	// gap is the largest number of bytes between two blocks that one request reads: about the number of bytes that a
	// connection transfers in the time of one more request.
	gap = 128 << 10
	// longest is the largest range of a request.
	longest = 4 << 20
)

// blocksView returns the Blocks of a shard. The first use reads its header.
func (r remote) blocksView(ctx context.Context) (*shard.Blocks, error) {
	slot := &r.g.views[r.shard]
	if v := slot.Load(); v != nil {
		return v, nil
	}

	name := fmt.Sprintf("%p %d", r.g, r.shard)
	done := r.set.blocks.headers.DoChan(name, func() (any, error) { // once for all waiting queries
		// Another call may have ended between the first Load and this one.
		if v := slot.Load(); v != nil {
			return v, nil
		}
		ctx, stop := r.set.cache.fetching()
		defer stop()
		v, err := r.readView(ctx)
		switch {
		case err == nil:
			slot.Store(v)
		case ctx.Err() != nil: // the clients of the clouds hide the cause, such as a timeout or Close
			err = context.Cause(ctx)
		}
		return v, err
	})
	select {
	case it := <-done:
		return it.Val.(*shard.Blocks), it.Err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// readView reads and checks the header of a shard.
func (r remote) readView(ctx context.Context) (*shard.Blocks, error) {
	b, err := r.readPart(ctx, 0, int64(min(r.manifestEntry().Bytes, shard.MaxHeader)))
	if err != nil {
		return nil, err
	}
	v, err := r.g.manifest.Blocks(r.shard, b)
	return v, withoutBlocks(err)
}

// readPart reads length bytes of a shard.
func (r remote) readPart(ctx context.Context, offset, length int64) ([]byte, error) {
	r.set.counters.blockReads.Add(1)
	in, err := r.readRange(ctx, offset, length)
	if err != nil {
		return nil, err
	}

	b := make([]byte, length)
	n, err := io.ReadFull(in, b)
	r.set.counters.bytes.Add(int64(n))
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, err
	}
	return b, nil
}

// wanted is a key of a batch and the position of its block in the file.
type wanted struct {
	key    int
	offset int64
	length int
}

// askBlocks is askShard by range reads. It reads the blocks that are not in the cache in the order of the file,
// adjacent ones by one request.
func (s *Set) askBlocks(ctx context.Context, r remote, dst []bool, hs []filter.Hash) error {
	v, err := r.blocksView(ctx)
	if err != nil {
		return err
	}

	var missing []wanted
	for i, h := range hs {
		offset, length := v.Block(h)
		w := wanted{i, offset, length}
		if b := s.blocks.blockOf(blockKey{r.g, r.shard, w.offset}); b != nil {
			s.counters.blockHits.Add(1)
			dst[i] = v.Contains(b, h)
		} else {
			missing = append(missing, w)
		}
	}

	slices.SortFunc(missing, func(a, b wanted) int { return cmp.Compare(a.offset, b.offset) })
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for len(missing) > 0 {
		run := firstRun(missing)
		missing = missing[len(run):]
		wg.Go(func() {
			if err := s.readRun(ctx, r, v, run, dst, hs); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = err
			}
		})
	}
	wg.Wait()
	return failed
}

// firstRun returns the first keys whose blocks one request reads.
func firstRun(all []wanted) []wanted {
	n := 1
	for n < len(all) && all[n].offset-all[n-1].offset-int64(all[n-1].length) <= gap &&
		all[n].offset+int64(all[n].length)-all[0].offset <= longest {
		n++
	}
	return all[:n]
}

// readRun reads blocks by one request and answers their keys.
func (s *Set) readRun(ctx context.Context, r remote, v *shard.Blocks, run []wanted, dst []bool, hs []filter.Hash) error {
	select {
	case s.blocks.slots <- struct{}{}:
		defer func() { <-s.blocks.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}

	fetch, stop := s.cache.fetching()
	defer stop()
	defer context.AfterFunc(ctx, stop)() // fetch has another parent, so that Close and the timeout also end it
	last := run[len(run)-1]
	first, end := run[0].offset, last.offset+int64(last.length)
	sums := r.g.sums[r.shard].Load()
	if sums != nil {
		first, end = sums.wholeChunks(first, end, int64(r.manifestEntry().Bytes))
	}

	b, err := r.readPart(fetch, first, end-first)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && fetch.Err() != nil:
		return context.Cause(fetch)
	case err != nil:
		return err
	}
	if sums != nil {
		if err := sums.checkBytes(first, b); err != nil {
			return err
		}
	}

	for _, w := range run {
		block := b[w.offset-first:][:w.length]
		dst[w.key] = v.Contains(block, hs[w.key])
		s.blocks.addBlock(blockKey{r.g, r.shard, w.offset}, block, sums)
	}
	return nil
}

// chunkSize is the number of bytes that a checksum of chunks covers.
const chunkSize = 4096

// chunks are checksums of a shard, one for each chunkSize bytes from its start on. They depend on a random seed, so
// that nobody can forge bytes with the same checksums. Write the bytes of the shard to it, then call end.
type chunks struct {
	seed maphash.Seed
	sums []uint64
	rest []byte
}

func (c *chunks) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		take := min(len(p), chunkSize-len(c.rest))
		if c.rest, p = append(c.rest, p[:take]...), p[take:]; len(c.rest) == chunkSize {
			c.endChunk()
		}
	}
	return n, nil
}

// endChunk adds the checksum of the last bytes.
func (c *chunks) endChunk() {
	if len(c.rest) > 0 {
		c.sums = append(c.sums, maphash.Bytes(c.seed, c.rest))
		c.rest = c.rest[:0]
	}
}

// wholeChunks returns the range of whole chunks that contains bytes [from, to) of a shard of size bytes.
func (c *chunks) wholeChunks(from, to, size int64) (int64, int64) {
	return from / chunkSize * chunkSize, min((to+chunkSize-1)/chunkSize*chunkSize, size)
}

// checkBytes returns an error wrapping shard.ErrChanged unless the bytes b, from an offset of wholeChunks on, have the
// checksums.
func (c *chunks) checkBytes(offset int64, b []byte) error {
	for i := offset / chunkSize; len(b) > 0; i++ {
		n := min(len(b), chunkSize)
		if i >= int64(len(c.sums)) || maphash.Bytes(c.seed, b[:n]) != c.sums[i] {
			return fmt.Errorf("bytes %d to %d are not those that Verify has read: %w", i*chunkSize,
				i*chunkSize+int64(n)-1, shard.ErrChanged)
		}
		b = b[n:]
	}
	return nil
}
