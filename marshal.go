package bloomery

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/family"
)

// EncodedLen returns the number of bytes that WriteTo, Save and MarshalBinary write. For a trimmed form it takes as
// long as these.
func (s *Set) EncodedLen() (uint64, error) {
	f, err := s.inner().Encode()
	if err != nil {
		return 0, err
	}
	return container.Len(f)
}

// WriteTo writes the set in the file format. While others write to a Set for many writers, it writes a Snapshot.
func (s *Set) WriteTo(w io.Writer) (int64, error) {
	f, err := s.inner().Encode()
	if err != nil {
		return 0, err
	}
	c := counter{w: w}
	err = s.Guarded(func() error { return container.Write(&c, f) })
	return c.n, err
}

// counter counts the bytes written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// MarshalBinary returns the set in the file format.
func (s *Set) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// AppendBinary appends the set in the file format to b.
func (s *Set) AppendBinary(b []byte) ([]byte, error) {
	f, err := s.inner().Encode()
	if err != nil {
		return b, err
	}
	n, err := container.Len(f)
	if err != nil {
		return b, err
	}
	if uint64(cap(b)-len(b)) < n {
		if n > uint64(maxInt-len(b)) {
			return b, fmt.Errorf("%d bytes: %w", n, filter.ErrTooLarge)
		}
		b = append(make([]byte, 0, len(b)+int(n)), b...)
	}
	w := bytes.NewBuffer(b)
	if err := s.Guarded(func() error { return container.Write(w, f) }); err != nil {
		return b, err
	}
	return w.Bytes(), nil
}

const maxInt = int(^uint(0) >> 1)

// MarshalText returns the file format in standard base64. So a set is a string in JSON and XML.
func (s *Set) MarshalText() ([]byte, error) {
	b, err := s.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.AppendEncode(nil, b), nil
}

// UnmarshalBinary replaces s by the set in b, which must be a whole filter file of at most DefaultMaxBytes. It copies
// b. For a filter with a secret, s must have the secret, such as NewSet(nil, filter.NewKeyedHasher(secret)); else the
// error wraps filter.ErrSecret. A Set for many writers remains one. On error s is unchanged, except
// that a Set without a filter then answers true, and its Err returns the error.
func (s *Set) UnmarshalBinary(b []byte) error { return s.loaded(s.unmarshal(b)) }

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

// UnmarshalText is UnmarshalBinary for the result of MarshalText.
func (s *Set) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return s.loaded(fmt.Errorf("a filter as text: %w", err))
	}
	return s.UnmarshalBinary(b)
}

// ReadFrom replaces s by a set of at most DefaultMaxBytes that it reads from r, and stops at its end. It treats secrets
// and errors like UnmarshalBinary. It returns the number of bytes read, also on error.
func (s *Set) ReadFrom(r io.Reader) (int64, error) {
	c := counter{w: io.Discard}
	set, err := s.readLike(io.TeeReader(r, &c))
	if err != nil {
		return c.n, s.loaded(err)
	}
	return c.n, s.replace(set)
}

// loaded keeps the error of a load into a Set without a filter for Err, and returns it.
func (s *Set) loaded(err error) error {
	if err != nil && s.isEmpty() {
		s.take(one.Nothing(s.hasher, err))
	}
	return err
}

// readLike reads a filter with the secret and in the form of s.
func (s *Set) readLike(r io.Reader) (*one.Set, error) {
	_, concurrent := s.Filter().(family.Concurrent)
	return one.Read(r, engine.Options{MaxBytes: DefaultMaxBytes, Keyed: s.hasher, Concurrent: concurrent})
}

// replace makes s stand on e.
func (s *Set) replace(e engine.Engine) error {
	old := s.inner()
	s.take(e)
	return old.Close()
}

// A Set and a Config never print the secret: not with any verb of fmt, not in log/slog, and a Config not in JSON. In
// JSON a Set is its file, which does not contain the secret; see MarshalText.

// String describes the set: its Spec, its hash function and the number of keys.
func (s *Set) String() string {
	if s.isEmpty() {
		return "bloomery.Set()"
	}
	of := ""
	if n := s.Stored().Shards; n > 0 {
		of = fmt.Sprintf("%d shards of ", n)
	}
	return fmt.Sprintf("bloomery.Set(%s%s, %s, %d keys)", of, s.Spec(), s.hasher.ID(), s.Len())
}

// Format prints String for every verb.
func (s *Set) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue returns String, for package log/slog.
func (s *Set) LogValue() slog.Value {
	if s.isEmpty() {
		return slog.GroupValue()
	}
	all := []slog.Attr{
		slog.String("spec", s.Spec().String()), slog.String("hash", s.hasher.ID().String()), slog.Uint64("keys", s.Len()),
	}
	if n := s.Stored().Shards; n > 0 {
		all = append(all, slog.Int("shards", n))
	}
	return slog.GroupValue(all...)
}

// String returns the fields of the Config that are set, as JSON, with REDACTED for the secret.
func (c Config) String() string {
	b, err := json.Marshal(c.stored())
	if err != nil {
		return "bloomery.Config"
	}
	return "bloomery.Config" + string(b)
}

// Format prints String for every verb.
func (c Config) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// LogValue returns String, for package log/slog.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }
