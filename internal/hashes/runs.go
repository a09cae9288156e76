package hashes

import (
	"context"
	"io"

	"github.com/bloomery/bloomery/filter"
)

const (
	minBuffer = 4 << 10 // bytes, a page: a smaller read takes as much time
	maxBuffer = 1 << 20 // bytes; the seeks of a disk are negligible with larger reads

	blockLen = 1 << 12 // hashes of a block that merge returns, 64 KiB
)

// runs is a file of sorted runs of hashes, one after the other. Without copies the hashes of a run are distinct.
type runs struct {
	temp
	copies bool    // merge keeps duplicates
	ends   []int64 // the ends of the runs in the file, in bytes
	buf    []byte  // the buffer of addRun
}

// notEmpty reports whether there are runs.
func (r *runs) notEmpty() bool { return len(r.ends) > 0 }

// addRun adds the sorted hashes of a as a run and empties a.
func (r *runs) addRun(ctx context.Context, a *array) error {
	if r.buf == nil {
		r.buf = make([]byte, 0, min(a.n, chunkLen)*hashSize)
	}

	for lo := 0; lo < a.n; lo += chunkLen {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.buf = r.buf[:0]
		for hs := range a.pieces(lo, min(lo+chunkLen, a.n)) {
			r.buf = appendHashes(r.buf, hs)
		}
		if _, err := r.Write(r.buf); err != nil {
			return err
		}
	}

	r.ends = append(r.ends, r.size)
	a.n = 0
	return nil
}

// mergeRuns calls f with all hashes in order, in blocks, each distinct one once unless copies is set. A block is valid
// until f returns. The buffers take the memory of limit hashes, but at least 4 KiB per run. This minimum exceeds the
// limit only for more than limit²/256 keys: 10^12 for a limit of 256 MiB.
func (r *runs) mergeRuns(ctx context.Context, limit int, f func(hs []filter.Hash) error) error {
	size := min(max(limit/len(r.ends), minBuffer/hashSize), maxBuffer/hashSize) * hashSize
	m := make(merger, 0, len(r.ends))
	begin := int64(0)
	for _, end := range r.ends {
		in := &reader{file: &r.temp, at: begin, end: end, buf: make([]byte, min(int64(size), end-begin))}
		begin = end
		head, ok, err := in.next()
		if err != nil {
			return err
		}
		if ok {
			m = append(m, source{head, in})
		}
	}

	for i := len(m)/2 - 1; i >= 0; i-- {
		m.siftDown(i)
	}

	block := make([]filter.Hash, 0, blockLen)
	var last filter.Hash
	for first := true; len(m) > 0; first = false {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		block = block[:0]
		for len(m) > 0 && len(block) < blockLen {
			h, err := m.pop()
			if err != nil {
				return err
			}
			// The zero hash equals the initial value of last, so the very first hash is always kept.
			if r.copies || h != last || first && len(block) == 0 {
				block, last = append(block, h), h
			}
		}
		if err := f(block); err != nil {
			return err
		}
	}
	return nil
}

// eachPart is Sorted.Each. Each part is a new slice that starts with room for 1/8 more hashes than the previous part.
func (r *runs) eachPart(
	ctx context.Context, limit int, part func(filter.Hash) uint64, f func(uint64, []filter.Hash) error,
) error {
	var keys []filter.Hash
	var current uint64
	err := r.mergeRuns(ctx, limit, func(hs []filter.Hash) error {
		for _, h := range hs {
			p := part(h)
			if p != current && len(keys) > 0 {
				if err := f(current, keys); err != nil {
					return err
				}
				keys = make([]filter.Hash, 0, min(len(keys)+len(keys)/8, chunkLen))
			}
			keys, current = append(keys, h), p
		}
		return nil
	})
	if err != nil || len(keys) == 0 {
		return err
	}
	return f(current, keys)
}

// merger is a heap of the runs that have hashes left: the head of source i is at most the heads of 2i+1 and 2i+2.
type merger []source

type source struct {
	head filter.Hash // the smallest remaining hash of the run
	from *reader
}

// pop removes and returns the smallest hash. There must be one.
func (m *merger) pop() (filter.Hash, error) {
	h := *m
	least := h[0].head
	head, ok, err := h[0].from.next()
	if err != nil {
		return least, err
	}
	if ok {
		h[0].head = head
	} else {
		h[0] = h[len(h)-1]
		*m = h[:len(h)-1]
	}
	m.siftDown(0)
	return least, nil
}

// siftDown restores the heap below source i.
func (m merger) siftDown(i int) {
	for {
		c := 2*i + 1
		if c >= len(m) {
			return
		}
		if c+1 < len(m) && less(m[c+1].head, m[c].head) {
			c++
		}
		if !less(m[c].head, m[i].head) {
			return
		}
		m[i], m[c] = m[c], m[i]
		i = c
	}
}

// reader reads a run.
type reader struct {
	file    io.ReaderAt
	at, end int64  // bytes of the file that are not yet in buf
	buf     []byte // the buffer
	left    []byte // the part of buf that has not been returned
}

// next returns the next hash, or false at the end.
func (r *reader) next() (h filter.Hash, ok bool, err error) {
	if len(r.left) == 0 {
		if r.at == r.end {
			return h, false, nil
		}
		r.left = r.buf[:min(int64(len(r.buf)), r.end-r.at)]
		if _, err := r.file.ReadAt(r.left, r.at); err != nil {
			return h, false, err
		}
		r.at += int64(len(r.left))
	}

	h = hashAt(r.left)
	r.left = r.left[hashSize:]
	return h, true, nil
}
