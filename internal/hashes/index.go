package hashes

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/sums"
)

// GroupKeys is the number of hashes of a group: 64 MiB.
const GroupKeys = 1 << 22

const (
	version     = 1 // version without values
	withValues  = 2
	headerSize  = 64
	entrySize   = 8
	trailerSize = 16
	magic       = "BLMRUN\r\n"
	endMagic    = "BLMRUNIX"
)

// ErrDamaged means that a run file is incomplete, damaged, or not the expected one.
var ErrDamaged = errors.New("damaged run file")

// Header describes the content of a run file.
type Header struct {
	Plan     [16]byte
	Range    uint32
	Shards   uint32
	KeyCheck uint64 // check of the hasher, 0 without a secret
	Values   bool   // the hashes have values; see WithValue
}

func (h Header) marshal() []byte {
	b := append(make([]byte, 0, headerSize), magic...)
	v := uint32(version)
	if h.Values {
		v = withValues
	}
	b = binary.LittleEndian.AppendUint32(b, v)
	b = binary.LittleEndian.AppendUint32(b, h.Shards)
	b = append(b, h.Plan[:]...)
	b = binary.LittleEndian.AppendUint32(b, h.Range)
	b = binary.LittleEndian.AppendUint64(b, h.KeyCheck)
	return b[:headerSize]
}

// Count is the number of hashes of a shard in a group, and the CRC-32C of their bytes.
type Count struct{ Keys, CRC uint32 }

// Index describes where the hashes of each shard are in a run file.
type Index struct {
	Shards int
	Counts []Count // group by group
}

// Segment is a part of a run file: hashes of one shard.
type Segment struct {
	Offset int64 // offset in the file, in bytes
	Count
}

// Keys returns the number of hashes.
func (x *Index) Keys() (n uint64) {
	for _, c := range x.Counts {
		n += uint64(c.Keys)
	}
	return n
}

// Groups returns the number of groups.
func (x *Index) Groups() int { return len(x.Counts) / max(x.Shards, 1) }

// Size returns the length of the file.
func (x *Index) Size() int64 {
	return headerSize + int64(x.Keys())*hashSize + int64(len(x.Counts))*entrySize + trailerSize
}

// KeysOf returns the number of hashes in a run file of the given size. It is the reverse of Index.Size. For a size that
// no run file has, the result is an estimate.
func KeysOf(size int64, shards int) (n uint64) {
	counts := int64(shards) * entrySize // of a group
	rest := size - headerSize - trailerSize
	groups := max(0, rest) / (GroupKeys*hashSize + counts)
	rest -= groups * (GroupKeys*hashSize + counts)
	return uint64(groups*GroupKeys + max(0, rest-counts)/hashSize)
}

// Check returns an error wrapping ErrDamaged unless x is the index of a possible file with the given number of shards.
func (x *Index) Check(shards int) error {
	if shards < 1 || shards > MaxShards || x.Shards != shards || len(x.Counts)%shards != 0 {
		return fmt.Errorf("%w: an index of %d counts for %d shards; want %d", ErrDamaged, len(x.Counts), x.Shards, shards)
	}

	for g := range x.Groups() {
		sum := uint64(0)
		for _, c := range x.Counts[g*shards : (g+1)*shards] {
			sum += uint64(c.Keys)
		}
		if sum > GroupKeys || sum == 0 || g < x.Groups()-1 && sum != GroupKeys {
			return fmt.Errorf("%w: group %d of %d has %d hashes", ErrDamaged, g, x.Groups(), sum)
		}
	}
	return nil
}

// Each calls f with the segments of every shard that has hashes, in the order of the file.
func (x *Index) Each(f func(s int, g Segment)) {
	at := int64(headerSize)
	for i, c := range x.Counts {
		if c.Keys > 0 {
			f(i%x.Shards, Segment{at, c})
		}
		at += int64(c.Keys) * hashSize
	}
}

// countsIn returns the counts in b, whose length is a multiple of entrySize.
func countsIn(b []byte) []Count {
	counts := make([]Count, len(b)/entrySize)
	_, _ = binary.Decode(b, binary.LittleEndian, counts) // fails only if b is too short
	return counts
}

// endBytes returns the index and the trailer of a file.
func (x *Index) endBytes(h Header) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, x.Counts) // never fails: a Count has a fixed size
	b = binary.LittleEndian.AppendUint32(b, uint32(x.Groups()))
	b = binary.LittleEndian.AppendUint32(b, sums.CRC(h.marshal(), b))
	return append(b, endMagic...)
}

// ReadIndex reads the index of a run file of size bytes. read returns a part of the file. The error wraps ErrDamaged
// unless the file has the header h and a complete index. Errors of read are returned unchanged. It reads at most twice,
// from the end of the file, and takes no more memory than the file is long.
func ReadIndex(size int64, h Header, read func(offset, length int64) ([]byte, error)) (*Index, error) {
	if size < headerSize+trailerSize || h.Shards == 0 || h.Shards > MaxShards {
		return nil, fmt.Errorf("%w: %d bytes", ErrDamaged, size)
	}

	end, err := read(size-trailerSize, trailerSize)
	if err != nil {
		return nil, err
	}
	if len(end) != trailerSize || !bytes.HasSuffix(end, []byte(endMagic)) {
		return nil, fmt.Errorf("%w: it has no end", ErrDamaged)
	}

	length := int64(binary.LittleEndian.Uint32(end)) * int64(h.Shards) * entrySize // at most 2^55
	if length > size-headerSize-trailerSize {
		return nil, fmt.Errorf("%w: its index is longer than the file", ErrDamaged)
	}

	var b []byte
	if length > 0 {
		b, err = read(size-trailerSize-length, length)
	}

	switch {
	case err != nil:
		return nil, err
	case int64(len(b)) != length:
		return nil, fmt.Errorf("%w: its index is cut", ErrDamaged)
	}

	x := &Index{int(h.Shards), countsIn(b)}

	// The checksum includes the header that the caller expects, so it also refuses a file of another plan or range.
	if tail := x.endBytes(h); !bytes.Equal(tail[length:], end) {
		return nil, fmt.Errorf("%w: its checksum is wrong, or it belongs to another plan, range or secret", ErrDamaged)
	}
	if err := x.Check(int(h.Shards)); err != nil {
		return nil, err
	}
	if x.Size() != size {
		return nil, fmt.Errorf("%w: it has %d bytes, and its index says %d", ErrDamaged, size, x.Size())
	}
	return x, nil
}

// fewShards is the number of shards that a set may have for any number of keys. 4,096 empty shards take about 1 MB.
const fewShards = 4096

// CheckShards returns an error wrapping filter.ErrConfig if a set of these keys has more shards than keys, and more
// than 4,096: nearly all of its files would be empty.
func CheckShards(shards int, keys uint64) error {
	if most := max(keys, fewShards); uint64(shards) > most {
		return &filter.ConfigError{Field: "shards", Value: shards,
			Reason: fmt.Sprintf("for %d keys at most %d are possible: one per key, or %d", keys, most, fewShards)}
	}
	return nil
}

// keysPerShard is the largest mean number of keys of a shard that AutoShards chooses: at 16 bits per key such a shard
// has 8 MiB, and its build takes about 100 MiB.
const keysPerShard = 1 << 22

// AutoShards returns the number of shards of a set of these keys: the smallest with at most keysPerShard keys per shard
// on average.
func AutoShards(keys uint64) int {
	return int(min(max(1, (keys+keysPerShard-1)/keysPerShard), MaxShards))
}
