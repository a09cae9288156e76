package one

import (
	"runtime/debug"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/family"
)

// mapping describes the memory of a filter that does not own it, such as a mapped file.
type mapping struct {
	file     *container.Mapping    // the file that the filter lies in, or nil
	borrowed bool                  // the filter does not own its memory; the first change copies it
	fault    atomic.Pointer[error] // the first fault in the mapping, or the reason that there is no filter
}

// Has reports whether the key with hash h may be in the set. On a fault of the mapping it returns true and keeps the
// error for Err.
func (s *Set) Has(h filter.Hash) (present bool) {
	if s.file == nil {
		return s.filter.Has(h)
	}

	// Without it, a read behind the end of a truncated file would kill the process.
	was := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(was)
		if r := recover(); r != nil {
			s.failed(s.file.Fault(r)) // panics unless it is a fault in the mapping
			present = true            // a false negative is not allowed
		}
	}()
	return s.filter.Has(h)
}

// guardReads calls f, which reads the filter, and reports whether f returned without a fault. It keeps the error of a
// fault for Err.
func (m *mapping) guardReads(f func()) (ended bool) {
	err := m.file.Guard(f)
	if err != nil {
		m.failed(err)
	}
	return err == nil
}

// Guarded calls f, which reads the filter, and returns its error, or one wrapping filter.ErrFile if the mapped file
// was changed in place.
func (m *mapping) Guarded(f func() error) (err error) {
	fault := m.file.Guard(func() { err = f() })
	// A file that was changed in place may give wrong words without a fault.
	if fault == nil && err == nil {
		fault = m.file.Err()
	}
	if fault != nil {
		m.failed(fault)
		return fault
	}
	return err
}

// failed keeps the first fault for Err. It is a separate function so that err escapes only after a fault.
func (m *mapping) failed(err error) { m.fault.CompareAndSwap(nil, &err) }

// Err returns the first fault, or an error if the mapped file was changed in place.
func (m *mapping) Err() error {
	if err := m.fault.Load(); err != nil {
		return *err
	}
	return m.file.Err()
}

// Release takes the pages of a mapped filter out of memory until they are used.
func (s *Set) Release() {
	if e, ok := s.filter.(family.Encoder); ok {
		for _, words := range e.Encode().Sections {
			s.file.Release(words)
		}
	}
}

// Mapped reports whether the filter lies in a mapped file.
func (m *mapping) Mapped() bool { return m.file != nil }

// Borrowed reports whether Own would copy the filter, because it does not own its memory.
func (m *mapping) Borrowed() bool { return m.borrowed }
