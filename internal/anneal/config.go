package anneal

import (
	"errors"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Common is what the Config of each family with a search has.
type Common struct {
	Keys    uint64
	Size    family.Sizing
	Later   uint64
	K       int
	Effort  filter.Effort
	Workers int
	Table   uint64
	From    bool // an earlier filter is given
	Empty   bool // and is the zero Filter
}

// Limits are those of a family with a search.
type Limits struct {
	Family      string
	Least, Most int // bits a key; Least is 0 if Common.Size may have any
	MaxK        int
	Target      bool // it takes a target
}

// Check returns an error wrapping filter.ErrConfig if c is wrong for any number of keys.
func (l Limits) Check(c Common) error {
	err := errors.Join(c.Size.Check(), Check(c.Effort, c.From), CheckTable(c.Table))
	if err != nil {
		return err
	}
	switch per := c.Size.BitsPerKey; {
	case c.Empty:
		return family.Invalid("from", "an empty Filter", "want one that was built or read")
	case c.K < 0 || c.K > l.MaxK:
		return family.Invalid("k", c.K, "want 1 to %d", l.MaxK)
	case c.Workers < 0:
		return family.Invalid("workers", c.Workers, "want 0 or more")
	case per > float64(l.Most) && l.Least == 0:
		return family.Invalid("bits_per_key", per, "want at most %d", l.Most)
	case per > float64(l.Most) || per != 0 && per < float64(l.Least):
		return family.Invalid("bits_per_key", per, "want %d to %d", l.Least, l.Most)
	case c.Effort.Target != 0 && !l.Target:
		return family.Invalid("target", c.Effort.Target, "%s takes no target; give fpr", l.Family)
	}
	return nil
}
