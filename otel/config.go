package otel

import (
	"errors"
	"fmt"
	"time"

	"github.com/bloomery/bloomery/window"
)

// Config is the configuration of a processor.
type Config struct {
	// TTL is the least time for which a key is remembered, at least a millisecond. A key is forgotten after at most
	// 8/7·TTL. Required.
	TTL time.Duration `mapstructure:"ttl"`
	// Keys is the largest number of different keys that arrive within TTL. It determines the memory: 2.2 bytes per key
	// at a rate of 0.1%. If more arrive, the oldest are forgotten early. Required.
	Keys uint64 `mapstructure:"keys"`
	// Key lists what makes up the key of a record: attributes["NAME"], resource.attributes["NAME"], trace_id, span_id,
	// and in logs body. A record that misses one of them, or where it is empty, passes. Required.
	Key []string `mapstructure:"key"`
	// FPR is the false-positive rate: the share of the records with new keys that are dropped, 1e-12 to 0.5. Default:
	// 0.001.
	FPR float64 `mapstructure:"fpr"`
	// Refresh makes a repeat renew its key: TTL then counts from the last record with the key, not from the first.
	Refresh bool `mapstructure:"refresh"`
	// State is a folder that remembers the keys when the Collector restarts. It is made if it does not exist. Each
	// pipeline needs a processor with a folder of its own. Default: none.
	State string `mapstructure:"state"`
	// SaveInterval is the time between two saves of a key in State, at least a millisecond. Default: 30s.
	SaveInterval time.Duration `mapstructure:"save_interval"`
}

// Limits of Config.
const (
	leastTime   = time.Millisecond
	mostKeys    = 1 << 36
	lowestRate  = 1e-12
	highestRate = 0.5
)

func defaultConfig() *Config {
	return &Config{FPR: window.DefaultFPR, SaveInterval: 30 * time.Second}
}

// Validate returns an error that names each field that is missing or out of its range.
func (c *Config) Validate() error {
	var errs []error
	wrong := func(bad bool, format string, values ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, values...))
		}
	}

	wrong(c.TTL == 0, "ttl is missing: the time after which a key is new again, such as 24h")
	wrong(c.TTL != 0 && c.TTL < leastTime, "ttl %v: want %v or more", c.TTL, leastTime)
	wrong(c.Keys == 0, "keys is missing: the number of different keys that arrive within ttl, such as 1000000")
	wrong(c.Keys > mostKeys, "keys %d: want at most %d", c.Keys, uint64(mostKeys))
	wrong(!(c.FPR >= lowestRate && c.FPR <= highestRate), // the negation also refuses NaN
		"fpr %g: want %g to %g, such as 0.001", c.FPR, lowestRate, highestRate)
	wrong(c.SaveInterval < leastTime, "save_interval %v: want %v or more", c.SaveInterval, leastTime)
	if _, err := newKeyReader(c.Key); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
