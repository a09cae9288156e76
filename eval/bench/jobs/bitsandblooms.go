package jobs

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"sync"

	"github.com/bits-and-blooms/bloom/v3"
	"github.com/dchest/siphash"
)

func bitsLines(path string) (*bloom.BloomFilter, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n := uint(0) // the filter needs the number of keys first
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		n++
	}
	if lines.Err() != nil {
		return nil, lines.Err()
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	s := bloom.NewWithEstimates(n, 0.01)
	lines = bufio.NewScanner(f)
	for lines.Scan() {
		s.Add(lines.Bytes())
	}
	return s, lines.Err()
}

func bitsStrings(keys iter.Seq[string], n uint) *bloom.BloomFilter {
	s := bloom.NewWithEstimates(n, 0.01)
	for k := range keys {
		s.AddString(k)
	}
	return s
}

func bitsIntegers(keys iter.Seq[uint64], n uint) *bloom.BloomFilter {
	s := bloom.NewWithEstimates(n, 0.01)
	b := make([]byte, 8)
	for k := range keys {
		binary.BigEndian.PutUint64(b, k)
		s.Add(b)
	}
	return s
}

func bitsSave(s *bloom.BloomFilter, path string) (*bloom.BloomFilter, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	_, err = s.WriteTo(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if f, err = os.Open(path); err != nil {
		return nil, err
	}
	defer f.Close()
	var g bloom.BloomFilter
	_, err = g.ReadFrom(bufio.NewReader(f))
	return &g, err
}

func bitsAskMany(s *bloom.BloomFilter, keys []uint64) []bool {
	answers := make([]bool, len(keys))
	b := make([]byte, 8)
	for i, k := range keys {
		binary.BigEndian.PutUint64(b, k)
		answers[i] = s.Test(b)
	}
	return answers
}

func bitsWriters(parts [][]uint64, n uint, path string) error {
	s := bloom.NewWithEstimates(n, 0.01)
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, part := range parts {
		all.Go(func() {
			b := make([]byte, 8)
			for _, k := range part {
				binary.BigEndian.PutUint64(b, k)
				mu.Lock()
				s.Add(b)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = s.WriteTo(f)
	return errors.Join(err, f.Close())
}

func bitsKeyedHash(keys iter.Seq[string], n uint, secret []byte) *bloom.BloomFilter {
	s := bloom.NewWithEstimates(n, 0.01)
	h := siphash.New128(secret)
	for k := range keys {
		h.Reset()
		h.Write([]byte(k))
		s.Add(h.Sum(nil))
	}
	return s
}

func bitsRate(s *bloom.BloomFilter) float64 {
	wrong := 0
	b := make([]byte, 16) // random keys, which are not in the set
	for range 100_000 {
		binary.BigEndian.PutUint64(b, rand.Uint64())
		binary.BigEndian.PutUint64(b[8:], rand.Uint64())
		if s.Test(b) {
			wrong++
		}
	}
	return float64(wrong) / 100_000
}

func bitsEstimate(s *bloom.BloomFilter) uint32 {
	return s.ApproximatedSize()
}

func bitsMerge(a, b *bloom.BloomFilter) error {
	return a.Merge(b)
}
