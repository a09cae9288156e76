package jobs

import (
	"bufio"
	"errors"
	"iter"
	"os"
	"sync"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

func roaringIntegers(keys iter.Seq[uint64]) *roaring64.Bitmap {
	s := roaring64.New()
	for k := range keys {
		s.Add(k)
	}
	return s
}

func roaringSave(s *roaring64.Bitmap, path string) (*roaring64.Bitmap, error) {
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
	g := roaring64.New()
	_, err = g.ReadFrom(bufio.NewReader(f))
	return g, err
}

func roaringAskMany(s *roaring64.Bitmap, keys []uint64) []bool {
	answers := make([]bool, len(keys))
	for i, k := range keys {
		answers[i] = s.Contains(k)
	}
	return answers
}

func roaringWriters(parts [][]uint64, path string) error {
	s := roaring64.New()
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, part := range parts {
		all.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			s.AddMany(part)
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

func roaringRemove(s *roaring64.Bitmap, key uint64) {
	s.Remove(key)
}

func roaringEstimate(s *roaring64.Bitmap) uint64 {
	return s.GetCardinality()
}

func roaringMerge(a, b *roaring64.Bitmap) {
	a.Or(b)
}

func roaringExact(members iter.Seq[uint64]) *roaring64.Bitmap {
	s := roaring64.New()
	for k := range members {
		s.Add(k)
	}
	return s
}
