package gather

import "github.com/bloomery/bloomery/filter"

// Intake is the part of a builder that takes keys: it makes a family's Builder a filter.Searcher and a filter.Spiller.
type Intake struct {
	Keys     *Keys
	Progress func(filter.Progress) // or nil
	config   Config
}

// NewIntake returns one without keys.
func NewIntake(c Config) Intake { return Intake{Keys: New(c), config: c} }

// Limit has the builder hold at most that many bytes of keys in memory, and the others in a file in dir; see
// filter.Spiller. It comes before the first key.
func (b *Intake) Limit(memory int64, dir string) {
	b.config.Memory, b.config.Dir = memory, dir
	b.Keys = New(b.config)
}

// AddMany takes keys. It fails where those beyond the memory limit cannot be written.
func (b *Intake) AddMany(hs []filter.Hash) error { return b.Keys.AddMany(hs) }

// OnProgress has Build call f some ten times a second, from one goroutine. After a search that missed a rate by a little, it
// begins again from 0.
func (b *Intake) OnProgress(f func(filter.Progress)) { b.Progress = f }

// Close drops the keys of a builder that will not Build.
func (b *Intake) Close() error { return b.Keys.Close() }
