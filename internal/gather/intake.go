package gather

import "github.com/bloomery/bloomery/filter"

// Intake is the part of a family's Builder that takes keys. It implements filter.Searcher and filter.Spiller.
type Intake struct {
	Keys     *Keys
	Progress func(filter.Progress) // or nil
	config   Config
}

// NewIntake returns an empty Intake.
func NewIntake(c Config) Intake { return Intake{Keys: New(c), config: c} }

// Limit keeps at most memory bytes of keys in memory and writes the rest to a file in dir; see filter.Spiller. It
// must be called before the first AddMany.
func (b *Intake) Limit(memory int64, dir string) {
	b.config.Memory, b.config.Dir = memory, dir
	b.Keys = New(b.config)
}

// AddMany adds keys. It fails if keys beyond the memory limit cannot be written.
func (b *Intake) AddMany(hs []filter.Hash) error { return b.Keys.AddMany(hs) }

// OnProgress makes Build call f about ten times a second, from one goroutine. If a search slightly misses its rate
// and is repeated, progress starts again from 0.
func (b *Intake) OnProgress(f func(filter.Progress)) { b.Progress = f }

// Close releases the keys. Call it if Build is not called.
func (b *Intake) Close() error { return b.Keys.Close() }
