package bloomery

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

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

// String returns the fields of the Config that are set, as JSON, with *** for the secret.
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
