package container

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// vectorFilter describes a filter of testdata/vectors: a filter of a size or form that does not occur in the golden
// files.
type vectorFilter struct {
	name string
	// spec is the spec of a builder or of New; if made is true, it is the spec of a built filter, whose shifts are
	// random.
	spec string
	made bool
	keys int // number of keys in the filter: held keys of filtertest.MixedKeys first, then others
	// lengths is true if the filter contains keys of all lengths instead.
	lengths bool
	seed    uint64
	keyed   bool // hash with secret
	hash    filter.HashID
	form    filter.KeyForm
	planned float64
	trimmed bool
	listed  int                                           // allowed keys; if not 0, the filter has exceptions
	change  func(f family.Filter, hs []filter.Hash) error // called after the keys were added
}

var vectorFilters = []vectorFilter{
	{name: "standard-one-bit", spec: "standard(k=1,m=1)", keys: 1},
	{name: "standard-empty", spec: "standard(k=7,m=1000)"},
	{name: "standard-65", spec: "standard(k=3,m=65)", keys: 9, seed: 1},
	{name: "standard-k64", spec: "standard(k=64,m=4099)", keys: 18, seed: 7},
	{name: "standard-lengths", spec: "standard(k=5,m=509)", lengths: true, seed: 1<<64 - 1},
	{name: "standard-lengths-siphash", spec: "standard(k=5,m=509)", lengths: true, keyed: true},
	{name: "standard-planned", spec: "standard(fpr=0.001)", keys: 30, planned: 0.001},

	{name: "blocked-one-block", spec: "blocked(blocks=1,k=8,layout=line)", keys: 30, seed: 3},
	{name: "blocked-k1", spec: "blocked(blocks=2,k=1,layout=line)", keys: 18},
	{name: "blocked-k7", spec: "blocked(blocks=3,k=7,layout=line)", keys: 40, seed: 3},
	{name: "blocked-k32", spec: "blocked(blocks=5,k=32,layout=line)", keys: 40, seed: 4},
	{name: "blocked-split", spec: "blocked(blocks=7,k=8,layout=split)", keys: 40, seed: 1 << 53},
	{name: "blocked-split-siphash", spec: "blocked(blocks=1,k=8,layout=split)", keys: 18, keyed: true, planned: 0.25},
	{name: "blocked-parquet-lengths", spec: "blocked(blocks=9,k=8,layout=split)", lengths: true, hash: filter.XXH64},

	{name: "fuse-empty", spec: "fuse(width=9)"},
	{name: "fuse-one-key", spec: "fuse(width=7)", keys: 1},
	{name: "fuse-width1", spec: "fuse(width=1)", keys: 50},
	{name: "fuse-width13", spec: "fuse(width=13)", keys: 50, keyed: true},
	{name: "fuse-width16", spec: "fuse(width=16)", keys: 18, seed: 5},
	{name: "fuse-width32", spec: "fuse(width=32)", keys: 300, seed: 6},

	{name: "partitioned-empty", spec: "partitioned(bits_per_key=10,effort=fast)"},
	{name: "partitioned-one-key", spec: "partitioned(bits_per_key=10,effort=fast)", keys: 1},
	{name: "partitioned-later",
		spec: "partitioned(effort=fast,fpr=0.01,later=40)", keys: 18, seed: 9, change: addLater},
	{name: "partitioned-bits", spec: "partitioned(bits_per_key=30,effort=fast)", keys: 200, keyed: true},
	{name: "partitioned-shards", spec: "partitioned(bits=4099,groups=3,k=5,shards=3,width=2)", made: true, keys: 60},
	{name: "partitioned-width0", spec: "partitioned(bits=77,groups=1,k=64,shards=1,width=0)", made: true, keys: 1},
	{name: "partitioned-k64", spec: "partitioned(bits=1001,groups=7,k=64,shards=1,width=5)", made: true, keys: 5},

	{name: "blockpartitioned-empty", spec: "blockpartitioned(bits_per_key=10,effort=fast)"},
	{name: "blockpartitioned-one-key", spec: "blockpartitioned(bits_per_key=10,effort=fast)", keys: 1},
	{name: "blockpartitioned-1024",
		spec: "blockpartitioned(bits_per_key=16,block=1024,effort=fast)", keys: 200, seed: 2},
	{name: "blockpartitioned-k20", spec: "blockpartitioned(block=512,blocks=3,groups=3,k=20,width=5)", made: true,
		keys: 20, seed: 11},
	{name: "blockpartitioned-k33", spec: "blockpartitioned(block=1024,blocks=2,groups=9,k=33,width=3)", made: true,
		keys: 15, keyed: true},
	{name: "blockpartitioned-k1",
		spec: "blockpartitioned(block=512,blocks=2,groups=447,k=1,width=1)", made: true, keys: 18},

	{name: "twochoice-empty", spec: "twochoice(bits_per_key=10,passes=1)"},
	{name: "twochoice-one-key", spec: "twochoice(bits_per_key=10,passes=1)", keys: 1},
	{name: "twochoice-later",
		spec: "twochoice(bits_per_key=14,passes=2,choices=4)", keys: 50, seed: 3, change: addLater},
	{name: "twochoice-one-window", spec: "twochoice(bits=2,choices=2,k=1,shards=1)", made: true},
	{name: "twochoice-shards", spec: "twochoice(bits=4097,choices=2,k=9,shards=3)", made: true, keys: 300},
	{name: "twochoice-last-shard", spec: "twochoice(bits=4160,choices=8,k=6,shards=2)", made: true,
		keys: 200, keyed: true},
	{name: "twochoice-16", spec: "twochoice(bits=999,choices=16,k=3,shards=1)", made: true, keys: 30},
	{name: "twochoice-k64", spec: "twochoice(bits=1984,choices=5,k=64,shards=1)", made: true, keys: 20},

	{name: "rankindexed-empty", spec: "rankindexed(fpr=0.01)"},
	{name: "rankindexed-one-cell", spec: "rankindexed(buckets=1,capacity=1,cells=1,chains=1,remainder=1)", keys: 1},
	{name: "rankindexed-extensions", keys: 36, seed: 8,
		spec: "rankindexed(buckets=3,capacity=30,cells=7,cells2=5,cells3=9,chains=11,pool2=3,pool3=3,remainder=4)"},
	{name: "rankindexed-extensions-trimmed", keys: 36, seed: 8, trimmed: true,
		spec: "rankindexed(buckets=3,capacity=30,cells=7,cells2=5,cells3=9,chains=11,pool2=3,pool3=3,remainder=4)"},
	{name: "rankindexed-counting",
		spec: "rankindexed(capacity=80,counting=1,fpr=0.05)", keys: 20, change: addAgain(13)},
	{name: "rankindexed-counting-extensions", keys: 18, change: addAgain(9),
		spec: "rankindexed(" +
			"buckets=2,capacity=30,cells=9,cells2=8,cells3=20,chains=5,counting=1,pool2=2,pool3=2,remainder=3)"},
	{name: "rankindexed-growth-0", spec: "rankindexed(capacity=20,fpr=0.02,growth=4)", keys: 18, seed: 2},
	{name: "rankindexed-growth-1", spec: "rankindexed(capacity=20,fpr=0.02,growth=4)", keys: 40, seed: 2},
	{name: "rankindexed-growth-3", spec: "rankindexed(capacity=20,fpr=0.02,growth=4)", keys: 150, seed: 2},
	{name: "rankindexed-growth-3-trimmed",
		spec: "rankindexed(capacity=20,fpr=0.02,growth=4)", keys: 150, seed: 2, trimmed: true},
	{name: "rankindexed-growth-counting",
		spec: "rankindexed(capacity=20,counting=1,fpr=0.02,growth=3)", keys: 50, keyed: true,
		change: addAgain(3)},
	{name: "rankindexed-growth-buckets",
		spec: "rankindexed(bucket=512,capacity=60,fpr=0.02,growth=4)", keys: 400, seed: 12},
	{name: "rankindexed-removed", spec: "rankindexed(fpr=0.001)", keys: 60, seed: 5, change: removeHalf},
	{name: "rankindexed-values", spec: "rankindexed(fpr=0.1,value_bits=5)", keys: 40, change: putValues(5)},
	{name: "rankindexed-values-trimmed",
		spec: "rankindexed(fpr=0.1,value_bits=5)", keys: 40, trimmed: true, change: putValues(5)},
	{name: "rankindexed-values32",
		spec: "rankindexed(buckets=5,capacity=20,cells=11,chains=13,remainder=31,value_bits=32)",
		keys: 18, keyed: true, change: putValues(32)},
	{name: "rankindexed-remainder48",
		spec: "rankindexed(buckets=2,capacity=40,cells=40,chains=512,remainder=48)", keys: 40},
	{name: "rankindexed-bucket512", spec: "rankindexed(bucket=512,fpr=0.01)", keys: 300, seed: 4, planned: 0.01},

	{name: "counting-empty", spec: "counting(k=3,m=1)"},
	{name: "counting-one-counter", spec: "counting(k=2,m=1)", keys: 3},
	{name: "counting-17", spec: "counting(k=3,m=17)", keys: 9, seed: 1},
	{name: "counting-saturated", spec: "counting(k=4,m=97)", keys: 18, seed: 1, change: addAgain(18)},
	{name: "counting-removed", spec: "counting(k=7,m=1003)", keys: 40, keyed: true, change: removeHalf},
	{name: "counting-k64", spec: "counting(k=64,m=2001)", keys: 18},

	{name: "fuse-uint64-lengths", spec: "fuse(width=16)", lengths: true, hash: filter.Uint64},

	{name: "spark-one-word", spec: "spark(k=3,version=1,words=1)", keys: 5},
	{name: "spark-lengths", spec: "spark(k=7,version=1,words=11)", lengths: true},
	{name: "spark-2", spec: "spark(k=6,version=2,words=7)", keys: 40, planned: 0.02},
	{name: "spark-2-lengths", spec: "spark(k=7,version=2,words=13)", lengths: true},
	{name: "spark-k255", spec: "spark(k=255,version=2,words=101)", keys: 9},

	{name: "ribbon-empty", spec: "ribbon(r=5)"},
	{name: "ribbon-empty-static", spec: "ribbon(r=0,value_bits=3)"},
	{name: "ribbon-one-key", spec: "ribbon(r=8)", keys: 1},
	{name: "ribbon-tail", spec: "ribbon(r=3,wide=700)", keys: 250, seed: 2},
	{name: "ribbon-layer", spec: "ribbon(r=4)", keys: 900, seed: 1},
	{name: "ribbon-variant", spec: "ribbon(r=2,seed=77,wide=300)", keys: 2500, keyed: true},
	{name: "ribbon-layers", spec: "ribbon(fpr=0.3,w=64)", keys: 9000, seed: 5, planned: 0.3},
	{name: "ribbon-w128", spec: "ribbon(r=1,seed=2,w=128)", keys: 8000, seed: 6},
	{name: "ribbon-w128-wide", spec: "ribbon(r=1,w=128,wide=511)", keys: 60_000, keyed: true},
	{name: "ribbon-segments", spec: "ribbon(r=1,wide=1000)", keys: 290_000, seed: 1 << 40},
	{name: "ribbon-segments-w128", spec: "ribbon(r=1,w=128)", keys: 275_000},
	{name: "ribbon-r32", spec: "ribbon(r=32)", keys: 300, seed: 3},
	{name: "ribbon-values", spec: "ribbon(r=3,value_bits=7,wide=500)", keys: 700, seed: 4},
	{name: "ribbon-static", spec: "ribbon(r=0,value_bits=1,w=128)", keys: 5000, keyed: true},
	{name: "ribbon-static-tail", spec: "ribbon(r=0,value_bits=32)", keys: 130},
	{name: "ribbon-values32", spec: "ribbon(r=31,value_bits=32,wide=1023)", keys: 600, seed: 9},

	{name: "guava-one-word", spec: "guava(k=3,strategy=64,words=1)", keys: 5},
	{name: "guava-lengths", spec: "guava(k=7,strategy=64,words=11)", lengths: true},
	{name: "guava-32", spec: "guava(k=6,strategy=32,words=7)", keys: 40, planned: 0.02},
	{name: "guava-k255", spec: "guava(k=255,strategy=32,words=101)", keys: 9},
	{name: "bitsandblooms-one-bit", spec: "bitsandblooms(k=1,m=1)", keys: 1},
	{name: "bitsandblooms-length", spec: "bitsandblooms(k=5,length=200,m=131)", keys: 18},
	{name: "bitsandblooms-lengths", spec: "bitsandblooms(k=6,m=601)", lengths: true},
	{name: "bitsandblooms-k255", spec: "bitsandblooms(k=255,m=7001)", keys: 9},
	{name: "redisbloom-empty", spec: "redisbloom(capacity=10,fpr=0.01)"},
	{name: "redisbloom-links", spec: "redisbloom(capacity=9,expansion=2,fpr=0.01)", keys: 70},
	{name: "redisbloom-lengths", spec: "redisbloom(capacity=20,expansion=1,fpr=0.1)", lengths: true},
	{name: "redisbloom-fixed", spec: "redisbloom(capacity=50,expansion=0,fpr=0.001)", keys: 40},

	{name: "exceptions-levels", spec: "standard(k=2,m=5000)", keys: 2000, seed: 77, listed: 4000},
	{name: "exceptions-values", spec: "rankindexed(fpr=0.1,value_bits=4)", keys: 60, keyed: true, planned: 0.1,
		change: putValues(4), listed: 500},

	{name: "fuse-uint64", spec: "fuse(width=8)", keys: 40, hash: filter.Uint64, planned: 1. / 256},
	{name: "standard-form", spec: "standard(k=3,m=300)", keys: 18, form: filter.KeyForm{Trim: true, Lower: true}},
	{name: "ribbon-form", spec: "ribbon(r=7)", keys: 40, keyed: true, form: filter.KeyForm{Lower: true}},
	{name: "spark-form", spec: "spark(k=7,version=2,words=13)", keys: 18, form: filter.KeyForm{Trim: true}},

	{name: "dcso-one-bit", spec: "dcso(k=1,m=1,n=1)", keys: 1},
	{name: "dcso-lengths", spec: "dcso(k=6,m=601,n=50)", lengths: true},
	{name: "dcso-planned", spec: "dcso(k=9,m=384,n=40)", keys: 40, planned: 0.02},
	{name: "dcso-k255", spec: "dcso(k=255,m=7001,n=18446744073709551615)", keys: 9},
}

// addLater adds the last ten keys again with another hash, as keys that are added after the search.
func addLater(f family.Filter, hs []filter.Hash) error {
	for _, h := range hs[len(hs)-10:] {
		if err := f.(family.Adder).Add(filter.Hash{Hi: h.Lo, Lo: h.Hi}); err != nil {
			return err
		}
	}
	return nil
}

// addAgain adds key i again, i mod most times.
func addAgain(most int) func(family.Filter, []filter.Hash) error {
	return func(f family.Filter, hs []filter.Hash) error {
		for i, h := range hs {
			for range i % most {
				if err := f.(family.Adder).Add(h); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// removeHalf removes every second key from number 24 on. The keys before that are in the vectors.
func removeHalf(f family.Filter, hs []filter.Hash) error {
	for i := 24; i < len(hs); i += 2 {
		if err := f.(family.Remover).Remove(hs[i]); err != nil {
			return err
		}
	}
	return nil
}

// valueOf returns the value of key i, which has at most width bits.
func valueOf(i, width int) uint64 { return uint64(i+1) * 0x9E3779B97F4A7C15 >> (64 - width) }

// addAll adds the keys to a builder, with values if the filter has values that are added to the builder.
func addAll(b family.Builder, hs []filter.Hash, width int) error {
	vb, ok := b.(family.ValueBuilder)
	if !ok || width == 0 {
		return b.AddMany(hs)
	}
	var values []uint64
	for i := range hs {
		values = append(values, valueOf(i, width))
	}
	return vb.AddValues(hs, values)
}

// putValues gives every key a value of at most width bits.
func putValues(width int) func(family.Filter, []filter.Hash) error {
	return func(f family.Filter, hs []filter.Hash) error {
		for i, h := range hs {
			if err := f.(family.Valuer).Put(h, valueOf(i, width)); err != nil {
				return err
			}
		}
		return nil
	}
}

// held returns the keys in filter number i of vectorFilters, and keys that are not in it.
func (v vectorFilter) held(i int) (held, absent []filtertest.VectorKey) {
	if v.lengths {
		for j, n := range filtertest.KeyLengths {
			if j%2 == 0 {
				held = append(held, filtertest.BytesKey(n))
			} else {
				absent = append(absent, filtertest.BytesKey(n))
			}
		}
		return held, absent
	}
	held, absent = filtertest.MixedKeys(i)
	for n := len(held); n < v.keys; n++ {
		held = append(held, filtertest.TextKey(fmt.Sprintf("member-%d", n)))
	}
	return held[:v.keys], absent
}

// emptyFirst lists parameters with which a filter starts empty and keys are added one by one.
var emptyFirst = []string{"m", "blocks", "buckets", "growth", "expansion"}

// make builds the filter and returns its file.
func (v vectorFilter) make(t *testing.T, keys []filtertest.VectorKey) []byte {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatalf("%s: %v", v.name, err)
		}
	}
	spec, err := filter.ParseSpec(v.spec)
	must(err)
	kind, err := families.ByName(spec.Family())
	must(err)
	var key *filter.Secret
	if v.keyed {
		key = &secret
	}
	h, err := kind.Hasher(spec, families.Hashing{ID: v.hash, Seed: v.seed, Secret: key, Form: v.form})
	must(err)
	var hs []filter.Hash
	for _, k := range keys {
		hs = append(hs, k.Hash(h))
	}
	var f family.Filter
	switch {
	case v.made:
		f, err = families.Decode(shifted(t, kind, spec))
		must(err)
	case kind.NewBuilder != nil && (kind.New == nil || !family.GivenAny(spec, emptyFirst)):
		b, err := kind.NewBuilder(spec, uint64(len(hs)))
		must(err)
		width := 0
		if kind.NeedsValues(spec) { // putValues sets other values later
			width = kind.BuildValueBits(spec)
		}
		must(addAll(b, hs, width))
		f, err = b.Build(t.Context())
		must(err)
		hs = hs[:len(hs):len(hs)]
		keys = nil
	default:
		f, err = kind.New(spec, 0)
		must(err)
	}
	for i, k := range keys {
		if raw, ok := f.(family.RawKeyFilter); ok {
			must(raw.AddKey(k.Bytes))
		} else {
			must(f.(family.Adder).Add(hs[i]))
		}
	}
	if v.change != nil {
		must(v.change(f, hs))
	}
	if v.trimmed {
		f = f.(family.Trimmer).Trimmed()
	}
	if v.listed > 0 {
		f = allowing(t, f, hs, listed(h, v.listed))
	}
	var b bytes.Buffer
	must(writeFilter(&b, f, h, v.planned))
	return b.Bytes()
}

// shifted returns an empty filter with the Spec of a built filter, and random shifts if the family has shifts.
func shifted(t *testing.T, kind families.Family, s filter.Spec) family.Encoded {
	words, err := kind.SectionWords(s)
	if err != nil {
		t.Fatal(err)
	}
	e := family.Encoded{Spec: s}
	for _, n := range words {
		e.Sections = append(e.Sections, make([]uint64, n))
	}
	p, r := newPlain(t, e), rand.New(rand.NewPCG(1, 2))
	random := func(section int, from, n uint64) {
		for i := from; i < from+n; i++ {
			e.Sections[section][i/64] |= r.Uint64() >> 63 << (i % 64)
		}
	}
	side := p.number("groups") * p.number("k") * p.number("width")
	switch kind.Name {
	case "partitioned":
		random(1, 0, p.number("shards")*side)
	case "blockpartitioned":
		for b := range p.number("blocks") {
			random(0, b*p.number("block"), side)
		}
	}
	return e
}
