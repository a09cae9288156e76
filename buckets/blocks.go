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
	// gap is the largest number of bytes between two blocks that one request reads: about as many as a connection
	// transfers in the time of one more request.
	gap = 128 << 10
	// longest is the largest range of a request.
	longest = 4 << 20
)

// view returns the Blocks of a shard. The first use reads its header.
func (r remote) view(ctx context.Context) (*shard.Blocks, error) {
	slot := &r.g.views[r.shard]
	if v := slot.Load(); v != nil {
		return v, nil
	}

	name := fmt.Sprintf("%p %d", r.g, r.shard)
	done := r.set.blocks.headers.DoChan(name, func() (any, error) { // once for all waiting queries
		if v := slot.Load(); v != nil {
			return v, nil
		}
		ctx, stop := r.set.cache.fetching()
		defer stop()
		v, err := r.readView(ctx)
		switch {
		case err == nil:
			slot.Store(v)
		case ctx.Err() != nil:
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
	b, err := r.part(ctx, 0, int64(min(r.entry().Bytes, shard.MaxHeader)))
	if err != nil {
		return nil, err
	}
	v, err := r.g.manifest.Blocks(r.shard, b)
	return v, withoutBlocks(err)
}

// part reads a part of a shard, completely.
func (r remote) part(ctx context.Context, offset, length int64) ([]byte, error) {
	r.set.counters.blockReads.Add(1)
	in, err := r.read(ctx, offset, length)
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

// askBlocks is askShard by range reads. Blocks that are not in the cache are read in order, near ones by one request.
func (s *Set) askBlocks(ctx context.Context, r remote, dst []bool, hs []filter.Hash) error {
	v, err := r.view(ctx)
	if err != nil {
		return err
	}

	var missing []wanted
	for i, h := range hs {
		offset, length := v.Block(h)
		w := wanted{i, offset, length}
		if b := s.blocks.get(blockKey{r.g, r.shard, w.offset}); b != nil {
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
		run := runOf(missing)
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

// runOf returns the first keys whose blocks one request reads.
func runOf(all []wanted) []wanted {
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
	defer context.AfterFunc(ctx, stop)()
	last := run[len(run)-1]
	first, end := run[0].offset, last.offset+int64(last.length)
	sums := r.g.sums[r.shard].Load()
	if sums != nil {
		first, end = sums.around(first, end, int64(r.entry().Bytes))
	}

	b, err := r.part(fetch, first, end-first)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && fetch.Err() != nil:
		return context.Cause(fetch)
	case err != nil:
		return err
	}
	if sums != nil {
		if err := sums.check(first, b); err != nil {
			return err
		}
	}

	for _, w := range run {
		block := b[w.offset-first:][:w.length]
		dst[w.key] = v.Contains(block, hs[w.key])
		s.blocks.put(blockKey{r.g, r.shard, w.offset}, block, sums)
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
			c.end()
		}
	}
	return n, nil
}

// end adds the checksum of the last bytes.
func (c *chunks) end() {
	if len(c.rest) > 0 {
		c.sums = append(c.sums, maphash.Bytes(c.seed, c.rest))
		c.rest = c.rest[:0]
	}
}

// around returns the range of whole chunks that has the bytes from from to to of a shard of size bytes.
func (c *chunks) around(from, to, size int64) (int64, int64) {
	return from / chunkSize * chunkSize, min((to+chunkSize-1)/chunkSize*chunkSize, size)
}

// check returns an error wrapping shard.ErrChanged unless b, from an offset of around on, has the checksums.
func (c *chunks) check(offset int64, b []byte) error {
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
