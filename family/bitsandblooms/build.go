package bitsandblooms

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// Config says what filter to make. Fields that are 0 have the default that stands with them.
type Config struct {
	Keys   uint64        // how many distinct keys will be added; needed unless M or Size.Bytes is set
	Size   filter.Sizing // default: FPR = probe.DefaultFPR
	M      uint64        // the number of bits itself, instead of Size
	Length uint64        // of the bit set, at least M; default: M
	K      int           // probes a key, 1 to MaxK; default: the best for Keys and the bits
}

// ConfigFromSpec reads bitsandblooms(bits_per_key=, fpr=, bytes=, capacity=, m=, length=, k=). The size is for capacity keys, if
// that is more than keys.
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := s.Reader()
	c := Config{Keys: max(keys, r.Uint("capacity")), Size: filter.ReadSizing(r), M: r.Uint("m"), Length: r.Uint("length")}
	k := r.Uint("k")
	if err := r.Err(); err != nil {
		return Config{}, err
	}
	switch {
	case k > MaxK || s.Has("k") && k == 0:
		return Config{}, &filter.ConfigError{Field: "k", Value: k, Reason: fmt.Sprintf("want 1 to %d", MaxK)}
	case s.Has("m") && c.M == 0:
		return Config{}, &filter.ConfigError{Field: "m", Value: 0, Reason: "want one or more"}
	case s.Has("length") && c.Length == 0:
		return Config{}, &filter.ConfigError{Field: "length", Value: 0, Reason: "want m or more"}
	}
	c.K = int(k)
	return c, nil
}

// Geometry returns the bits, the length of the bit set and the probes that New takes for this Config, without allocating.
// Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Geometry() (m, length uint64, k int, err error) {
	m, k, err = probe.Shape{Keys: c.Keys, Size: c.Size, M: c.M, K: c.K, MaxK: MaxK, Width: 1}.Resolve()
	if err != nil {
		return 0, 0, 0, err
	}
	switch {
	case c.Length == 0:
		return m, m, k, nil
	case c.Length < m:
		return 0, 0, 0, &filter.ConfigError{Field: "length", Value: c.Length, Reason: "want m or more"}
	case c.Length >= 1<<62:
		return 0, 0, 0, fmt.Errorf("length=%d: %w", c.Length, filter.ErrTooLarge)
	}
	return m, c.Length, k, nil
}

// New returns an empty filter. Keys come by AddKey.
func New(c Config) (*Filter, error) {
	m, length, k, err := c.Geometry()
	if err != nil {
		return nil, err
	}
	words, err := bitvec.Alloc((length + 63) / 64)
	if err != nil {
		return nil, err
	}
	return &Filter{words: words, m: m, length: length, k: k}, nil
}
