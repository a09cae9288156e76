package main

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

const writers = 4

// each calls f from several goroutines at once and fails the test with their errors.
func each(t *testing.T, f func(writer int) error) {
	t.Helper()
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() { errs[w] = f(w) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestDedup adds all keys from every goroutine at once. For each key, exactly one goroutine must see it as new, or none
// if the key is a false positive. The number of such keys must agree with the rate.
func TestDedup(t *testing.T) {
	const n = 20_000
	for _, spec := range concurrentSpecs {
		set, err := bloomery.New(bloomery.Config{Spec: spec, Keys: n, Concurrent: true})
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		empty := bytesOf(t, must(bloomery.New(bloomery.Config{Spec: spec, Keys: n}))(t))
		loaded, err := bloomery.FromBytes(empty, bloomery.WithConcurrent())
		if err != nil {
			t.Errorf("%s: WithConcurrent: %v", spec, err)
			continue
		}
		keys := words("key ", n)
		for what, s := range map[string]*bloomery.Set{"New": set, "FromBytes": loaded} {
			fresh := make([]atomic.Int32, n)
			each(t, func(w int) error {
				for i, k := range keys {
					var present bool
					var err error
					switch w {
					case 0:
						present, err = bloomery.Keyed[string](s).TestAndAdd(k)
					case 1:
						present, err = s.TestAndAdd([]byte(k))
					default:
						present, err = bloomery.Keyed[filter.Hash](s).TestAndAdd(s.Hasher().SumString(k))
					}
					if err != nil {
						return err
					}
					if !present {
						fresh[i].Add(1)
					}
				}
				return nil
			})
			missed := uint64(0)
			for i := range fresh {
				switch news := fresh[i].Load(); news {
				case 0:
					missed++
				case 1:
				default:
					t.Fatalf("%s, %s: %s was new for %d goroutines", spec, what, keys[i], news)
				}
			}
			holds(t, s, keys)
			i := s.Info()
			if r := (bloomery.Rate{Trials: n, FalsePositives: missed}); !r.Holds(i.FPRPosterior) {
				t.Errorf("%s, %s: %d of %d keys were new for nobody, at a rate of %g", spec, what, missed, n, i.FPRPosterior)
			}
			if s.Len() != n-missed {
				t.Errorf("%s, %s: Len is %d after %d new keys", spec, what, s.Len(), n-missed)
			}
		}
	}
}

// TestDedupIntegers is TestDedup for integers, while a filter grows.
func TestDedupIntegers(t *testing.T) {
	const n = 30_000
	for _, spec := range []string{"rankindexed(fpr=0.001,growth=5)", "standard(fpr=0.001)"} {
		set, err := bloomery.New(bloomery.Config{Spec: spec, Keys: 2000, Concurrent: true})
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		var fresh atomic.Uint64
		each(t, func(int) error {
			for i := range uint64(n) {
				present, err := bloomery.Keyed[uint64](set).TestAndAdd(i)
				if err != nil {
					return err
				}
				if !present {
					fresh.Add(1)
				}
				if !bloomery.Keyed[uint64](set).Contains(i) {
					return errors.New("a key is missing after its TestAndAdd")
				}
			}
			return nil
		})
		if news := fresh.Load(); news > n || news != set.Len() {
			t.Errorf("%s: %d new keys of %d, Len %d", spec, news, n, set.Len())
		}
	}
}

// TestConcurrentRemove adds and removes keys from many goroutines. The remaining keys must be present, and the removed
// keys absent at the rate of new keys.
func TestConcurrentRemove(t *testing.T) {
	const n = 4000
	for _, spec := range removableSpecs {
		set, err := bloomery.New(bloomery.Config{Spec: spec, Keys: 2 * writers * n, Concurrent: true})
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		ids := bloomery.Keyed[uint64](set)
		each(t, func(w int) error {
			for i := range uint64(n) {
				stays, leaves := uint64(w)<<32|i, uint64(w)<<32|i|1<<63
				if err := errors.Join(ids.Add(stays), ids.Add(leaves), ids.Remove(leaves)); err != nil {
					return err
				}
				if !ids.Contains(stays) {
					return errors.New("a key is missing after its Add")
				}
			}
			return nil
		})
		if set.Len() != writers*n {
			t.Errorf("%s: %d keys, want %d", spec, set.Len(), writers*n)
		}
		for w := range uint64(writers) {
			for i := range uint64(n) {
				if !ids.Contains(w<<32 | i) {
					t.Fatalf("%s: a key is missing", spec)
				}
				if err := ids.Remove(w<<32 | i); err != nil {
					t.Fatalf("%s: %v", spec, err)
				}
			}
		}
		if set.Len() != 0 {
			t.Errorf("%s: %d keys are left", spec, set.Len())
		}
	}
}

// TestSnapshot writes a set while other goroutines add keys. The file must be complete and contain every key whose Add
// had returned.
func TestSnapshot(t *testing.T) {
	const n = 10_000
	for _, spec := range concurrentSpecs {
		set, err := bloomery.New(bloomery.Config{Spec: spec, Keys: 3 * n, Concurrent: true})
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		var added [writers]atomic.Uint64
		path := t.TempDir() + "/keys.bloom"
		each(t, func(w int) error {
			if w > 0 {
				for i := range uint64(n) {
					if err := bloomery.Keyed[uint64](set).Add(uint64(w)<<32 | i); err != nil {
						return err
					}
					added[w].Store(i + 1)
				}
				return nil
			}
			for round := range 5 {
				var before [writers]uint64
				for w := range added {
					before[w] = added[w].Load()
				}
				var s *bloomery.Set
				if round%2 == 0 {
					if err := set.Save(t.Context(), path); err != nil {
						return err
					}
					var err error
					if s, err = bloomery.Open(t.Context(), path); err != nil {
						return err
					}
				} else {
					var b bytes.Buffer
					if _, err := set.WriteTo(&b); err != nil {
						return err
					}
					var err error
					if s, err = bloomery.Read(&b, bloomery.WithConcurrent()); err != nil {
						return err
					}
				}
				for w := range added {
					for i := range before[w] {
						if !bloomery.Keyed[uint64](s).Contains(uint64(w)<<32 | i) {
							return errors.New("the file lacks a key whose Add had returned")
						}
					}
				}
				if err := s.Close(); err != nil {
					return err
				}
			}
			return nil
		})
		clone := must(set.Clone())(t)
		if !clone.Equal(set) || clone.Len() != 3*n {
			t.Errorf("%s: %v, cloned %v", spec, set, clone)
		}
		present, err := bloomery.Keyed[uint64](clone).TestAndAdd(0)
		if err != nil || clone.Len() != 3*n+1 && !present || set.Len() != 3*n {
			t.Errorf("%s: a clone takes no keys of its own: %v", spec, err)
		}
		if err := set.Merge(clone); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: Merge: %v", spec, err)
		}
		if err := set.Reset(); err != nil || set.Len() != 0 || bloomery.Keyed[uint64](set).Contains(1<<32) {
			t.Errorf("%s: Reset: %v, %v", spec, set, err)
		}
		if _, err := bloomery.Keyed[uint64](set).TestAndAdd(7); err != nil || !bloomery.Keyed[uint64](set).Contains(7) {
			t.Errorf("%s: after Reset: %v", spec, err)
		}
	}
}

// TestConcurrentBuild builds a set for many writers, and refuses families that have no such form.
func TestConcurrentBuild(t *testing.T) {
	keys := words("key ", 1000)
	for _, spec := range concurrentSpecs {
		set, err := bloomery.Build(t.Context(), slices.Values(keys), bloomery.Config{Spec: spec, Concurrent: true})
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		plain := built(t, keys, bloomery.Config{Spec: spec})
		if !set.Equal(plain) || !bytes.Equal(bytesOf(t, set), bytesOf(t, plain)) {
			t.Errorf("%s: the file of a concurrent Set differs", spec)
		}
		dst := make([]bool, 1000)
		each(t, func(int) error { // batches at the same time as changes
			bloomery.Keyed[string](set).ContainsMany(make([]bool, 1000), keys)
			return bloomery.Keyed[uint64](set).Add(1)
		})
		if bloomery.Keyed[string](set).ContainsMany(dst, keys); slices.Contains(dst, false) {
			t.Errorf("%s: a key is missing", spec)
		}
	}
	for _, spec := range []string{"fuse", "partitioned", "blockpartitioned"} {
		_, err := bloomery.NewBuilder(t.Context(), bloomery.Config{Spec: spec, Concurrent: true})
		unsupported(t, spec, err, "rankindexed")
	}
}

// TestConcurrentQueries queries a plain set from many goroutines.
func TestConcurrentQueries(t *testing.T) {
	keys := words("key ", 500)
	for _, spec := range specs {
		set := built(t, keys, bloomery.Config{Spec: spec})
		each(t, func(int) error {
			hs := make([]filter.Hash, len(keys))
			dst := make([]bool, len(keys))
			for i, k := range keys {
				if hs[i] = set.Hasher().SumString(k); !set.ContainsHash(hs[i]) {
					return errors.New("a key is missing")
				}
			}
			if set.ContainsHashes(dst, hs); slices.Contains(dst, false) {
				return errors.New("a key is missing in a batch")
			}
			_, _ = set.Info(), set.Len()
			_, err := set.EstimateInterval()
			return err
		})
	}
}
