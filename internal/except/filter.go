package except

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// Filter is a filter with exceptions. It answers queries like the other filter, except that it answers false for the
// exceptions. It cannot be changed: a new member could be one of the exceptions, and a new false positive one of the
// keys of the list.
type Filter struct {
	main family.Filter
	many func(dst []bool, hs []filter.Hash) // HasMany of main
	cold family.ColdBatcher                 // main if it is one, else nil
	c    *Cascade                           // the exceptions
}

// Wrap returns f with the exceptions of a stored section, or f if the section is nil. It returns the errors of Decode.
func Wrap(f family.Filter, section []uint64) (family.Filter, error) {
	if section == nil {
		return f, nil
	}
	c, err := Decode(section)
	if err != nil {
		return nil, err
	}
	return New(f, c), nil
}

// New returns main with the exceptions of c. It keeps both.
func New(main family.Filter, c *Cascade) *Filter {
	f := &Filter{main: main, many: batchOf(main), c: c}
	f.cold, _ = main.(family.ColdBatcher)
	return f
}

// batchOf returns HasMany of a filter, or a loop over Has if the filter is not a Batcher.
func batchOf(f family.Filter) func(dst []bool, hs []filter.Hash) {
	if b, ok := f.(family.Batcher); ok {
		return b.HasMany
	}
	return probe.HasEach(f)
}

// Main returns the filter without the exceptions.
func (f *Filter) Main() family.Filter { return f.main }

// Cascade returns the exceptions.
func (f *Filter) Cascade() *Cascade { return f.c }

// Has implements family.Filter.
func (f *Filter) Has(h filter.Hash) bool { return f.main.Has(h) && f.c.Has(h) }

// HasMany implements family.Batcher.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	family.CheckBatch(dst, hs)
	f.many(dst, hs)
	f.except(dst, hs)
}

// Prefetch implements family.ColdBatcher.
func (f *Filter) Prefetch(hs []filter.Hash) {
	if f.cold != nil {
		f.cold.Prefetch(hs)
	}
}

// HasManyCold implements family.ColdBatcher.
func (f *Filter) HasManyCold(dst []bool, hs []filter.Hash) {
	if f.cold == nil {
		f.HasMany(dst, hs)
		return
	}
	f.cold.HasManyCold(dst, hs)
	f.except(dst, hs)
}

// except sets the answers for exceptions to false.
func (f *Filter) except(dst []bool, hs []filter.Hash) {
	for i, h := range hs {
		if dst[i] {
			dst[i] = f.c.Has(h)
		}
	}
}

// Info implements family.Filter. Bits and bits per key include the exceptions. The rates are the rates of main; the
// true rate for keys outside the list is slightly lower.
func (f *Filter) Info() filter.Info {
	i := f.main.Info()
	i.Allowed, i.Exceptions, i.ExceptionBits = f.c.Allowed(), f.c.Exceptions(), f.c.Bits()
	i.Bits += i.ExceptionBits
	return i
}

// Encode implements family.Encoder: it returns the content of main, without the exceptions, which have a section of
// their own in a file. It panics if main is not an Encoder; the filters of all families are.
func (f *Filter) Encode() family.Encoded { return f.main.(family.Encoder).Encode() }

// Split returns a filter without its exceptions, and its exceptions, or nil if it has none.
func Split(f family.Filter) (family.Filter, *Cascade) {
	if f, ok := f.(*Filter); ok {
		return f.main, f.c
	}
	return f, nil
}
