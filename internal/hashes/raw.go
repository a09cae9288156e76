package hashes

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
)

// Raw keeps keys, not their hashes, until they are counted, for families that take raw keys. A key is stored as its
// length, a uvarint, and its bytes. Methods must not run at the same time.
type Raw struct {
	temp
	limit  int64    // bytes of keys in memory, without tail
	blocks [][]byte // the oldest keys
	held   int64    // bytes of blocks
	tail   []byte   // the newest keys
	ends   []int64  // the ends of the blocks in the file
	block  int      // length in bytes from which tail becomes a block
	keys   uint64
	err    error // sticky
}

// NewRaw returns an empty Raw. It keeps at most about memory bytes of keys in memory, or DefaultMemory if memory is not
// positive, and buffers of at most 2 MiB and one key. Further keys go to a temporary file in dir, or in os.TempDir() if
// dir is empty.
func NewRaw(memory int64, dir string) *Raw {
	if memory <= 0 {
		memory = DefaultMemory
	}
	return &Raw{temp: newTemp(dir), limit: memory, block: int(min(memory, BlockSize))}
}

// Add appends a copy of a key. After an error, such as a full disk, Add and Each return that error.
func (r *Raw) Add(key []byte) error {
	if r.err != nil {
		return r.err
	}

	r.tail = binary.AppendUvarint(r.tail, uint64(len(key)))
	r.tail = append(r.tail, key...)
	r.keys++

	n := int64(len(r.tail))
	switch {
	case len(r.tail) < r.block:
	case r.file == nil && r.held+n <= r.limit:
		r.blocks, r.held = append(r.blocks, r.tail), r.held+n
		// The block keeps the memory of tail, so the next tail must not share it.
		r.tail = nil
	default:
		_, r.err = r.Write(r.tail)
		r.ends = append(r.ends, r.size)
		r.tail = r.tail[:0]
	}
	return r.err
}

// Len returns the number of keys.
func (r *Raw) Len() uint64 { return r.keys }

// Each calls f with every key, in the order of Add. f must not keep or change it. Each stops at the first error of f
// and returns it, or the cause of ctx when ctx is done.
func (r *Raw) Each(ctx context.Context, f func(key []byte) error) error {
	if r.err != nil {
		return r.err
	}

	for _, block := range r.blocks {
		if err := eachKey(ctx, block, f); err != nil {
			return err
		}
	}

	var block []byte
	begin := int64(0)
	for _, end := range r.ends {
		block = slices.Grow(block[:0], int(end-begin))[:end-begin]
		if _, err := r.ReadAt(block, begin); err != nil {
			return err
		}
		if err := eachKey(ctx, block, f); err != nil {
			return err
		}
		begin = end
	}
	return eachKey(ctx, r.tail, f)
}

// eachKey calls f with the keys of a block.
func eachKey(ctx context.Context, block []byte, f func(key []byte) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	for len(block) > 0 {
		n, size := binary.Uvarint(block)
		end := size + int(n)
		if err := f(block[size:end:end]); err != nil {
			return err
		}
		block = block[end:]
	}
	return nil
}

// Close drops the keys and removes the file.
func (r *Raw) Close() error {
	r.err = cmp.Or(r.err, errClosed)
	r.blocks, r.tail, r.ends = nil, nil, nil
	return r.close()
}
