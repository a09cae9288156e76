package one

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
)

// none stands for the filter of a Set without one.
type none struct {
	err error // why its answers are unknown; nil for the zero Set, which contains nothing
}

// Nothing returns a Set without a filter, of the hasher of later ones. If err is not nil, its answers are unknown: Contains
// is true.
func Nothing(h filter.Hasher, err error) *Set {
	s := new(Set)
	s.vanish(h, err)
	return s
}

// vanish makes s a Set without a filter.
func (s *Set) vanish(h filter.Hasher, err error) {
	s.become(&none{err}, h)
	s.takes, s.stored = engine.Nothing, engine.Stored{}
	if err != nil {
		s.failed(err)
	}
}

func (n *none) Has(filter.Hash) bool { return n.err != nil }
func (n *none) Info() filter.Info    { return filter.Info{} }

// why returns the error of methods that need a filter.
func (n *none) why() error {
	if n.err != nil {
		return n.err
	}
	return engine.ErrEmpty
}
