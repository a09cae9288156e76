package intake

import (
	"errors"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// Sink takes the hashes of keys. AddMany and AddValues: see family.Builder and family.ValueBuilder.
type Sink interface {
	AddMany(hs []filter.Hash) error
	// AddValues takes values of at most ValueBits bits.
	AddValues(hs []filter.Hash, values []uint64) error
	// ValueBits returns how many bits a value may have, or an error if the Sink takes none.
	ValueBits() (int, error)
	// Close drops the keys and removes their temporary files.
	Close() error
}

var (
	// ErrSpent is the error of builders that were built or closed. It wraps filter.ErrClosed.
	ErrSpent  = fmt.Errorf("bloomery: the Builder was built or %w, and takes no more keys", filter.ErrClosed)
	errNoSpec = errors.New(
		"bloomery: values at the build need a Spec or Needs with values, such as ribbon(value_bits=8)")
)

// To returns a Sink of two functions. Keys with values get the error noValues.
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

// tee is a Sink with a function that gets all hashes first; it gets hashes of keys with values only if values is true.
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

// NoValues returns the error for values that come with the keys of a filter of that Spec, which may be zero.
func NoValues(s filter.Spec) error {
	if s.Family() == "" {
		return errNoSpec
	}
	return families.Lacks(s, family.CanBuildValues)
}
