package redisbloom

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Traits are what the family can do and which hash functions it takes. Package families lists them.
var Traits = family.Traits{
	Name: Family,
	Hash: filter.Murmur64A,
	Can:  family.CanStartEmpty | family.CanCapacity | family.CanSpill | family.CanCountItself,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary: "chain of filters of RedisBloom",
		Default: "a false-positive rate of 1%", DefaultFPR: 0.01, Sizes: []string{"links"},
		Grows: grows,
		Parameters: []family.Parameter{
			{Name: "capacity", Value: "KEYS", Help: "capacity of the first filter of the chain"},
			{Name: "expansion", Value: "N", Help: "growth factor of the chain; 0: no growth"},
		},
	}
}

// grows returns the default capacity of a chain, the same as in RedisBloom. Chains that do not double have a link for
// each capacity that was filled, and each link adds to the rate.
func grows(s filter.Spec) uint64 {
	if expansion := family.Reader(s).Text("expansion", "2"); expansion == "0" || expansion == "1" {
		return 0
	}
	return 100
}

// Forecast returns the size in bits of the first link of the chain that New makes, and its predicted false-positive
// rate, in [0, 1], after keys distinct keys were added, at most the capacity of that link. It does not allocate a
// filter. It returns the errors of New.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	l, err := c.first()
	if err != nil {
		return 0, 0, err
	}
	return l.Bits, l.double(1).FPR(min(keys, l.Capacity)), nil
}

// Like returns a Builder of a chain that begins with the first link of f and grows like f.
func (f *Filter) Like() (family.Builder, error) {
	return family.As[family.Builder](NewBuilder(Config{From: f}))
}
