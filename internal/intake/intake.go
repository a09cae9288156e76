// Package intake passes keys from any number of goroutines to the consumer of their hashes. A source adds keys, and a
// Sink takes the hashes. Every source works with every Sink.
//
//	source                                   Sink
//	Add, AddString, AddValue              ┌► Family   the builder of a family
//	AddMany, AddManyValues                │  Texts    a filter of raw keys: it takes the keys, not their hashes
//	Feed, FeedValues: sequences       ────┤  Shards   by shard, beyond a limit of memory in a temporary file
//	AddHashes, AddValueHashes             │  Counted  a spool until the keys are counted; Start passes them to another
//	                                      └► To       any function
//
// Single keys wait in one of 16 stripes, so that goroutines seldom wait for each other; a full stripe goes to the Sink
// as one batch. Other sources pass their batches to the Sink at once.
package intake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/kernel"
)

// Intake hashes keys and passes them to a Sink. Methods that add keys are safe for concurrent use, except during
// Flush, Start and End.
type Intake struct {
	hasher  filter.Hasher
	sink    Sink
	texts   *Texts          // the Sink, if it takes the keys themselves
	counted *hashes.ByShard // all keys, until they are counted
	members *hashes.ByShard // all keys, until Close, for Members
	added   atomic.Uint64
	valued  atomic.Uint64  // keys that came with values
	closers []func() error // nil after Close

	stripes [stripes]stripe
}

// New returns an Intake that passes keys to a Sink.
func New(h filter.Hasher, s Sink) *Intake {
	in := &Intake{hasher: h, sink: s, closers: []func() error{s.Close}}
	if in.texts, _ = s.(*Texts); in.texts != nil {
		// The stripes hold hashes, which this Sink refuses: they return its error.
		in.refuse(s.AddMany(nil))
	}
	return in
}

// Counted returns an Intake that keeps the hashes until Start. Hashes beyond about memory bytes go to a temporary file
// in dir; see hashes.NewByShard. Keys with values get the error noValues.
func Counted(h filter.Hasher, memory int64, dir string, noValues error) *Intake {
	s := hashes.NewByShard(1, memory, dir)
	in := New(h, To(s.Add, s.Close, noValues))
	in.counted = s
	return in
}

// Counting reports whether the Intake still counts the keys, because Start was not called.
func (in *Intake) Counting() bool { return in.counted != nil }

// Start passes the counted keys to a Sink, which also takes all further keys. Members does not get the further keys.
func (in *Intake) Start(ctx context.Context, s Sink) error {
	counted := in.counted
	in.sink, in.counted = s, nil
	in.OnClose(s.Close)
	err := counted.Each(ctx, 0, s.AddMany)
	if in.members == counted { // Members still needs the hashes
		return err
	}
	return errors.Join(err, counted.Close())
}

// OnClose makes Close call f too.
func (in *Intake) OnClose(f func() error) { in.closers = append(in.closers, f) }

// Keep keeps the hashes of all keys for Members, as Counted does.
func (in *Intake) Keep(memory int64, dir string) {
	if in.members = in.counted; in.members == nil {
		in.members = hashes.NewByShard(1, memory, dir)
		in.sink = &tee{in.sink, in.members.Add, true}
		in.OnClose(in.members.Close)
	}
}

// Members calls f with the hashes of all keys, in batches. It needs Keep.
func (in *Intake) Members(ctx context.Context, f func(hs []filter.Hash) error) error {
	return in.members.Each(ctx, 0, f)
}

// Watch calls f with the hashes of all keys without values, also from several goroutines at once.
func (in *Intake) Watch(f func(hs []filter.Hash) error) { in.sink = &tee{in.sink, f, false} }

// Hasher returns the hash function of the keys.
func (in *Intake) Hasher() filter.Hasher { return in.hasher }

// Len returns the number of keys that were added.
func (in *Intake) Len() uint64 { return in.added.Load() }

// Valued returns the number of keys that were added with values.
func (in *Intake) Valued() uint64 { return in.valued.Load() }

// Check returns an error if announced is not 0 and differs from the number of keys, or if all keys need values and some
// came without.
func (in *Intake) Check(announced uint64, values bool) error {
	n, v := in.Len(), in.Valued()
	if announced != 0 && n != announced {
		return &KeysError{Announced: announced, Added: n}
	}
	if values && v != n {
		return family.Invalid("values", "none", "%d keys came without a value; give each key its value", n-v)
	}
	return nil
}

// Add adds a key.
func (in *Intake) Add(key []byte) error {
	if in.texts != nil {
		return in.addText(bytes.Clone(key)) // a copy, so that key does not escape to the heap in the usual case
	}
	return in.AddHash(in.hasher.Sum(key))
}

// AddString is Add for a string.
func (in *Intake) AddString(key string) error {
	if in.texts != nil {
		return in.addText([]byte(key))
	}
	return in.AddHash(in.hasher.SumString(key))
}

// addText is Add for a Sink that takes the keys themselves.
func (in *Intake) addText(key []byte) error {
	in.added.Add(1)
	return in.texts.AddKeys(key)
}

// AddMany adds a batch of keys.
func (in *Intake) AddMany(keys [][]byte) error {
	if in.texts != nil {
		in.added.Add(uint64(len(keys)))
		return in.texts.AddKeys(keys...)
	}
	return Hash(in.hasher, keys, in.AddHashes)
}

var buffers = sync.Pool{New: func() any { return new([]filter.Hash) }}

// Hash calls give with the hashes of keys. give may change them and must not keep them.
func Hash(h filter.Hasher, keys [][]byte, give func(hs []filter.Hash) error) error {
	buf := buffers.Get().(*[]filter.Hash)
	hs := slices.Grow((*buf)[:0], len(keys))[:len(keys)]
	kernel.Sums(hs, h, keys)
	err := give(hs)
	*buf = hs[:0]
	buffers.Put(buf)
	return err
}

// AddManyValues adds a batch of keys with their values, or none of them. It panics if keys and values differ in length.
func (in *Intake) AddManyValues(keys [][]byte, values []uint64) error {
	return Hash(in.hasher, keys, func(hs []filter.Hash) error { return in.AddValueHashes(hs, values) })
}

// AddHashes adds hashed keys. It does not keep hs.
func (in *Intake) AddHashes(hs []filter.Hash) error {
	in.added.Add(uint64(len(hs)))
	return in.sink.AddMany(hs)
}

// AddValueHashes is AddManyValues for hashed keys. It does not keep the slices.
func (in *Intake) AddValueHashes(hs []filter.Hash, values []uint64) error {
	CheckPairs(hs, values)
	if err := in.checkValues(values...); err != nil || len(hs) == 0 {
		return err
	}
	return in.giveValues(hs, values)
}

func (in *Intake) giveValues(hs []filter.Hash, values []uint64) error {
	in.added.Add(uint64(len(hs)))
	in.valued.Add(uint64(len(hs)))
	return in.sink.AddValues(hs, values)
}

// checkValues returns an error unless the Sink takes keys with these values.
func (in *Intake) checkValues(values ...uint64) error {
	bits, err := in.sink.ValueBits()
	if err != nil {
		return err
	}
	if bits == 0 {
		return family.Invalid("value_bits", 0, "keys with values need it in the Spec")
	}

	for _, v := range values {
		if v>>bits != 0 {
			return family.Invalid("value", v, "want less than 2^%d, as value_bits= says", bits)
		}
	}
	return nil
}

// End makes all methods that add keys return an error. The Sink keeps its keys until Close.
func (in *Intake) End(why error) {
	in.refuse(why)
	in.texts = nil
	in.sink = To(func([]filter.Hash) error { return why }, nil, why)
}

// Close is End, and closes the Sink.
func (in *Intake) Close(why error) (err error) {
	in.End(why)
	for _, f := range in.closers {
		err = errors.Join(err, f())
	}
	in.closers = nil
	return err
}

// CheckPairs panics if there is not one value for each key.
func CheckPairs[K any](keys []K, values []uint64) {
	if len(keys) != len(values) {
		panic(fmt.Sprintf("bloomery: %d values for %d keys", len(values), len(keys)))
	}
}

// KeysError means that the number of added keys differs from the announced number, which must be exact or 0. It wraps
// filter.ErrKeys.
type KeysError struct {
	Announced, Added uint64
}

func (e *KeysError) Error() string {
	const text = "%d keys were added, %d were announced: the number must be exact, or 0 if it is unknown"
	return fmt.Sprintf(text, e.Added, e.Announced)
}

func (e *KeysError) Unwrap() error { return filter.ErrKeys }
