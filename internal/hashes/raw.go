package hashes

import (
	"context"
	"encoding/binary"
)

// Raw stores keys until they are counted, for families that take raw keys. A key is stored as its length, a uvarint,
// and its bytes. Methods must not run at the same time.
type Raw struct {
	blocks[byte]
	keys uint64
}

// NewRaw returns an empty Raw. It keeps at most about memory bytes of keys in memory, or DefaultMemory if memory is not
// positive, and buffers of at most 2 MiB and one key. Further keys go to a Temp in dir, or in os.TempDir() if dir is
// empty.
func NewRaw(memory int64, dir string) *Raw {
	same := func(dst, src []byte) { copy(dst, src) }
	return &Raw{blocks: newBlocks(memory, dir, codec[byte]{1, same, same, &usedBytes})}
}

var usedBytes Pool[byte]

// Add appends a key. It does not keep it. After an error, such as a full disk, Add and Each return that error.
func (r *Raw) Add(key []byte) error {
	if r.err != nil {
		return r.err
	}
	r.grow(binary.MaxVarintLen64 + len(key))
	r.tail = binary.AppendUvarint(r.tail, uint64(len(key)))
	r.tail = append(r.tail, key...)
	r.keys++
	return r.flush()
}

// Len returns the number of keys.
func (r *Raw) Len() uint64 { return r.keys }

// Each calls f with every key, in the order of Add. f must not keep or change it. Each stops at the first error of f
// and returns it, or the cause of ctx when ctx is done.
func (r *Raw) Each(ctx context.Context, f func(key []byte) error) error {
	return r.each(ctx, func(b []byte) error {
		for len(b) > 0 {
			n, size := binary.Uvarint(b)
			end := size + int(n)
			if err := f(b[size:end:end]); err != nil {
				return err
			}
			b = b[end:]
		}
		return nil
	})
}

// Close drops the keys and removes the file.
func (r *Raw) Close() error { return r.close() }
