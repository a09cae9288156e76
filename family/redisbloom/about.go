package redisbloom

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/probe"
)

// About describes the family. Package families lists it.
var About = filter.About{
	Hash: filter.Murmur64A,
	Name: Family, Summary: "chain of filters of RedisBloom",
	Can:     filter.CanAdd | filter.CanStartEmpty | filter.CanCapacity | filter.CanSpill,
	Default: "a false-positive rate of 1%",
	Parameters: []filter.Parameter{
		{Name: "capacity", Value: "KEYS", Help: "keys of the first filter of the chain"},
		{Name: "expansion", Value: "N", Help: "growth factor of the chain; 0: it does not grow"},
	},
}

// Check returns what is wrong with the Config whatever the number of keys. It allocates no filter. Errors wrap
// filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Check() error {
	_, err := c.first()
	return err
}

// Forecast returns the size in bits of the filter that the Config makes for its Keys, and the predicted false-positive
// rate in [0, 1] once keys distinct keys are in it. It allocates no filter. Errors are those of New.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	l, err := c.first()
	if err != nil {
		return 0, 0, err
	}
	return l.Bits, probe.FPR(min(keys, l.Capacity), l.Bits, l.K), nil
}
