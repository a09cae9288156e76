package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/keyio"
)

// hashFlags are the flags that choose a hash function.
type hashFlags struct {
	name string
	seed uint64
}

func (f *hashFlags) register(c *cobra.Command) {
	c.Flags().Uint64Var(&f.seed, "seed", 0, "seed of the hash function")
	c.Flags().StringVar(&f.name, "hash", "", "hash function of another system: xxh64 makes a blocked(layout=split) one of Parquet")
	_ = c.RegisterFlagCompletionFunc("hash", cobra.FixedCompletions([]string{filter.XXH64.String()}, cobra.ShellCompDirectiveNoFileComp))
}

// hasher returns the hasher of the keys of a filter of that Spec.
func (f *hashFlags) hasher(c *cobra.Command, s filter.Spec, secret *[filter.SecretSize]byte) (filter.Hasher, error) {
	fail := func(format string, args ...any) (filter.Hasher, error) {
		return filter.Hasher{}, fmt.Errorf(format, args...)
	}
	family, err := families.ByName(s.Family())
	if err != nil {
		return filter.Hasher{}, err
	}
	id := family.Hash
	if c.Flags().Changed("hash") {
		if id, err = hashName(f.name); err != nil {
			return filter.Hasher{}, err
		}
		if !family.TakesHash(s, id) {
			return fail("--hash %s: not the hash function of a filter %s; xxh64 is that of blocked(layout=split), and guava, bitsandblooms and redisbloom need no --hash", f.name, s)
		}
	}
	seeded := c.Flags().Changed("seed")
	switch {
	case id != 0 && secret != nil:
		return fail("--secret-file: the hash function of another system, %s, takes no secret; leave it out or take a family of ours", id)
	case id != 0 && seeded:
		return fail("--seed %d: the hash function of another system, %s, takes no seed; leave it out or take a family of ours", f.seed, id)
	case id != 0:
		return filter.ForeignHasher(id)
	case secret != nil && seeded:
		return fail("--seed %d: a keyed filter has its secret instead of a seed; leave one out", f.seed)
	case secret != nil:
		return filter.NewKeyedHasher(*secret), nil
	}
	return filter.NewHasher(f.seed), nil
}

// collectKeys builds a filter that takes keys, not hashes: it counts them first, unless the spec says its geometry.
func (a *app) collectKeys(ctx context.Context, in inputFlags, paths []string, spec filter.Spec, family families.Family) (filter.Filter, error) {
	n, again, err := a.count(ctx, in, paths)
	if err != nil {
		return nil, err
	}
	if !again && !(spec.Has("m") && spec.Has("k")) {
		return nil, fmt.Errorf("the keys of a family %s are counted before they are read again, and this input can be read only once: name files, or give m= and k= in the spec", family.Name)
	}
	f, err := family.New(spec, n)
	if err != nil {
		return nil, err
	}
	return f, a.feed(ctx, in, paths, "building", asIs, func(b *keyio.Batch) error { return addKeys(f.(filter.RawKeyFilter), b.Keys) })
}

// asIs leaves batches as they are.
func asIs(*keyio.Batch) error { return nil }

func addKeys(f filter.RawKeyFilter, keys [][]byte) error {
	for _, k := range keys {
		if err := f.AddKey(k); err != nil {
			return err
		}
	}
	return nil
}
