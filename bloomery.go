// Package bloomery builds, queries and stores compact approximate-membership filters: it answers "is this key in the
// set?" from a few bits a key, with no false negative ever and with a rate of false positives that it can tell you.
//
// Most users need three calls: Build a Set from keys, Save it, Open it elsewhere and ask Contains.
//
// A filter is named by a Spec, a short text: a family and its size.
//
//	standard(fpr=0.01)                 the Bloom filter: any size, keys may be added, union and intersection
//	blocked(bits_per_key=12)           one cache miss a query, for a few bits more; layout=split is Parquet's
//	fuse(width=8)                      static and fast to ask: 9 bits a key at 0.39%
//	partitioned(bits_per_key=8)        smallest: a search fits it to its keys: 0.70% at 8 bits a key
//	blockpartitioned(bits_per_key=8)   the same in one cache line: 0.91%
//	twochoice(bits_per_key=16)         keys choose among groups of positions: by Build a third of the rate of standard
//	rankindexed(capacity=1000000)      keys come and go; counting=1 counts them, value_bits=8 keeps a value with each
//	counting(fpr=0.01)                 the counting Bloom filter: keys may be removed; four times standard
//	dleft(fpr=0.01)                    keys may be removed, in 16 bits a key; counting=1 counts them in less room
//	guava, bitsandblooms, redisbloom   filters of other systems; package interop reads and writes their files
//
// The packages below hold the depth: filter (the vocabulary), family/... (one package a family), container (the files).
package bloomery

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"iter"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
)

// DefaultSpec is the filter of a Config without a Spec.
const DefaultSpec = "standard(fpr=0.01)"

// Config says what filter to make and how to hash its keys.
type Config struct {
	// Spec is a family with its parameters, see the package comment; DefaultSpec if empty.
	Spec string
	// Seed of the hash function. The same keys, Spec and Seed give the same file, byte for byte.
	Seed uint64
	// Hash is the hash function of another system: XXH64 makes a blocked(layout=split) a filter of Parquet. Seed and Secret
	// are not used then, and a Secret is an error. 0 is what the family needs, and in our own families XXH3 or SipHash.
	Hash filter.HashID
	// Secret, if not nil, makes the hash a keyed one (SipHash-128): who does not know it cannot find keys that are
	// falsely present. It is not stored; Open and Read need it again. Seed is then not used.
	Secret *[filter.SecretSize]byte
}

// NewSecret returns a random secret for Config.Secret.
func NewSecret() *[filter.SecretSize]byte {
	var s [filter.SecretSize]byte
	_, _ = rand.Read(s[:]) // never fails, says its documentation
	return &s
}

// hasher returns the hasher of a filter of that Spec.
func (c Config) hasher(f families.Family, s filter.Spec) (h filter.Hasher, err error) {
	id := c.Hash
	if id == 0 {
		id = f.Hash
	}
	switch {
	case id.Foreign() && c.Secret == nil:
		h, err = filter.ForeignHasher(id)
	case c.Secret != nil:
		h = filter.NewKeyedHasher(*c.Secret)
	default:
		h = filter.NewHasher(c.Seed)
	}
	if err == nil && (!f.TakesHash(s, h.ID()) || id != 0 && id != h.ID()) {
		err = &filter.ConfigError{Field: "hash", Value: max(id, h.ID()), Reason: fmt.Sprintf("%s has another hash function, or none with a secret", s)}
	}
	return h, err
}

func (c Config) family() (families.Family, filter.Spec, error) {
	text := c.Spec
	if text == "" {
		text = DefaultSpec
	}
	s, err := filter.ParseSpec(text)
	if err != nil {
		return families.Family{}, s, err
	}
	f, err := families.ByName(s.Family())
	return f, s, err
}

// New returns an empty Set with room for that many keys; add them with Add. Families that are built at once, such as
// fuse, give an error wrapping errors.ErrUnsupported: use Build. Some families are full at some time, with errors wrapping
// filter.ErrFull: rankindexed a little beyond that many keys, unless its spec has growth=.
func New(keys uint64, c Config) (*Set, error) {
	family, spec, err := c.family()
	if err != nil {
		return nil, err
	}
	if family.New == nil {
		return nil, fmt.Errorf("family %s needs all keys at once, with Build: %w", family.Name, filter.ErrUnsupported)
	}
	h, err := c.hasher(family, spec)
	if err != nil {
		return nil, err
	}
	f, err := family.New(spec, keys)
	if err != nil {
		return nil, err
	}
	return NewSet(f, h), nil
}

// Build makes a Set of keys. It gathers their hashes first, 16 bytes a key in a slice that grows, and some families gather
// them again: some 40 to 70 bytes a key at the peak, besides the filter. Duplicates do no harm, but in families
// standard, blocked, counting and dleft they count as keys when the size is chosen. A family that counts, such as
// rankindexed(counting=1), counts them; rankindexed without that takes each key once.
func Build(keys iter.Seq[[]byte], c Config) (*Set, error) {
	return build(c, keys, filter.Hasher.Sum, bytes.Clone)
}

// BuildStrings is Build for strings.
func BuildStrings(keys iter.Seq[string], c Config) (*Set, error) {
	return build(c, keys, filter.Hasher.SumString, func(k string) []byte { return []byte(k) })
}

func build[K any](c Config, keys iter.Seq[K], sum func(filter.Hasher, K) filter.Hash, clone func(K) []byte) (*Set, error) {
	family, spec, err := c.family()
	if err != nil {
		return nil, err
	}
	hasher, err := c.hasher(family, spec)
	if err != nil {
		return nil, err
	}
	if family.Can.Has(filter.CanRawKeys) {
		return buildKeyed(c, keys, clone)
	}
	var hs []filter.Hash
	for k := range keys {
		hs = append(hs, sum(hasher, k))
	}
	b, err := family.NewBuilder(spec, uint64(len(hs)))
	if err != nil {
		return nil, err
	}
	if err := b.AddMany(hs); err != nil {
		return nil, err
	}
	f, err := b.Build(context.Background())
	if err != nil {
		return nil, err
	}
	return NewSet(f, hasher), nil
}

// buildKeyed gathers the keys themselves.
func buildKeyed[K any](c Config, keys iter.Seq[K], clone func(K) []byte) (*Set, error) {
	var all [][]byte
	for k := range keys {
		all = append(all, clone(k))
	}
	set, err := New(uint64(len(all)), c)
	if err != nil {
		return nil, err
	}
	for _, k := range all {
		if err := set.Add(k); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// Plan ranks the filters that do what is needed, best first, with what each costs in bits and in time; Spec of a choice goes
// into Config. See plan.For for its errors: needs that nothing meets are told from what comes nearest.
func Plan(ctx context.Context, n plan.Needs) (plan.Plan, error) { return plan.For(ctx, n) }

// Open maps the file at path into memory and returns its Set; Close it when done. See container.Open for what must not
// happen to the file meanwhile. secret is nil but for a keyed filter.
func Open(path string, secret *[filter.SecretSize]byte) (*Set, error) {
	st, closer, err := container.Open(path, container.Options{Secret: secret})
	if err != nil {
		return nil, err
	}
	set := NewSet(st.Filter, st.Hasher)
	set.close = closer
	return set, nil
}

// Read reads a Set of at most maxBytes from r. See container.Read for its errors and for the memory that it takes.
func Read(r io.Reader, maxBytes uint64, secret *[filter.SecretSize]byte) (*Set, error) {
	st, err := container.Read(r, maxBytes, container.Options{Secret: secret})
	if err != nil {
		return nil, err
	}
	return NewSet(st.Filter, st.Hasher), nil
}
