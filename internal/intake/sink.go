package intake

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
)

// Sink takes the hashes of keys. AddMany and AddValues: see family.Builder and family.ValueBuilder.
type Sink interface {
	AddMany(hs []filter.Hash) error
	// AddValues takes values of at most ValueBits bits.
	AddValues(hs []filter.Hash, values []uint64) error
	// ValueBits returns the largest number of bits of a value, or an error if the Sink takes no values.
	ValueBits() (int, error)
	// Close drops the keys and removes their temporary files.
	Close() error
}

var (
	// ErrSpent is the error of builders after Build or Close. It wraps filter.ErrClosed.
	ErrSpent  = fmt.Errorf("bloomery: the Builder was built or %w, and takes no more keys", filter.ErrClosed)
	errNoSpec = errors.New(
		"bloomery: values at the build need a Spec or Needs with values, such as ribbon(value_bits=8)")
)

// To returns a Sink that calls two functions. Keys with values get the error noValues.
func To(add func(hs []filter.Hash) error, end func() error, noValues error) Sink {
	return &to{add, end, noValues}
}

type to struct {
	add      func(hs []filter.Hash) error
	end      func() error
	noValues error
}

func (t *to) AddMany(hs []filter.Hash) error              { return t.add(hs) }
func (t *to) AddValues(_ []filter.Hash, _ []uint64) error { return t.noValues }
func (t *to) ValueBits() (int, error)                     { return 0, t.noValues }
func (t *to) Close() error                                { return t.end() }

// tee is a Sink with a function that gets all hashes first. It gets the hashes of keys with values only if values is
// true.
type tee struct {
	Sink
	first  func(hs []filter.Hash) error
	values bool
}

func (t *tee) AddMany(hs []filter.Hash) error {
	if err := t.first(hs); err != nil {
		return err
	}
	return t.Sink.AddMany(hs)
}

func (t *tee) AddValues(hs []filter.Hash, values []uint64) error {
	if t.values {
		if err := t.first(hs); err != nil {
			return err
		}
	}
	return t.Sink.AddValues(hs, values)
}

// NoValues returns the error for keys with values if filters of that Spec, which may be zero, take none.
func NoValues(s filter.Spec) error {
	if s.Family() == "" {
		return errNoSpec
	}
	return families.Lacks(s, family.CanBuildValues)
}

// Target is a Sink that makes one filter of its keys.
type Target interface {
	Sink
	// Build returns the filter of all keys. Call it once, when no keys are added.
	Build(ctx context.Context) (family.Filter, error)
}

// ofFamily is a Target with the builder of a family.
type ofFamily struct {
	family.Builder     // nil after Build
	bits           int // bits of a value
	noValues       error
}

// Family returns the Target of a builder. With a zero Spec and family, which means unknown, the Target takes no values.
func Family(b family.Builder, f families.Family, s filter.Spec, o family.BuildOptions) Target {
	if g, ok := b.(family.Gatherer); ok {
		g.SetOptions(o)
	}
	t := &ofFamily{Builder: b, bits: f.BuildValueBits(s)}
	if _, ok := b.(family.ValueBuilder); !ok {
		t.noValues = NoValues(s)
	}
	return t
}

// Gathers reports whether a builder keeps its keys until Build, and so does not need their number before.
func Gathers(b family.Builder) bool {
	_, ok := b.(family.Gatherer)
	return ok
}

func (t *ofFamily) AddValues(hs []filter.Hash, values []uint64) error {
	return t.Builder.(family.ValueBuilder).AddValues(hs, values)
}

func (t *ofFamily) ValueBits() (int, error) { return t.bits, t.noValues }

func (t *ofFamily) Build(ctx context.Context) (family.Filter, error) {
	b := t.Builder
	// Build closes the builder, and Close must not close it again.
	t.Builder = nil
	return b.Build(ctx)
}

func (t *ofFamily) Close() error {
	if s, ok := t.Builder.(family.Gatherer); ok { // not after Build
		return s.Close()
	}
	return nil
}

// Texts is the Target of a family that takes raw keys. It spools the keys if their number is needed but unknown.
type Texts struct {
	Sink  // it refuses hashes
	make  func(keys uint64) (family.Filter, error)
	known uint64 // the number of keys, or 0 if it is unknown

	mu     sync.Mutex
	filter family.RawKeyFilter // nil until the number of keys is known
	spool  *hashes.Raw         // the keys until then, else nil
	closed bool
}

// NewTexts returns the Target of a filter that make returns for a number of keys. It calls make before the first key if
// keys is not 0 or the Spec has the size; otherwise it first counts the keys.
func NewTexts(make func(keys uint64) (family.Filter, error), s filter.Spec, keys uint64, o family.BuildOptions) *Texts {
	t := &Texts{make: make, known: keys}
	noHashes := families.Lacks(s, family.CanAdd)
	t.Sink = To(func([]filter.Hash) error { return noHashes }, t.closeSpool, NoValues(s))
	if family.Given(s, "m") && family.Given(s, "k") {
		// m and k fix the geometry, so any number of keys makes the same filter.
		t.known = max(keys, 1)
	}
	if t.known == 0 {
		t.spool = hashes.NewRaw(o.Memory, o.Dir)
	}
	return t
}

// AddKeys adds keys until one fails.
func (t *Texts) AddKeys(keys ...[]byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return ErrSpent
	}
	for _, k := range keys {
		if err := t.addKey(k); err != nil {
			return err
		}
	}
	return nil
}

// addKey spools a key, or adds it to the filter, which it makes before the first key.
func (t *Texts) addKey(key []byte) error {
	if t.spool != nil {
		return t.spool.Add(key)
	}
	if err := t.makeFilter(t.known); err != nil {
		return err
	}
	return t.filter.AddKey(key)
}

func (t *Texts) makeFilter(keys uint64) error {
	if t.filter != nil {
		return nil
	}
	f, err := t.make(keys)
	if err == nil {
		t.filter = f.(family.RawKeyFilter)
	}
	return err
}

// Build returns the filter of all keys.
func (t *Texts) Build(ctx context.Context) (family.Filter, error) {
	keys := t.known
	if t.spool != nil {
		keys = t.spool.Len()
	}
	if err := t.makeFilter(keys); err != nil {
		return nil, err
	}
	if t.spool != nil {
		if err := t.spool.Each(ctx, t.filter.AddKey); err != nil {
			return nil, err
		}
	}
	return t.filter, ctx.Err()
}

// closeSpool drops the keys and removes their temporary file.
func (t *Texts) closeSpool() error {
	t.filter, t.closed = nil, true
	if t.spool == nil {
		return nil
	}
	return t.spool.Close()
}
