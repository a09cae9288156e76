package hashes

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/sums"
)

func randomHashes(n int, seed uint64) []filter.Hash {
	r := rand.New(rand.NewPCG(seed, 1))
	hs := make([]filter.Hash, n)
	for i := range hs {
		hs[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	return hs
}

// ofShard returns the hashes of a shard, in order.
func ofShard(hs []filter.Hash, s, shards int) []filter.Hash {
	return slices.DeleteFunc(slices.Clone(hs), func(h filter.Hash) bool { return Route(h, shards) != s })
}

// runFile returns a run file with groups of group hashes.
func runFile(t testing.TB, h Header, group int, hs []filter.Hash) ([]byte, *Index) {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, h)
	check(t, err)
	w.limit = group
	for len(hs) > 0 {
		n := min(len(hs), 1+len(hs)/3)
		check(t, w.Add(hs[:n]))
		hs = hs[n:]
	}
	x, err := w.Close()
	check(t, err)
	return b.Bytes(), x
}

// readerOf returns the function of ReadIndex for a file in memory.
func readerOf(b []byte) func(offset, length int64) ([]byte, error) {
	return func(offset, length int64) ([]byte, error) {
		if offset < 0 || length < 0 || offset > int64(len(b)) {
			return nil, fmt.Errorf("read of %d bytes at %d of %d", length, offset, len(b))
		}
		return slices.Clone(b[offset:min(offset+length, int64(len(b)))]), nil
	}
}

// TestRunFile writes run files of several groups and reads them.
func TestRunFile(t *testing.T) {
	for _, n := range []int{0, 1, 7, GroupKeys + 10} {
		h := Header{Plan: [16]byte{1, 2}, Range: 3, Shards: 5, KeyCheck: 9}
		hs := randomHashes(n, 1)
		b, x := runFile(t, h, GroupKeys, hs)
		again, _ := runFile(t, h, GroupKeys, hs)
		groups := (n + GroupKeys - 1) / GroupKeys
		if !bytes.Equal(b, again) || x.Size() != int64(len(b)) || x.Keys() != uint64(n) || x.Groups() != groups {
			t.Fatalf("%d keys: %d bytes, index of %d keys and %d groups", n, len(b), x.Keys(), x.Groups())
		}
		back, err := ReadIndex(int64(len(b)), h, readerOf(b))
		if err != nil || !slices.Equal(back.Counts, x.Counts) {
			t.Fatalf("%d keys: %v", n, err)
		}
		got := make([][]filter.Hash, h.Shards)
		back.Each(func(s int, g Segment) {
			err := Read(bytes.NewReader(b[g.Offset:]), g, func(hs []filter.Hash) error {
				got[s] = append(got[s], hs...)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		for s := range got {
			if !slices.Equal(got[s], ofShard(hs, s, len(got))) {
				t.Errorf("%d keys: shard %d differs", n, s)
			}
		}
	}
}

// TestHostile checks that every truncation, every changed bit and every foreign header is an error of the index or of a
// segment.
func TestHostile(t *testing.T) {
	h := Header{Plan: [16]byte{1, 2}, Range: 3, Shards: 4}
	good, _ := runFile(t, h, GroupKeys, randomHashes(40, 1))
	check := func(what string, b []byte, h Header) {
		t.Helper()
		back, err := ReadIndex(int64(len(b)), h, readerOf(b))
		if err == nil {
			back.Each(func(_ int, g Segment) {
				from := bytes.NewReader(b[min(g.Offset, int64(len(b))):])
				err = errors.Join(err, Read(from, g, func([]filter.Hash) error { return nil }))
			})
		}
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	for i := range good {
		check(fmt.Sprintf("cut to %d bytes", i), good[:i], h)
		if i < headerSize {
			continue // the reader checks the header: see below
		}
		bad := slices.Clone(good)
		bad[i] ^= 1 << (i % 8)
		check(fmt.Sprintf("byte %d changed", i), bad, h)
	}
	check("a byte behind", append(slices.Clone(good), 0), h)
	for i, other := range []Header{
		{Plan: [16]byte{1, 3}, Range: 3, Shards: 4}, {Plan: h.Plan, Range: 2, Shards: 4}, {Plan: h.Plan, Range: 3, Shards: 2},
		{Plan: h.Plan, Range: 3, Shards: 4, KeyCheck: 1}, {Plan: h.Plan, Range: 3},
		{Plan: h.Plan, Range: 3, Shards: MaxShards + 1},
	} {
		check(fmt.Sprintf("header %d", i), good, other)
	}
	// An index with a correct checksum whose groups are not full, or too full.
	for _, counts := range [][]Count{{{Keys: 1}, {}, {Keys: 1}, {}}, {{Keys: GroupKeys}, {Keys: 1}}, {{}, {}}} {
		bad := &Index{Shards: 2, Counts: counts}
		if err := bad.Check(2); !errors.Is(err, ErrDamaged) {
			t.Errorf("%v: error %v", counts, err)
		}
	}
}

// FuzzReadIndex checks that ReadIndex never allocates more memory than the length of the file and never returns an
// impossible index, and that the hashes of a segment match its checksum. It reads every file unchanged, and with a
// corrected end and checksum of the index.
func FuzzReadIndex(f *testing.F) {
	h := Header{Range: 1, Shards: 3}
	for _, n := range []int{0, 1, 10, 100} {
		b, _ := runFile(f, h, GroupKeys, randomHashes(n, 1))
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range [][]byte{b, mended(b, h)} {
			x, err := ReadIndex(int64(len(b)), h, readerOf(b))
			if err != nil {
				if !errors.Is(err, ErrDamaged) {
					t.Fatal(err)
				}
				continue
			}
			if x.Size() != int64(len(b)) || x.Check(3) != nil {
				t.Error("an impossible index")
			}
			x.Each(func(_ int, g Segment) {
				n, part := uint32(0), b[g.Offset:]
				err := Read(bytes.NewReader(part), g, func(hs []filter.Hash) error { n += uint32(len(hs)); return nil })
				if right := sums.CRC(part[:g.Bytes()]) == g.CRC; right != (err == nil) || right && n != g.Keys {
					t.Errorf("%d of %d hashes, checksum right: %t: %v", n, g.Keys, right, err)
				}
			})
		}
	})
}

// mended returns a copy of a run file with the end that belongs to its index.
func mended(b []byte, h Header) []byte {
	if len(b) < headerSize+trailerSize {
		return b
	}
	b = bytes.Clone(b)
	groups := binary.LittleEndian.Uint32(b[len(b)-trailerSize:]) % 4
	length := int(groups) * int(h.Shards) * entrySize
	if length > len(b)-headerSize-trailerSize {
		return b
	}
	x := &Index{int(h.Shards), countsIn(b[len(b)-trailerSize-length : len(b)-trailerSize])}
	return append(b[:len(b)-trailerSize-length], x.endBytes(h)...)
}

// TestWriterErrors checks that NewWriter, Add or Close returns the first error of the output.
func TestWriterErrors(t *testing.T) {
	stop := errors.New("stop")
	for _, after := range []int{0, 1, 2, 3} {
		w, err := NewWriter(&failing{after: after, err: stop}, Header{Shards: 2})
		if err == nil {
			w.limit = 10
			err = w.Add(randomHashes(15, 1))
		}
		if err == nil {
			_, err = w.Close()
		}
		if !errors.Is(err, stop) {
			t.Errorf("after %d writes: error %v", after, err)
		}
	}
}

type failing struct {
	after int
	err   error
}

func (f *failing) Write(b []byte) (int, error) {
	if f.after == 0 {
		return 0, f.err
	}
	f.after--
	return len(b), nil
}

func BenchmarkBuffer(b *testing.B) {
	hs := randomHashes(1<<20, 1)
	for _, shards := range []int{16, 1000} {
		b.Run(fmt.Sprintf("op=write/shards=%d", shards), func(b *testing.B) {
			b.SetBytes(int64(len(hs)) * hashSize)
			for b.Loop() {
				w, _ := NewWriter(io.Discard, Header{Shards: uint32(shards)})
				_ = w.Add(hs)
				_, _ = w.Close()
			}
		})
	}
}

// TestKeysOf compares the size of a file with the number of its hashes.
func TestKeysOf(t *testing.T) {
	for _, shards := range []int{1, 7, 1000} {
		for _, keys := range []int{0, 1, 5000, GroupKeys, GroupKeys + 1, 3*GroupKeys - 1, 3 * GroupKeys} {
			x := Index{Shards: shards}
			for left := keys; left > 0; left -= GroupKeys {
				counts := make([]Count, shards)
				counts[shards-1].Keys = uint32(min(left, GroupKeys))
				x.Counts = append(x.Counts, counts...)
			}
			if got := KeysOf(x.Size(), shards); got != uint64(keys) {
				t.Errorf("%d shards: %d hashes; want %d", shards, got, keys)
			}
		}
	}
	if n := KeysOf(0, 10); n != 0 {
		t.Errorf("%d hashes in an empty file", n)
	}
}
