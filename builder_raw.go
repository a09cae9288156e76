package bloomery

import (
	"context"
	"encoding/binary"
	"iter"
	"sync"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/spool"
)

// rawKeys builds a filter that takes raw keys. If their number is needed and unknown, it spools them.
type rawKeys struct {
	family families.Family
	spec   filter.Spec
	config Config
	known  uint64 // the number of keys, 0 if unknown

	mu     sync.Mutex
	filter filter.RawKeyFilter // nil until the number of keys is known
	spool  *spool.Raw          // until then, else nil
	added  uint64
	spent  bool
}

func newRawKeys(f families.Family, s filter.Spec, c Config) *rawKeys {
	r := &rawKeys{family: f, spec: s, config: c, known: c.Keys}
	if s.Has("m") && s.Has("k") {
		r.known = max(c.Keys, 1) // the spec determines the size
	}
	if r.known == 0 {
		r.spool = spool.NewRaw(c.Memory, c.TempDir)
	}
	return r
}

// add adds a key.
func (r *rawKeys) add(key string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.added++
	return r.put([]byte(key))
}

func (r *rawKeys) addMany(keys [][]byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spent {
		return errSpent
	}
	r.added += uint64(len(keys))
	for _, k := range keys {
		if err := r.put(k); err != nil {
			return err
		}
	}
	return nil
}

// put spools a key, or adds it to the filter, which it makes before the first key.
func (r *rawKeys) put(key []byte) error {
	if r.spent {
		return errSpent
	}
	if r.spool != nil {
		return r.spool.Add(key)
	}
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
	if err := r.config.checkSize(r.family, r.spec, keys); err != nil {
		return err
	}
	f, err := r.family.New(r.spec, keys)
	if err == nil {
		r.filter = f.(filter.RawKeyFilter)
	}
	return err
}

func (r *rawKeys) build(ctx context.Context) (filter.Filter, error) {
	keys := r.known
	if r.spool != nil {
		keys = r.spool.Len()
	}
	if err := r.make(keys); err != nil {
		return nil, err
	}
	if r.spool != nil {
		if err := r.spool.Each(ctx, r.filter.AddKey); err != nil {
			return nil, err
		}
	}
	return r.filter, ctx.Err()
}

func (r *rawKeys) close() (err error) {
	if r.spool != nil && !r.spent {
		err = r.spool.Close()
	}
	r.filter, r.spent = nil, true
	return err
}

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
