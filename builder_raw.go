package bloomery

import (
	"context"
	"encoding/binary"
	"iter"
	"sync"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
)

// rawKeys builds a filter that takes raw keys. If their number is needed and unknown, it keeps copies of all of them.
type rawKeys struct {
	family families.Family
	spec   filter.Spec
	known  uint64 // the number of keys, 0 if unknown

	mu     sync.Mutex
	filter filter.RawKeyFilter // nil until the number of keys is known
	keys   []string            // until then
	added  uint64
	spent  bool
}

func newRawKeys(f families.Family, s filter.Spec, keys uint64) *rawKeys {
	r := &rawKeys{family: f, spec: s, known: keys}
	if s.Has("m") && s.Has("k") {
		r.known = max(keys, 1) // the spec determines the size
	}
	return r
}

// add adds a key, which must be a copy of the caller's.
func (r *rawKeys) add(key string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.added++
	if r.known == 0 {
		r.keys = append(r.keys, key)
		return nil
	}
	return r.put([]byte(key))
}

func (r *rawKeys) addMany(keys [][]byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.added += uint64(len(keys))
	for _, k := range keys {
		if r.known == 0 {
			r.keys = append(r.keys, string(k))
			continue
		}
		if err := r.put(k); err != nil {
			return err
		}
	}
	return nil
}

// put adds a key to the filter, which it makes before the first key.
func (r *rawKeys) put(key []byte) error {
	if err := r.make(r.known); err != nil {
		return err
	}
	return r.filter.AddKey(key)
}

func (r *rawKeys) make(keys uint64) error {
	if r.spent {
		return errSpent
	}
	if r.filter != nil {
		return nil
	}
	f, err := r.family.New(r.spec, keys)
	if err == nil {
		r.filter = f.(filter.RawKeyFilter)
	}
	return err
}

func (r *rawKeys) build(ctx context.Context) (filter.Filter, error) {
	if r.known == 0 {
		if err := r.make(uint64(len(r.keys))); err != nil {
			return nil, err
		}
	} else if err := r.make(r.known); err != nil {
		return nil, err
	}
	for i, k := range r.keys {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := r.filter.AddKey([]byte(k)); err != nil {
			return nil, err
		}
	}
	return r.filter, ctx.Err()
}

func (r *rawKeys) close() { r.filter, r.keys, r.spent = nil, nil, true }

func littleEndian(key uint64) []byte { return binary.LittleEndian.AppendUint64(nil, key) }

// feedBatch is the number of keys that feed hashes between two checks of the context.
const feedBatch = 4096

// feed adds the keys of a sequence to a Builder.
func feed[K Key](ctx context.Context, b *Builder, keys iter.Seq[K]) error {
	if b.raw != nil {
		return each(ctx, keys, func(k K) error { return b.raw.add(textOf(k)) })
	}
	hs := make([]filter.Hash, 0, feedBatch)
	sum := sumOf[K](b.hasher)
	err := each(ctx, keys, func(k K) error {
		hs = append(hs, sum(k))
		if len(hs) < feedBatch {
			return nil
		}
		err := b.give(hs)
		hs = hs[:0]
		return err
	})
	if err != nil {
		return err
	}
	return b.give(hs)
}

// each calls f for every key, until it fails or ctx ends.
func each[K Key](ctx context.Context, keys iter.Seq[K], f func(K) error) (err error) {
	n := 0
	for k := range keys {
		if n%feedBatch == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		n++
		if err := f(k); err != nil {
			return err
		}
	}
	return ctx.Err()
}
