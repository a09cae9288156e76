package spool

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// Raw stores keys until they are counted, for families that take raw keys. The first keys stay in memory, up to a
// limit; the others go to one temporary file. A key is stored as its length, a uvarint, and its bytes. Methods must not
// run at the same time.
type Raw struct {
	dir    string
	limit  int64
	chunks [][]byte // in memory, each of whole keys
	held   int64    // bytes of chunks
	tail   []byte   // the newest keys, about a chunk at most

	file    *os.File // nil until the memory is full
	removed bool     // the file is already unlinked
	spilled int64    // bytes in file

	keys uint64
	err  error // sticky: returned by Add and Each
}

// NewRaw returns an empty Raw. It keeps at most about memory bytes of keys in memory, or DefaultMemory if memory is not
// positive, and buffers of at most 2 MiB and one key. Further keys go to a file in dir, or in os.TempDir() if dir is
// empty. Only this user can read the file. Close removes it; on Unix it also vanishes whenever the process ends.
func NewRaw(memory int64, dir string) *Raw {
	if memory <= 0 {
		memory = DefaultMemory
	}
	return &Raw{dir: dir, limit: min(memory, math.MaxInt)}
}

// Add appends a key. It does not keep it. After an error, such as a full disk, Add and Each return that error.
func (r *Raw) Add(key []byte) error {
	if r.err != nil {
		return r.err
	}
	r.tail = binary.AppendUvarint(r.tail, uint64(len(key)))
	r.tail = append(r.tail, key...)
	r.keys++
	switch n := int64(len(r.tail)); {
	case n < min(chunkSize, r.limit):
	case r.file == nil && r.held+n <= r.limit:
		r.chunks, r.held = append(r.chunks, r.tail), r.held+n
		r.tail = make([]byte, 0, chunkSize)
	default:
		if r.err = r.spill(); r.err == nil {
			r.tail = r.tail[:0]
		}
	}
	return r.err
}

// spill writes the tail to the end of the file.
func (r *Raw) spill() error {
	if r.file == nil {
		f, err := os.CreateTemp(r.dir, "bloomery-spool-*")
		if err != nil {
			return fmt.Errorf("creating a temporary file for keys that are not counted yet: %w", err)
		}
		r.file = f
		r.removed = os.Remove(f.Name()) == nil // fails on Windows for an open file: Close removes it
	}
	if _, err := r.file.WriteAt(r.tail, r.spilled); err != nil {
		return fmt.Errorf("writing the keys that are not counted yet to a temporary file; is the disk full? %w", err)
	}
	r.spilled += int64(len(r.tail))
	return nil
}

// Len returns the number of keys.
func (r *Raw) Len() uint64 { return r.keys }

// Each calls f with every key, in the order of Add. f must not keep or change it. Each stops at the first error of f
// and returns it, or the cause of ctx when ctx is done.
func (r *Raw) Each(ctx context.Context, f func(key []byte) error) error {
	if r.err != nil {
		return r.err
	}
	for _, c := range r.chunks {
		if err := eachKey(ctx, c, f); err != nil {
			return err
		}
	}
	if r.file != nil {
		if err := r.eachSpilled(ctx, f); err != nil {
			return err
		}
	}
	return eachKey(ctx, r.tail, f)
}

// eachKey calls f with the keys in b.
func eachKey(ctx context.Context, b []byte, f func(key []byte) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for len(b) > 0 {
		n, size := binary.Uvarint(b)
		end := size + int(n)
		if err := f(b[size:end:end]); err != nil {
			return err
		}
		b = b[end:]
	}
	return nil
}

// eachSpilled calls f with the keys in the file.
func (r *Raw) eachSpilled(ctx context.Context, f func(key []byte) error) error {
	in := bufio.NewReaderSize(io.NewSectionReader(r.file, 0, r.spilled), chunkSize)
	var key []byte
	for i := 0; ; i++ {
		if i%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := binary.ReadUvarint(in)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			if uint64(cap(key)) < n {
				key = make([]byte, n)
			}
			key = key[:n]
			_, err = io.ReadFull(in, key)
		}
		if err != nil {
			return fmt.Errorf("reading back the keys that are not counted yet: %w", err)
		}
		if err := f(key); err != nil {
			return err
		}
	}
}

// Close drops the keys and removes the file.
func (r *Raw) Close() (err error) {
	if r.err == nil {
		r.err = errSpoolClosed
	}
	r.chunks, r.tail = nil, nil
	if r.file != nil {
		err = r.file.Close()
		if !r.removed {
			err = errors.Join(err, os.Remove(r.file.Name()))
		}
		r.file = nil
	}
	return err
}
