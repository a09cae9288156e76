package hashes

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/bloomery/bloomery/filter"
)

// DefaultMemory is the default memory limit in bytes of a ByShard or Raw.
const DefaultMemory = 64 << 20

// hashSize is the number of bytes of a hash, in memory and in files: Hi before Lo, little endian.
const hashSize = 16

var errClosed = fmt.Errorf("the list of keys is %w", filter.ErrClosed)

// file is the methods of *os.File that a temp needs.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Name() string
}

func createTemp(dir string) (file, error) { return os.CreateTemp(dir, "bloomery-keys-*") }

// temp is the temporary file of a store. The first Write creates it. Only this user can read it. close removes it; on
// Unix the system also removes it when the process ends for any reason.
type temp struct {
	dir     string
	create  func(dir string) (file, error)
	file    file // nil before the first Write
	removed bool // the file has been unlinked
	size    int64
}

// newTemp returns a temp in dir, or in os.TempDir() if dir is empty.
func newTemp(dir string) temp { return temp{dir: cmp.Or(dir, os.TempDir()), create: createTemp} }

// Write appends b to the file.
func (t *temp) Write(b []byte) (int, error) {
	if t.file == nil {
		f, err := t.create(t.dir)
		if err != nil {
			return 0, fmt.Errorf("no room in memory for more keys, and no file in %s; "+
				"choose another directory or a higher limit: %w", t.dir, err)
		}
		t.file = f
		// Removed now, the file cannot outlive a killed process. Windows may refuse to remove an open file: then close
		// removes it.
		t.removed = os.Remove(f.Name()) == nil
	}

	if _, err := t.file.WriteAt(b, t.size); err != nil {
		return 0, fmt.Errorf("writing keys to %s; is the disk full? "+
			"Choose another directory or a higher limit: %w", t.dir, err)
	}
	t.size += int64(len(b))
	return len(b), nil
}

// ReadAt implements io.ReaderAt. There must be a file.
func (t *temp) ReadAt(b []byte, at int64) (int, error) {
	n, err := t.file.ReadAt(b, at)
	if err != nil {
		err = fmt.Errorf("reading keys back from %s: %w", t.dir, err)
	}
	return n, err
}

// close closes and removes the file, if there is one.
func (t *temp) close() error {
	f := t.file
	t.file, t.size = nil, 0
	if f == nil {
		return nil
	}

	err := f.Close()
	if !t.removed {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// appendHashes appends hashes in the form that they have in files.
func appendHashes(b []byte, hs []filter.Hash) []byte {
	for _, h := range hs {
		b = binary.LittleEndian.AppendUint64(b, h.Hi)
		b = binary.LittleEndian.AppendUint64(b, h.Lo)
	}
	return b
}

// hashAt returns the hash at the beginning of b.
func hashAt(b []byte) filter.Hash {
	return filter.Hash{Hi: binary.LittleEndian.Uint64(b), Lo: binary.LittleEndian.Uint64(b[8:])}
}

// limitOf returns the number of hashes that fit into memory bytes, in [least, most].
func limitOf(memory, least, most int64) int {
	return int(max(min(memory/hashSize, most, int64(^uint(0)>>1)), least))
}
