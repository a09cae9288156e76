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
	switch {
	case s != nil && s.shards != nil:
		return fmt.Sprintf("bloomery.Set(%d shards of %s, %s, %d keys)",
			len(s.shards.parts), s.Spec(), s.hasher.ID(), s.Len())
	case s == nil || s.filter == nil:
		return "bloomery.Set()"
	}
	return fmt.Sprintf("bloomery.Set(%s, %s, %d keys)", s.Spec(), s.hasher.ID(), s.Len())
}

// Format prints String for every verb.
func (s *Set) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue returns String, for package log/slog.
func (s *Set) LogValue() slog.Value {
	if s == nil || s.filter == nil && s.shards == nil {
		return slog.GroupValue()
	}
	all := []slog.Attr{
		slog.String("spec", s.Spec().String()), slog.String("hash", s.hasher.ID().String()), slog.Uint64("keys", s.Len()),
	}
	if s.shards != nil {
		all = append(all, slog.Int("shards", len(s.shards.parts)))
	}
	return slog.GroupValue(all...)
}

// printed is a Config without its secret and its function.
type printed struct {
	Spec       string  `json:"spec,omitempty"`
	Needs      any     `json:"needs,omitempty"`
	Capacity   uint64  `json:"capacity,omitempty"`
	FPRChosen  float64 `json:"fpr_chosen,omitempty"`
	MaxFPR     float64 `json:"max_fpr,omitempty"`
	Keys       uint64  `json:"keys,omitempty"`
	Shards     int     `json:"shards,omitempty"`
	Seed       uint64  `json:"seed,omitempty"`
	Secret     string  `json:"secret,omitempty"`
	Hash       string  `json:"hash,omitempty"`
	Workers    int     `json:"workers,omitempty"`
	Memory     int64   `json:"memory,omitempty"`
	TempDir    string  `json:"temp_dir,omitempty"`
	Concurrent bool    `json:"concurrent,omitempty"`
	Allow      bool    `json:"allow,omitempty"`
}

func (c Config) printed() printed {
	p := printed{
		Spec: c.Spec, Capacity: c.Capacity, FPRChosen: c.FPRChosen, MaxFPR: c.MaxFPR, Keys: c.Keys, Shards: c.Shards,
		Seed:    c.Seed,
		Workers: c.Workers, Memory: c.Memory, TempDir: c.TempDir, Concurrent: c.Concurrent, Allow: c.Allow != nil,
	}
	if c.open() {
		p.Needs = c.Needs
	}
	if c.Secret != nil {
		p.Secret = "***"
	}
	if c.Hash != 0 {
		p.Hash = c.Hash.String()
	}
	return p
}

// String returns the fields of the Config that are set, as JSON, with *** for the secret.
func (c Config) String() string {
	b, err := json.Marshal(c)
	if err != nil {
		return "bloomery.Config"
	}
	return "bloomery.Config" + string(b)
}

// Format prints String for every verb.
func (c Config) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// LogValue returns String, for package log/slog.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalJSON returns the fields that are set, with *** for the secret.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.printed()) }
