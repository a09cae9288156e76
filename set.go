package bloomery

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/stat"
)

// Set is a filter with the hash function of its keys. Questions are safe from any number of goroutines; whatever changes
// it needs exclusive use.
type Set struct {
	filter filter.Filter
	hasher filter.Hasher
	keyed  filter.RawKeyFilter // filter, if it asks for keys, else nil
	close  func() error
}

// NewSet joins a filter with the hasher that its keys were hashed with.
func NewSet(f filter.Filter, h filter.Hasher) *Set {
	keyed, _ := f.(filter.RawKeyFilter)
	return &Set{filter: f, hasher: h, keyed: keyed}
}

// Filter returns the filter itself, for what only its family can do.
func (s *Set) Filter() filter.Filter { return s.filter }

// Hasher returns the hash function of the keys.
func (s *Set) Hasher() filter.Hasher { return s.hasher }

// Info describes the filter. It may read all of it.
func (s *Set) Info() filter.Info { return s.filter.Info() }

// Contains reports whether key may be in the set: false is certain, true is wrong with probability Info().FPRPosterior.
func (s *Set) Contains(key []byte) bool {
	if s.keyed != nil {
		return s.keyed.HasKey(key)
	}
	return s.filter.Has(s.hasher.Sum(key))
}

// ContainsString is Contains for a string.
func (s *Set) ContainsString(key string) bool {
	if s.keyed != nil {
		return s.keyed.HasKey([]byte(key))
	}
	return s.filter.Has(s.hasher.SumString(key))
}

// ContainsUint64 is Contains for the eight bytes of key, little endian.
func (s *Set) ContainsUint64(key uint64) bool {
	if s.keyed != nil {
		return s.keyed.HasKey(binary.LittleEndian.AppendUint64(nil, key))
	}
	return s.filter.Has(s.hasher.SumUint64(key))
}

// manyKeys is how many keys ContainsMany hashes before it asks.
const manyKeys = 256

var scratch = sync.Pool{New: func() any { return new([manyKeys]filter.Hash) }}

// ContainsMany sets dst[i] to Contains(keys[i]), several times as fast as one by one where the filter is larger than the
// cache. dst must be as long as keys.
func (s *Set) ContainsMany(dst []bool, keys [][]byte) {
	if s.keyed != nil {
		for i, k := range keys {
			dst[i] = s.keyed.HasKey(k)
		}
		return
	}
	buf := scratch.Get().(*[manyKeys]filter.Hash)
	defer scratch.Put(buf)
	for start := 0; start < len(keys); start += manyKeys {
		part := keys[start:min(start+manyKeys, len(keys))]
		for i, k := range part {
			buf[i] = s.hasher.Sum(k)
		}
		s.HasMany(dst[start:][:len(part)], buf[:len(part)])
	}
}

// HasMany is ContainsMany for keys that Hasher has hashed already. Of a filter.RawKeyFilter it says yes oftener than that.
func (s *Set) HasMany(dst []bool, hs []filter.Hash) {
	if b, ok := s.filter.(filter.Batcher); ok {
		b.HasMany(dst, hs)
		return
	}
	for i, h := range hs {
		dst[i] = s.filter.Has(h)
	}
}

// Add puts a key into the set, or returns an error wrapping errors.ErrUnsupported if the family is built at once.
func (s *Set) Add(key []byte) error {
	if s.keyed != nil {
		return s.keyed.AddKey(key)
	}
	if a, ok := s.filter.(filter.Adder); ok {
		return a.Add(s.hasher.Sum(key))
	}
	return s.lacks("adding keys")
}

// Remove undoes one Add. Remove only what was added: a key that was not mostly gives an error wrapping filter.ErrNotFound, and
// nothing changes, but one that looks like a present key takes that out. The error wraps errors.ErrUnsupported if the
// family cannot.
func (s *Set) Remove(key []byte) error {
	if r, ok := s.filter.(filter.Remover); ok {
		return r.Remove(s.hasher.Sum(key))
	}
	return s.lacks("removing keys")
}

// Count returns how often a key was added, never less, or an error wrapping errors.ErrUnsupported if the family does
// not count.
func (s *Set) Count(key []byte) (uint64, error) {
	if c, ok := s.filter.(filter.Counter); ok {
		n, _ := c.Count(s.hasher.Sum(key))
		return n, nil
	}
	return 0, s.lacks("counting keys")
}

// AddValue puts a key with a value into the set; like Add it wants a Remove of its own. The error wraps errors.ErrUnsupported
// if the filter keeps no values, filter.ErrConfig if the value has too many bits, filter.ErrFull if there is no room.
func (s *Set) AddValue(key []byte, value uint64) error {
	if v, ok := s.filter.(filter.Valuer); ok {
		return v.AddValue(s.hasher.Sum(key), value)
	}
	return s.lacks("values")
}

// Put sets the value of a key that was added. The error wraps filter.ErrNotFound if it is not there, and errors.ErrUnsupported
// or filter.ErrConfig as that of AddValue.
func (s *Set) Put(key []byte, value uint64) error {
	if v, ok := s.filter.(filter.Valuer); ok {
		return v.Put(s.hasher.Sum(key), value)
	}
	return s.lacks("values")
}

// Get returns the value of a key, 0 if none was Put, and whether the key may be in the set; a key that looks like another one
// may have the value of that. The error wraps errors.ErrUnsupported if the family keeps no values.
func (s *Set) Get(key []byte) (value uint64, ok bool, err error) {
	v, valuer := s.filter.(filter.Valuer)
	if !valuer {
		return 0, false, s.lacks("values")
	}
	value, ok = v.Get(s.hasher.Sum(key))
	return value, ok, nil
}

// Trimmed returns the set in the form in which it is sent: Save and Write leave out what Open and Read make again. It
// shares everything else with s. The error wraps errors.ErrUnsupported if the family has no such form.
func (s *Set) Trimmed() (*Set, error) {
	t, ok := s.filter.(filter.Trimmer)
	if !ok {
		return nil, s.lacks("a trimmed form")
	}
	return NewSet(t.Trimmed(), s.hasher), nil
}

// Merge makes s hold the keys of both. The two must agree in spec and hash, else the error wraps filter.ErrMismatch and
// nothing changes.
func (s *Set) Merge(o *Set) error {
	m, ok := s.filter.(filter.Merger)
	if !ok {
		return s.lacks("merging")
	}
	if !s.hasher.Equal(o.hasher) {
		return fmt.Errorf("the hash function, seed or secret differs: %w", filter.ErrMismatch)
	}
	return m.Merge(o.filter)
}

func (s *Set) lacks(what string) error {
	return fmt.Errorf("family %s does not support %s: %w", filter.SpecOf(s.filter).Family(), what, filter.ErrUnsupported)
}

// Save writes the set to a file, or replaces the file, all or nothing; see container.WriteFile.
func (s *Set) Save(ctx context.Context, path string) error {
	return container.WriteFile(ctx, path, s.filter, s.hasher)
}

// Write writes the set to w in the file format.
func (s *Set) Write(w io.Writer) error { return container.Write(w, s.filter, s.hasher) }

// Close releases the memory of a Set from Open, which must not be used afterwards. Other Sets need no Close.
func (s *Set) Close() error {
	if s.close == nil {
		return nil
	}
	err := s.close()
	s.close = nil
	return err
}

// Rate is p_o, a rate of false positives that was observed.
type Rate struct {
	Trials, FalsePositives uint64
	Observed               float64
	Low, High              float64 // the exact 95% interval (Clopper and Pearson) of the true rate
}

// NewRate returns the rate of that many false positives among trials absent keys.
func NewRate(falsePositives, trials uint64) Rate {
	r := Rate{Trials: trials, FalsePositives: falsePositives}
	if trials > 0 {
		r.Observed = float64(falsePositives) / float64(trials)
	}
	r.Low, r.High = stat.Interval(falsePositives, trials, 0.95)
	return r
}

// Holds reports whether the observations are compatible with a promised rate: false if that many false positives or more
// would come about with a probability below 1 in 10,000 at the promised rate.
func (r Rate) Holds(promised float64) bool {
	return stat.UpperTail(r.FalsePositives, r.Trials, promised) >= 1e-4
}

// MeasureFPR asks for keys of which the caller knows that they are distinct and not in the set.
func (s *Set) MeasureFPR(absent iter.Seq[[]byte]) Rate {
	var trials, hits uint64
	for k := range absent {
		trials++
		if s.Contains(k) {
			hits++
		}
	}
	return NewRate(hits, trials)
}
