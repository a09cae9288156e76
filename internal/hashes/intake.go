package hashes

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Intake is the part of a builder that takes keys. A Builder that embeds it is a family.Gatherer.
type Intake struct {
	family.BuildOptions
	Keys   *Sorted
	config Config
}

// NewIntake returns an Intake without keys.
func NewIntake(c Config) Intake {
	o := family.BuildOptions{Memory: c.Memory, Dir: c.Dir, Workers: c.Workers}
	return Intake{BuildOptions: o, Keys: NewSorted(c), config: c}
}

// SetOptions implements family.Gatherer. It drops keys that were added before.
func (b *Intake) SetOptions(o family.BuildOptions) {
	o.Workers = max(o.Workers, 0)
	b.BuildOptions = o
	b.config.Memory, b.config.Dir, b.config.Workers = o.Memory, o.Dir, o.Workers
	b.Keys = NewSorted(b.config)
}

// AddMany adds keys and keeps no reference to hs. It may be called from several goroutines at once. It returns an
// error if keys beyond the memory limit cannot be written.
func (b *Intake) AddMany(hs []filter.Hash) error { return b.Keys.AddMany(hs) }

// Close drops the keys and removes their file. Build calls it. Call it if you do not call Build.
func (b *Intake) Close() error { return b.Keys.Close() }
