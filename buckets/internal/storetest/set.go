package storetest

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/shard"
)

// Build builds the sharded set of the keys 0 to n-1 and returns its folder and the Set in it.
func Build(t testing.TB, n uint64, c bloomery.Config) (dir string, local *bloomery.Set) {
	t.Helper()
	dir = t.TempDir()
	c.Sharding.Dir = dir
	local, err := bloomery.Build(t.Context(), func(yield func(uint64) bool) {
		for i := uint64(0); i < n && yield(i); i++ {
		}
	}, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = local.Close() })
	return dir, local
}

// Copy copies all objects, the manifest last.
func Copy(t testing.TB, from, to buckets.Store) {
	t.Helper()
	var names []string
	for o, err := range from.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, o.Name)
	}

	slices.Sort(names)
	if i := slices.Index(names, shard.ManifestName); i >= 0 {
		names = append(slices.Delete(names, i, i+1), shard.ManifestName)
	}

	for _, name := range names {
		r, err := from.Open(t.Context(), name, 0, -1)
		if err == nil {
			err = to.Write(t.Context(), name, func(w io.Writer) error { _, err := io.Copy(w, r); return err })
			err = errors.Join(err, r.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Key returns the bytes of an integer key.
func Key(k uint64) []byte { return binary.LittleEndian.AppendUint64(nil, k) }

// Compare asks both sets for n keys from first on, one by one, in batches, and from many goroutines at once, and
// returns the number of answers that could not be known. Known answers must equal the answers of local, and
// unknown answers must be true.
func Compare(t testing.TB, s *buckets.Set, local *bloomery.Set, first, n uint64, workers int) (unknown int) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range uint64(workers) {
		wg.Go(func() {
			for from := first + w*64; from < first+n; from += 64 * uint64(workers) {
				bad := compare(t, s, local, from, min(64, first+n-from), from/64%2 == 0)
				mu.Lock()
				unknown += bad
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return unknown
}

func compare(t testing.TB, s *buckets.Set, local *bloomery.Set, from, n uint64, single bool) (unknown int) {
	keys, want, got := make([][]byte, n), make([]bool, n), make([]bool, n)
	for i := range keys {
		keys[i] = Key(from + uint64(i))
	}

	bloomery.Keyed[[]byte](local).ContainsMany(want, keys)
	known := func(int) bool { return true }
	if single {
		errs := make([]error, n)
		for i, k := range keys {
			if got[i], errs[i] = s.ContainsContext(context.Background(), k); errs[i] != nil {
				unknown++
			}
		}
		known = func(i int) bool { return errs[i] == nil }
	} else if err := s.ContainsManyContext(context.Background(), got, keys); err != nil {
		unknown++
		known = func(i int) bool { return !got[i] } // a yes may stand for an unknown answer
	}

	for i := range keys {
		if known(i) && got[i] != want[i] || !got[i] && want[i] || !known(i) && !got[i] {
			t.Errorf("key %d: %v, want %v", from+uint64(i), got[i], want[i])
		}
	}
	return unknown
}
