package engine

import (
	"encoding/binary"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/kernel"
)

// Keys are the keys of a batch. At most one field is set.
type Keys struct {
	Bytes   [][]byte
	Strings []string
	Uint64s []uint64
	Hashes  []filter.Hash
}

// Len returns the number of keys.
func (k *Keys) Len() int { return len(k.Bytes) + len(k.Strings) + len(k.Uint64s) + len(k.Hashes) }

// Sum sets dst to the hashes of the keys from number from on.
func (k *Keys) Sum(h filter.Hasher, dst []filter.Hash, from int) {
	switch {
	case k.Bytes != nil:
		kernel.Sums(dst, h, k.Bytes[from:][:len(dst)])
	case k.Strings != nil:
		kernel.Sums(dst, h, k.Strings[from:][:len(dst)])
	case k.Uint64s != nil:
		kernel.Sums(dst, h, k.Uint64s[from:][:len(dst)])
	default:
		copy(dst, k.Hashes[from:])
	}
}

// Key returns the hash of key i, or its bytes, not nil.
func (k *Keys) Key(i int) (h filter.Hash, raw []byte) {
	switch {
	case k.Hashes != nil:
		return k.Hashes[i], nil
	case k.Strings != nil:
		return h, []byte(k.Strings[i])
	case k.Uint64s != nil:
		return h, binary.LittleEndian.AppendUint64(nil, k.Uint64s[i])
	case k.Bytes[i] == nil:
		return h, []byte{}
	}
	return h, k.Bytes[i]
}

// BatchLen is the number of keys that are hashed before they are passed on.
const BatchLen = 256

var hashPool = sync.Pool{New: func() any { return new([BatchLen]filter.Hash) }}

// Each calls f with the hashes of BatchLen keys at a time; from is the number of the first of them.
func (k *Keys) Each(h filter.Hasher, f func(from int, hs []filter.Hash) error) error {
	buf := hashPool.Get().(*[BatchLen]filter.Hash)
	defer hashPool.Put(buf)
	for from, n := 0, k.Len(); from < n; from += BatchLen {
		hs := buf[:min(BatchLen, n-from)]
		k.Sum(h, hs, from)
		if err := f(from, hs); err != nil {
			return err
		}
	}
	return nil
}

// Ask sets dst[i] to the answer for key i, with hasMany for BatchLen hashes at a time.
func (k *Keys) Ask(dst []bool, h filter.Hasher, hasMany func(dst []bool, hs []filter.Hash)) {
	_ = k.Each(h, func(from int, hs []filter.Hash) error {
		hasMany(dst[from:][:len(hs)], hs)
		return nil
	})
}
