package jobs

import (
	"context"
	"errors"
	"iter"
	"os"
	"slices"
	"sync"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
)

func bloomeryLines(ctx context.Context, path string) (*bloomery.Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bloomery.BuildFrom(ctx, bloomery.Lines(f), bloomery.Config{})
}

func bloomeryStrings(ctx context.Context, keys iter.Seq[string]) (*bloomery.Set, error) {
	return bloomery.Build(ctx, keys, bloomery.Config{})
}

func bloomeryIntegers(ctx context.Context, keys iter.Seq[uint64]) (*bloomery.Set, error) {
	return bloomery.Build(ctx, keys, bloomery.Config{Spec: "standard"})
}

func bloomerySave(ctx context.Context, s *bloomery.Set, path string) (*bloomery.Set, error) {
	if err := s.Save(ctx, path); err != nil {
		return nil, err
	}
	return bloomery.Open(ctx, path)
}

func bloomeryAskMany(s *bloomery.Set, keys []uint64) []bool {
	answers := make([]bool, len(keys))
	bloomery.Keyed[uint64](s).ContainsMany(answers, keys)
	return answers
}

func bloomeryWriters(ctx context.Context, parts [][]uint64, n int, path string) error {
	s, err := bloomery.New(bloomery.Config{Keys: uint64(n), Concurrent: true})
	if err != nil {
		return err
	}
	errs := make([]error, len(parts))
	var all sync.WaitGroup
	for i, part := range parts {
		all.Go(func() { errs[i] = bloomery.Keyed[uint64](s).AddMany(part) })
	}
	all.Wait()
	return errors.Join(errors.Join(errs...), s.Save(ctx, path))
}

func bloomeryRemove(s *bloomery.Set, key uint64) error {
	return bloomery.Keyed[uint64](s).Remove(key)
}

func bloomeryCount(s *bloomery.Set, key []byte) (uint64, error) {
	n, _, err := s.Count(key)
	return n, err
}

func bloomeryValues(ctx context.Context, values iter.Seq2[string, uint64], key []byte) (uint64, bool, error) {
	s, err := bloomery.BuildValues(ctx, values, bloomery.Config{Spec: "ribbon(value_bits=8)"})
	if err != nil {
		return 0, false, err
	}
	return s.Get(key)
}

func bloomeryFollow(ctx context.Context, path string, keys <-chan string, answer func(string, bool)) error {
	live, err := bloomery.OpenLive(ctx, path)
	if err != nil {
		return err
	}
	defer live.Close()
	for k := range keys {
		answer(k, live.ContainsString(k))
	}
	return live.Err()
}

func bloomerySharded(ctx context.Context, keys iter.Seq[string], dir string) (*bloomery.Set, error) {
	return bloomery.Build(ctx, keys, bloomery.Config{Sharding: bloomery.Sharding{Dir: dir, Shards: 16}})
}

func bloomeryKeyedHash(ctx context.Context, keys iter.Seq[string], secret *filter.Secret) (*bloomery.Set, error) {
	return bloomery.Build(ctx, keys, bloomery.Config{Hashing: bloomery.Hashing{Secret: secret}})
}

func bloomeryNeeds(n uint64) (*bloomery.Set, error) {
	return bloomery.New(bloomery.Config{Keys: n, Needs: plan.Needs{FPR: 0.001, Remove: true}})
}

func bloomeryRate(ctx context.Context, s *bloomery.Set) (float64, error) {
	v, err := s.Verifier(bloomery.JobConfig{})
	if err != nil {
		return 0, err
	}
	defer v.Close()
	if err := v.AskRandom(ctx, 100_000, 1, nil); err != nil {
		return 0, err
	}
	seen, err := v.Commit(ctx)
	return seen.Rate.Observed, err
}

func bloomeryEstimate(s *bloomery.Set) (float64, error) {
	e, err := s.EstimateInterval()
	return e.Keys, err
}

func bloomeryMerge(a, b *bloomery.Set) error {
	return a.Merge(b)
}

func bloomeryExact(ctx context.Context, members, universe []string) (*exact.Set, error) {
	return exact.Build(ctx, slices.Values(members), slices.Values(universe), exact.Config{})
}
