package gather

import "github.com/bloomery/bloomery/filter"

// Intake is the part of a builder that takes keys. A Builder that embeds it is a filter.Searcher, a filter.Spiller and
// a filter.Parallel.
type Intake struct {
	Keys     *Keys
	Progress func(filter.Progress) // or nil
	Workers  int                   // goroutines of Build, 0 for GOMAXPROCS
	config   Config
}

// NewIntake returns an Intake without keys.
func NewIntake(c Config) Intake { return Intake{Keys: New(c), Workers: c.Workers, config: c} }

// Limit sets the maximum size in bytes of the keys in memory, 0 for no limit. The builder keeps further keys in a
// temporary file in dir, or in os.TempDir() if dir is empty. See filter.Spiller. Call it before the first key.
func (b *Intake) Limit(memory int64, dir string) {
	b.config.Memory, b.config.Dir = memory, dir
	b.Keys = New(b.config)
}

// SetWorkers sets how many goroutines Build uses at once, 0 for GOMAXPROCS. The filter does not depend on it, except
// after a search by time. Call it before the first key.
func (b *Intake) SetWorkers(n int) {
	b.config.Workers, b.Workers = max(n, 0), max(n, 0)
	b.Keys = New(b.config)
}

// AddMany adds keys and keeps no reference to hs. It may be called from several goroutines at once. It returns an
// error if keys beyond the memory limit cannot be written.
func (b *Intake) AddMany(hs []filter.Hash) error { return b.Keys.AddMany(hs) }

// OnProgress makes Build call f about ten times a second, from one goroutine. If a search misses its rate and a second
// one follows, the progress begins again at 0.
func (b *Intake) OnProgress(f func(filter.Progress)) { b.Progress = f }

// Close drops the keys and removes their file. Build calls it. Call it if you do not call Build.
func (b *Intake) Close() error { return b.Keys.Close() }
