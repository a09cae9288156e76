package versus

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"unsafe"
)

// Kind is a type of keys.
type Kind string

// Strings consist of 16 hexadecimal digits each. Arrays contain the same bytes; in languages with generic hash
// functions the compiler knows their length, on our side they are byte slices. Integers have 64 bits.
const (
	Strings  Kind = "strings"
	Arrays   Kind = "arrays"
	Integers Kind = "integers"
)

// Kinds lists all kinds in the order of the comparison.
var Kinds = []Kind{Strings, Arrays, Integers}

// String describes the keys.
func (k Kind) String() string {
	if k == Integers {
		return "64-bit integers"
	}
	return "16-byte " + string(k)
}

// size returns the size of a record in a file of keys, in bytes.
func (k Kind) size() int {
	if k == Integers {
		return 8
	}
	return 16
}

// layout is the order of keys in a file: the keys of the filter, a random sample of them with repetition, and absent
// keys. Numbers are indices of records.
type layout struct {
	present, sample, absent, end int // the first record of each part, and the number of records
}

func layoutOf(keys, asked, absent int) layout {
	return layout{0, keys, keys + asked, keys + asked + absent}
}

// writeKeys writes a file of keys. The key of index i is key(i), and absent keys start at index firstAbsent.
func writeKeys(
	ctx context.Context, path string, kind Kind, at layout, key func(i uint64) uint64, firstAbsent uint64,
) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	r := rand.New(rand.NewPCG(5, 6))
	var b [8]byte
	var text [16]byte
	for i := range at.end {
		if i%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		index := uint64(i)
		switch {
		case i >= at.absent:
			index = firstAbsent + uint64(i-at.absent)
		case i >= at.sample:
			index = r.Uint64N(uint64(at.sample))
		}
		record := b[:]
		if kind != Integers {
			binary.BigEndian.PutUint64(b[:], key(index))
			hex.Encode(text[:], b[:])
			record = text[:]
		} else {
			binary.LittleEndian.PutUint64(b[:], key(index))
		}
		if _, err := w.Write(record); err != nil {
			return err
		}
	}
	return w.Flush()
}

// stringsIn returns the strings of a file, which share its memory.
func stringsIn(file []byte) []string {
	keys := make([]string, len(file)/Strings.size())
	for i := range keys {
		keys[i] = unsafe.String(&file[16*i], 16)
	}
	return keys
}

// integersIn returns the integers of a file.
func integersIn(file []byte) []uint64 {
	keys := make([]uint64, len(file)/Integers.size())
	for i := range keys {
		keys[i] = binary.LittleEndian.Uint64(file[8*i:])
	}
	return keys
}

// readKeys reads a file of keys.
func readKeys(path string, kind Kind, count int) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(b)/kind.size() != count || len(b)%kind.size() != 0 {
		return nil, fmt.Errorf("%s: %d bytes, want %d keys of %d bytes", path, len(b), count, kind.size())
	}
	return b, nil
}
