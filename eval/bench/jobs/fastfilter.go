package jobs

import (
	"bufio"
	"errors"
	"iter"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/FastFilter/xorfilter"
	"github.com/cespare/xxhash/v2"
	"github.com/dchest/siphash"
)

func fuseLines(path string) (*xorfilter.BinaryFuse8, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var keys []uint64
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		keys = append(keys, xxhash.Sum64(lines.Bytes()))
	}
	if lines.Err() != nil {
		return nil, lines.Err()
	}
	return xorfilter.PopulateBinaryFuse8(keys)
}

func fuseStrings(keys iter.Seq[string]) (*xorfilter.BinaryFuse8, error) {
	var hashes []uint64
	for k := range keys {
		hashes = append(hashes, xxhash.Sum64String(k))
	}
	return xorfilter.PopulateBinaryFuse8(hashes)
}

func fuseIntegers(keys iter.Seq[uint64]) (*xorfilter.BinaryFuse8, error) {
	return xorfilter.PopulateBinaryFuse8(slices.Collect(keys))
}

func fuseSave(s *xorfilter.BinaryFuse8, path string) (*xorfilter.BinaryFuse8, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.Save(f), f.Close()); err != nil {
		return nil, err
	}
	if f, err = os.Open(path); err != nil {
		return nil, err
	}
	defer f.Close()
	return xorfilter.LoadBinaryFuse8(bufio.NewReader(f))
}

func fuseAskMany(s *xorfilter.BinaryFuse8, keys []uint64) []bool {
	answers := make([]bool, len(keys))
	for i, k := range keys {
		answers[i] = s.Contains(k)
	}
	return answers
}

func fuseKeyedHash(keys iter.Seq[string], k0, k1 uint64) (*xorfilter.BinaryFuse8, error) {
	var hashes []uint64
	for k := range keys {
		hashes = append(hashes, siphash.Hash(k0, k1, []byte(k)))
	}
	return xorfilter.PopulateBinaryFuse8(hashes)
}

func fuseRate(s *xorfilter.BinaryFuse8) float64 {
	wrong := 0
	for range 100_000 {
		if s.Contains(rand.Uint64()) {
			wrong++
		}
	}
	return float64(wrong) / 100_000
}
