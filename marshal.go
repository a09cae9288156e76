package bloomery

import (
	"bytes"
	"fmt"
	"io"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/family"
)

// WriteTo writes the set in the file format. While others write to a Set for many writers, it writes what a Clone would
// have.
func (s *Set) WriteTo(w io.Writer) (int64, error) {
	f, err := s.inner().Encode()
	if err != nil {
		return 0, err
	}
	c := container.Counter{To: w}
	err = s.inner().Guarded(func() error { return container.Write(&c, f) })
	return c.N, err
}

// MarshalBinary returns the set in the file format.
func (s *Set) MarshalBinary() ([]byte, error) {
	f, err := s.inner().Encode()
	if err != nil {
		return nil, err
	}
	n, err := container.Len(f)
	if err != nil {
		return nil, err
	}
	if n > maxInt {
		return nil, fmt.Errorf("%d bytes: %w", n, filter.ErrTooLarge)
	}
	w := bytes.NewBuffer(make([]byte, 0, n))
	if err := s.inner().Guarded(func() error { return container.Write(w, f) }); err != nil {
		return nil, err
	}
	return w.Bytes(), nil
}

const maxInt = uint64(^uint(0) >> 1)

// MarshalJSON returns an error wrapping errors.ErrUnsupported: a Set is no JSON value. Put what MarshalBinary returns
// into JSON, where bytes are base64.
func (s *Set) MarshalJSON() ([]byte, error) {
	return nil, fmt.Errorf("bloomery: a Set is no JSON value; take MarshalBinary: %w", filter.ErrUnsupported)
}

// UnmarshalBinary replaces s by the set in b, which must be a whole filter file of at most [DefaultMaxBytes]. It copies
// b. For a filter with a secret, s must have the secret already, or the error wraps filter.ErrSecret; see FromBytes and
// WithSecret. A Set for many writers remains one. On error s is unchanged, except that a Set without a filter then
// answers true, and its Err returns the error.
func (s *Set) UnmarshalBinary(b []byte) error {
	s.begin()
	defer s.end()
	return s.loaded(s.unmarshal(b))
}

func (s *Set) unmarshal(b []byte) error {
	if len(b) > DefaultMaxBytes {
		return fmt.Errorf("%d bytes, at most %d: %w; take FromBytes", len(b), DefaultMaxBytes, filter.ErrTooLarge)
	}
	r := bytes.NewReader(b)
	set, err := s.readLike(r)
	if err != nil {
		return err
	}
	if r.Len() > 0 {
		at := uint64(len(b) - r.Len())
		return container.Broken(at, "bytes behind the filter", filter.ErrCorrupt)
	}
	return s.replace(set)
}

// loaded keeps the error of a load into a Set without a filter for Err, and returns it.
func (s *Set) loaded(err error) error {
	if err != nil && s.isEmpty() {
		s.take(one.Nothing(s.Hasher(), err))
	}
	return err
}

// readLike reads a filter with the secret and in the form of s.
func (s *Set) readLike(r io.Reader) (*one.Set, error) {
	_, concurrent := s.inner().Facts().Filter.(family.Concurrent)
	return one.Read(r, engine.Options{MaxBytes: DefaultMaxBytes, Keyed: s.Hasher(), Concurrent: concurrent})
}

// replace makes s stand on e.
func (s *Set) replace(e engine.Engine) error {
	old := s.inner()
	s.take(e)
	return old.Close()
}

// String describes the set: its Spec, its hash function and the number of keys.
func (s *Set) String() string {
	if s.isEmpty() {
		return "bloomery.Set()"
	}
	of := ""
	if n := s.inner().Facts().Stored.Shards; n > 0 {
		of = fmt.Sprintf("%d shards of ", n)
	}
	return fmt.Sprintf("bloomery.Set(%s%s, %s, %d keys)", of, s.Spec(), s.Hasher().ID(), s.Len())
}

// Format prints String for every verb.
func (s *Set) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }
