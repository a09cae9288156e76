package bloomery

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/plan"
)

// storedConfig is the JSON of a Config.
type storedConfig struct {
	Spec       string     `json:"spec,omitempty"`
	Needs      plan.Needs `json:"needs,omitzero"`
	Like       bool       `json:"like,omitempty"`
	Capacity   uint64     `json:"capacity,omitempty"`
	FPRChosen  float64    `json:"fpr_chosen,omitempty"`
	MaxFPR     float64    `json:"max_fpr,omitempty"`
	Keys       uint64     `json:"keys,omitempty"`
	MaxBytes   uint64     `json:"max_bytes,omitempty"`
	Dir        string     `json:"dir,omitempty"`
	Shards     int        `json:"shards,omitempty"`
	Shrink     float64    `json:"shrink,omitempty"`
	Seed       uint64     `json:"seed,omitempty"`
	Secret     string     `json:"secret,omitempty"`
	Hash       string     `json:"hash,omitempty"`
	Workers    int        `json:"workers,omitempty"`
	Memory     int64      `json:"memory,omitempty"`
	TempDir    string     `json:"temp_dir,omitempty"`
	Concurrent bool       `json:"concurrent,omitempty"`
	Allow      bool       `json:"allow,omitempty"`
}

// hidden stands for the secret.
const hidden = "REDACTED" // as filter.Secret shows itself

func (c Config) stored() storedConfig {
	s := storedConfig{
		Spec: c.Spec, Needs: c.Needs, Like: c.Like != nil, Capacity: c.Capacity, FPRChosen: c.FPRChosen, MaxFPR: c.MaxFPR,
		Keys: c.Keys, MaxBytes: c.MaxBytes, Dir: c.Dir, Shards: c.Shards, Seed: c.Seed, Workers: c.Workers, Memory: c.Memory,
		TempDir: c.TempDir, Concurrent: c.Concurrent, Allow: c.Allow != nil, Shrink: c.Shrink,
	}
	if c.Secret != nil {
		s.Secret = hidden
	}
	if c.Hash != 0 {
		s.Hash = c.Hash.String()
	}
	return s
}

// String returns the fields of the Config that are set, as JSON, with REDACTED for the secret.
func (c Config) String() string {
	b, err := json.Marshal(c.stored())
	if err != nil {
		return "bloomery.Config"
	}
	return "bloomery.Config" + string(b)
}

// MarshalJSON returns the fields that are set, in an object that UnmarshalJSON reads. The secret is "REDACTED". It
// leaves out Chosen and Progress, which do not change what is built. With Like or Allow, which have no JSON, it returns
// an error wrapping errors.ErrUnsupported.
func (c Config) MarshalJSON() ([]byte, error) {
	for name, set := range map[string]bool{"like": c.Like != nil, "allow": c.Allow != nil} {
		if set {
			return nil, fmt.Errorf("a Config with %s has no JSON: %w", name, filter.ErrUnsupported)
		}
	}
	return json.Marshal(c.stored())
}

// UnmarshalJSON reads what MarshalJSON writes. Fields that the JSON does not have stay as they are. It returns an
// error, and changes nothing, for an unknown field, and for "secret", "like" or "allow" unless the Config has that
// field already. For a Config from somebody else, set MaxBytes, Dir and TempDir afterwards.
func (c *Config) UnmarshalJSON(b []byte) error {
	s := c.stored()
	s.Secret, s.Like, s.Allow = "", false, false
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return fmt.Errorf("bloomery.Config: %w", err)
	}
	for _, f := range []struct {
		name         string
		wanted, have bool
	}{{"secret", s.Secret != "", c.Secret != nil}, {"like", s.Like, c.Like != nil}, {"allow", s.Allow, c.Allow != nil}} {
		if f.wanted && !f.have {
			return fmt.Errorf("bloomery.Config: %s is not in JSON; set the field before: %w", f.name, filter.ErrConfig)
		}
	}
	if s.Secret != "" && s.Secret != hidden {
		return fmt.Errorf("bloomery.Config: a secret is not read from JSON: %w", filter.ErrConfig)
	}
	var hash filter.HashID
	if s.Hash != "" {
		var err error
		if hash, err = family.ParseHashID(s.Hash); err != nil {
			return fmt.Errorf("bloomery.Config: %w", err)
		}
	}
	c.Spec, c.Needs, c.Capacity, c.FPRChosen, c.MaxFPR = s.Spec, s.Needs, s.Capacity, s.FPRChosen, s.MaxFPR
	c.Keys, c.MaxBytes, c.Dir, c.Shards, c.Seed, c.Hash = s.Keys, s.MaxBytes, s.Dir, s.Shards, s.Seed, hash
	c.Workers, c.Memory, c.TempDir, c.Concurrent, c.Shrink = s.Workers, s.Memory, s.TempDir, s.Concurrent, s.Shrink
	return nil
}
