package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// largeSpecs lists specs of filters with more than 2^32 bits, 540 MB to 1.2 GB each, so that readers need positions of
// more than 32 bits.
var largeSpecs = []string{
	"standard(k=5,m=5000000007)",
	"blocked(blocks=9000001,k=9,layout=line)",
	"blocked(blocks=18000001,k=8,layout=split)",
	"counting(k=5,m=1100000003)",
	"fuse(seed=7,segment=262144,segments=1100,width=17)",
	"partitioned(bits=2000000011,groups=1000003,k=7,shards=3,width=4)",
	"blockpartitioned(block=512,blocks=9000001,groups=4,k=9,width=5)",
	"twochoice(bits=268435456,choices=3,k=7,shards=17)",
	"twochoice(bits=268435455,choices=8,k=7,shards=17)",
	"rankindexed(buckets=2500001,capacity=250000000,cells=100,cells2=20,chains=200,pool2=1000,remainder=15)",
	"guava(k=5,strategy=64,words=70000001)",
	"guava(k=5,strategy=32,words=70000001)",
	"bitsandblooms(k=5,m=5000000007)",
	"spark(k=5,version=1,words=70000001)",
	"spark(k=5,version=2,words=70000001)",
}

// largeKeys is the number of keys of a large filter.
const largeKeys = 20_000

// large queries all readers about large filters.
func (t *trial) large(ctx context.Context, n int) error {
	for i := t.first; i < n; i++ {
		spec := largeSpecs[i]
		s, err := newLarge(ctx, t.dir, spec, generator(t.seed^2, i))
		if err != nil {
			return fmt.Errorf("%s: %w", spec, err)
		}
		if err := t.compare(ctx, s); err != nil {
			return err
		}
		t.report.Large++
		t.progress("%d of %d large filters", t.report.Large, n)
		if err := os.Remove(s.path); err != nil {
			return err
		}
	}
	return nil
}

// newLarge makes a filter with the spec of a built one by adding keys to an empty filter. A filter of a static family
// gets random words instead.
func newLarge(ctx context.Context, dir, spec string, r *rand.Rand) (*subject, error) {
	s := &subject{
		path: filepath.Join(dir, "large.bloom"), spec: spec, secret: "-", plan: plan{spec: spec, change: added},
	}
	parsed, err := filter.ParseSpec(spec)
	if err != nil {
		return nil, err
	}
	if s.plan.family, err = families.ByName(parsed.Family()); err != nil {
		return nil, err
	}
	words, err := s.plan.family.SectionWords(parsed)
	if err != nil {
		return nil, err
	}
	e := family.Encoded{Spec: parsed}
	for i, n := range words {
		e.Sections = append(e.Sections, make([]uint64, n))
		if r := rand.NewPCG(1, 2); i == 0 && parsed.Family() == "fuse" {
			for j := range n - 2 { // at least 64 zero bits follow the slots
				e.Sections[0][j] = r.Uint64()
			}
		}
	}
	h, err := s.plan.family.Hasher(parsed, families.Hashing{})
	if err != nil {
		return nil, err
	}
	set, err := setOf(container.New(s.plan.family.ID, e, h), nil)
	if err != nil {
		return nil, err
	}
	source := newKeySource(r)
	var members []key
	if s.plan.family.Can.Has(family.CanAdd) {
		distinct := map[string]bool{} // a bucket can store a key only a few times
		for range largeKeys {
			if k := source.key(); !distinct[string(k.bytes)] {
				distinct[string(k.bytes)] = true
				members = append(members, k)
			}
		}
	}
	if err := addAll(set, members); err != nil {
		return nil, err
	}
	if err := set.Save(ctx, s.path); err != nil {
		return nil, err
	}
	if err := set.Close(); err != nil {
		return nil, err
	}
	s.counts = s.plan.family.Can.Has(family.CanCount)
	s.plan.keys = len(members)
	s.choose(r, source, members, len(members), 2*largeKeys)
	if len(members) == 0 {
		for range largeKeys {
			s.keys, s.held = append(s.keys, source.key()), append(s.held, false)
		}
	}
	return s, nil
}
