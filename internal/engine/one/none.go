package one

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/family"
)

// None is the engine of a Set without a filter. It contains nothing, or its answers are unknown, so that Contains is
// true.
type None struct {
	hasher filter.Hasher
	err    error // why the answers are unknown, or nil
	chosen float64
	moves  uint32
}

var _ engine.Engine = (*None)(nil)

// Nothing returns a None with the hasher of a later filter. err says why its answers are unknown; it may be nil.
func Nothing(h filter.Hasher, err error) *None { return &None{hasher: h, err: err} }

// why returns the error of methods that need a filter.
func (n *None) why() error {
	if n.err != nil {
		return n.err
	}
	return engine.ErrEmpty
}

// with is why, or an error if the other set is sharded.
func (n *None) with(e engine.Engine) error {
	if _, err := other(e); err == engine.ErrOneSharded {
		return err
	}
	return n.why()
}

func (n *None) Contains(filter.Hash, []byte) bool        { return n.err != nil }
func (n *None) At(filter.Hash, bool) (engine.One, error) { return nil, n.why() }
func (n *None) Reset() error                             { return n.why() }
func (n *None) Take(engine.Engine) error                 { return n.why() }
func (n *None) Except(*except.Cascade) error             { return n.why() }

func (n *None) Combine(e engine.Engine, _ family.Ability) error { return n.with(e) }

func (n *None) ContainsMany(dst []bool, _ engine.Keys) { n.HasMany(dst, nil) }

func (n *None) HasMany(dst []bool, _ []filter.Hash) {
	for i := range dst {
		dst[i] = n.err != nil
	}
}

func (n *None) AddMany(keys engine.Keys) error {
	if keys.Len() == 0 {
		return nil
	}
	return fmt.Errorf("key 0 of %d: %w", keys.Len(), n.why())
}

func (n *None) Facts() engine.Facts {
	// Shared, since changes that fail lose no key: Close of a Set for many writers must not make one of one writer of it.
	return engine.Facts{Hasher: n.hasher, Shared: true, Chosen: &n.chosen, Moves: &n.moves}
}

func (n *None) Spec() filter.Spec          { return filter.Spec{} }
func (n *None) Info() filter.Info          { return filter.Info{FPRChosen: n.chosen} }
func (n *None) Len() uint64                { return 0 }
func (n *None) EstimateKeys() float64      { return 0 }
func (n *None) Equal(e engine.Engine) bool { _, ok := e.(*None); return ok }
func (n *None) Lacks(family.Ability) error { return n.why() }

func (n *None) EstimateInterval() (e engine.Estimate, err error) { return e, n.why() }

func (n *None) EstimateOverlap(e engine.Engine) (v engine.Overlap, err error) { return v, n.with(e) }

func (n *None) Parts() engine.Parts                       { return nil }
func (n *None) Copy(bool) (engine.Engine, error)          { return Nothing(filter.Hasher{}, nil), n.err }
func (n *None) Form(bool) (engine.Engine, error)          { return nil, n.why() }
func (n *None) Encode() (*container.File, error)          { return nil, n.why() }
func (n *None) Guarded(f func() error) error              { return f() }
func (n *None) Save(context.Context, string) error        { return n.why() }
func (n *None) Check(context.Context, func(uint64)) error { return n.err }
func (n *None) Err() error                                { return n.err }
func (n *None) Close() error                              { return nil }

func (n *None) Replace(context.Context, string, fs.FileInfo, engine.Engine) error { return n.why() }
