package hashes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/bloomery/bloomery/filter"
)

// DefaultMemory is the memory limit in bytes if that of NewSpool or NewRaw is not positive.
const DefaultMemory = 64 << 20

var errSpoolClosed = fmt.Errorf("the list of keys is %w", filter.ErrClosed)

// blocks stores values, the first ones in memory up to a limit, the others in one temporary file. Its users append to
// tail and call flush. Lengths are in values.
type blocks[T any] struct {
	codec[T]
	dir   string
	limit int64   // of held
	chunk int     // least length of a block
	mem   [][]T   // full blocks, which never change
	held  int64   // length of mem
	tail  []T     // the newest values
	reads int     // calls of each that have not ended
	file  *Temp   // nil until the memory is full
	ends  []int64 // of the blocks in file
	buf   []byte  // of the last write
	err   error   // sticky: returned by flush and each
}

// codec says how values stand in the file, and where blocks come from. dst has room for all of src.
type codec[T any] struct {
	size   int64 // bytes of a value
	encode func(dst []byte, src []T)
	decode func(dst []T, src []byte)
	used   *Pool[T]
}

func newBlocks[T any](memory int64, dir string, c codec[T]) blocks[T] {
	if memory <= 0 {
		memory = DefaultMemory
	}
	memory = min(memory, math.MaxInt)
	return blocks[T]{codec: c, dir: dir, limit: memory / c.size, chunk: int(max(min(memory, BlockSize)/c.size, 1))}
}

// grow makes room for n more values in tail, at most a block in all, unless append does that well.
func (b *blocks[T]) grow(n int) {
	if b.chunk == b.used.Len() {
		b.tail = b.used.Grow(b.tail, n, b.held == 0 && b.file == nil)
	}
}

// flush makes tail a block if it is long enough.
func (b *blocks[T]) flush() error {
	n := int64(len(b.tail))
	switch {
	case b.err != nil || len(b.tail) < b.chunk:
	case b.file == nil && b.held+n <= b.limit:
		b.mem, b.held = append(b.mem, b.tail), b.held+n
		b.tail = nil
	default:
		b.err = b.spill()
	}
	return b.err
}

// spill moves tail to the end of the file.
func (b *blocks[T]) spill() (err error) {
	if b.file == nil {
		if b.file, err = CreateTemp(b.dir, "bloomery-spool-*"); err != nil {
			return fmt.Errorf("creating a temporary file for keys that are not counted yet: %w", err)
		}
	}
	n := len(b.tail) * int(b.size)
	b.buf = slices.Grow(b.buf[:0], n)[:n]
	b.encode(b.buf, b.tail)
	if _, err := b.file.Write(b.buf); err != nil {
		return fmt.Errorf("writing the keys that are not counted yet to a temporary file; is the disk full? %w", err)
	}
	b.ends = append(b.ends, b.spilled()+int64(len(b.tail)))
	if b.tail = b.tail[:0]; b.reads != 0 {
		b.tail = nil
	}
	return nil
}

// spilled returns the number of values in the file.
func (b *blocks[T]) spilled() int64 {
	if len(b.ends) == 0 {
		return 0
	}
	return b.ends[len(b.ends)-1]
}

// each calls f with all blocks in order and with the tail, until f fails or ctx is done. f must not keep a block.
func (b *blocks[T]) each(ctx context.Context, f func(block []T) error) error {
	if b.err != nil {
		return b.err
	}
	visit := func(block []T) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return f(block)
	}
	for _, block := range b.mem {
		if err := visit(block); err != nil {
			return err
		}
	}
	var block []T
	var bytes []byte
	at := int64(0)
	for _, end := range b.ends {
		block = slices.Grow(block[:0], int(end-at))[:end-at]
		bytes = slices.Grow(bytes[:0], int((end-at)*b.size))[:(end-at)*b.size]
		if _, err := b.file.ReadAt(bytes, at*b.size); err != nil {
			return fmt.Errorf("reading keys back from a temporary file: %w", err)
		}
		b.decode(block, bytes)
		if err := visit(block); err != nil {
			return err
		}
		at = end
	}
	if len(b.tail) == 0 {
		return nil
	}
	return visit(b.tail)
}

// close drops the values and removes the file. Blocks that nothing reads may be used again.
func (b *blocks[T]) close() error {
	if b.err == nil {
		b.err = errSpoolClosed
	}
	for _, block := range append(b.mem, b.tail) {
		if b.reads == 0 {
			b.used.Put(block)
		}
	}
	file := b.file
	b.mem, b.held, b.tail, b.ends, b.buf, b.file = nil, 0, nil, nil, nil, nil
	return file.Close()
}

// Temp is a temporary file that only this user can read. Close removes it; on Unix it also vanishes whenever the
// process ends.
type Temp struct {
	*os.File
	removed bool // it is already unlinked
}

// CreateTemp is os.CreateTemp for a Temp.
func CreateTemp(dir, pattern string) (*Temp, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	return &Temp{f, os.Remove(f.Name()) == nil}, nil // fails on Windows for an open file: Close removes it
}

// Close closes and removes the file. A nil Temp has nothing to close.
func (t *Temp) Close() error {
	if t == nil {
		return nil
	}
	err := t.File.Close()
	if !t.removed {
		err = errors.Join(err, os.Remove(t.Name()))
	}
	return err
}
