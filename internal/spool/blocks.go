// Package spool keeps keys, or their hashes, until they have been counted.
package spool

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
)

const (
	// DefaultMemory is the memory limit in bytes if that of New or NewRaw is not positive.
	DefaultMemory = 64 << 20

	chunkSize = 1 << 20 // bytes that are stored, written and read together
)

var errSpoolClosed = errors.New("the list of keys is closed")

// blocks stores bytes, the first ones in memory up to a limit, the others in one temporary file. Its users append to
// tail and call flush.
type blocks struct {
	dir   string
	limit int64    // of held
	chunk int      // least length of a block
	mem   [][]byte // full blocks, which never change
	held  int64    // bytes of mem
	tail  []byte   // the newest bytes
	file  *Temp    // nil until the memory is full
	ends  []int64  // of the blocks in file
	err   error    // sticky: returned by flush and each
}

// newBlocks returns empty blocks. The length of a block is a multiple of unit, if those of its parts are.
func newBlocks(memory int64, dir string, unit int64) blocks {
	if memory <= 0 {
		memory = DefaultMemory
	}
	memory = min(memory, math.MaxInt)
	return blocks{dir: dir, limit: memory, chunk: int(max(min(memory, chunkSize)/unit, 1) * unit)}
}

// flush makes tail a block if it is long enough.
func (b *blocks) flush() error {
	n := int64(len(b.tail))
	switch {
	case b.err != nil || len(b.tail) < b.chunk:
	case b.file == nil && b.held+n <= b.limit:
		b.mem, b.held = append(b.mem, b.tail), b.held+n
		b.tail = make([]byte, 0, b.chunk)
	default:
		b.err = b.spill()
	}
	return b.err
}

// spill moves tail to the end of the file.
func (b *blocks) spill() (err error) {
	if b.file == nil {
		if b.file, err = CreateTemp(b.dir, "bloomery-spool-*"); err != nil {
			return fmt.Errorf("creating a temporary file for keys that are not counted yet: %w", err)
		}
	}
	if _, err := b.file.Write(b.tail); err != nil {
		return fmt.Errorf("writing the keys that are not counted yet to a temporary file; is the disk full? %w", err)
	}
	b.ends = append(b.ends, b.spilled()+int64(len(b.tail)))
	b.tail = b.tail[:0]
	return nil
}

// spilled returns the number of bytes in the file.
func (b *blocks) spilled() int64 {
	if len(b.ends) == 0 {
		return 0
	}
	return b.ends[len(b.ends)-1]
}

// each calls f with all blocks in order and with the tail, until f fails or ctx is done. f must not keep a block.
func (b *blocks) each(ctx context.Context, f func(block []byte) error) error {
	if b.err != nil {
		return b.err
	}
	visit := func(block []byte) error {
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
	var block []byte
	at := int64(0)
	for _, end := range b.ends {
		block = slices.Grow(block[:0], int(end-at))[:end-at]
		if _, err := b.file.ReadAt(block, at); err != nil {
			return fmt.Errorf("reading keys back from a temporary file: %w", err)
		}
		if err := visit(block); err != nil {
			return err
		}
		at = end
	}
	return visit(b.tail)
}

// close drops the bytes and removes the file.
func (b *blocks) close() error {
	if b.err == nil {
		b.err = errSpoolClosed
	}
	file := b.file
	b.mem, b.held, b.tail, b.ends, b.file = nil, 0, nil, nil, nil
	return file.Close()
}

// Temp is a temporary file that only this user can read. Close removes it; on Unix it also vanishes whenever the process
// ends.
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
