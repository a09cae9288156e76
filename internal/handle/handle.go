// Package handle gives the packages of this module what package bloomery does not promise to others: the Engine that a
// Set stands on, a Set of an Engine, and the Config of a shard. Package bloomery fills in the functions; their
// arguments and results of type any are its own types, which this package cannot name.
package handle

import (
	"context"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/intake"
)

// Hooks are the functions of package bloomery. They are methods, so that the linker drops those that a program does not
// call: a program that only asks has no builder.
type Hooks interface {
	NewSet(e engine.Engine) any     // a *Set that stands on e
	EngineOf(set any) engine.Engine // of a *Set or *Locked; nil for a nil *Set
	SpecOf(builder any) filter.Spec // of a *Builder
	IntakeOf(builder any) any       // the *intake.Intake of a *Builder: its type would be linked everywhere
	// ForShard returns Config.forShard of a Config.
	ForShard(ctx context.Context, config any) (each any, err error)
	OptionsOf(all any) engine.Options // of a []Option
	// WithUpdater returns an Option of OpenLive.
	WithUpdater(update func(context.Context, Updated)) any
}

// Bloomery is set by package bloomery before any other package can have a Set.
var Bloomery Hooks

// Engine returns the Engine of a *bloomery.Set or *bloomery.Locked. Whoever replaces its filter must not use the Set
// meanwhile.
func Engine(set any) engine.Engine { return Bloomery.EngineOf(set) }

// SetOf returns a Set that stands on an Engine. S is bloomery.Set.
func SetOf[S any](e engine.Engine) *S { return Bloomery.NewSet(e).(*S) }

// OptionsOf returns what a []bloomery.Option sets.
func OptionsOf[O any](all []O) engine.Options { return Bloomery.OptionsOf(all) }

// NewSet returns a Set of a filter, which it takes over, and the hasher of its keys. S is bloomery.Set.
func NewSet[S any](f family.Filter, h filter.Hasher) *S { return SetOf[S](one.New(f, h)) }

// NewForm is NewSet, with the form for many writers if concurrent is true.
func NewForm[S any](f family.Filter, h filter.Hasher, concurrent bool) (*S, error) {
	e, err := one.NewForm(f, h, concurrent)
	if err != nil {
		return nil, err
	}
	return SetOf[S](e), nil
}

// Filter returns the filter of a *bloomery.Set, for methods that only its family has. It is nil if there is none or
// several. Do not change the filter of a Set that was read from a file, and read that of a mapped one in Guarded.
func Filter(set any) family.Filter { return Engine(set).Facts().Filter }

// Updated is a Live to whoever replaces its file.
type Updated interface {
	// Reload checks the file now.
	Reload(ctx context.Context) error
	// Report makes Err of the Live return err, unless the file itself has an error, until the next Report.
	Report(err error)
}

// WithUpdater returns an option of OpenLive: it calls update in a goroutine of its own. update replaces the file from
// time to time, for example by a download, calls Reload, and passes its errors to Report. It must return soon after its
// context ends, at Close, which waits for it and which it must not call. O is bloomery.Option.
func WithUpdater[O any](update func(context.Context, Updated)) O {
	return Bloomery.WithUpdater(update).(O)
}

// SpecOf returns the Spec of the filter that a *bloomery.Builder builds, or of each shard. It is zero until the planner
// has chosen.
func SpecOf(builder any) filter.Spec { return Bloomery.SpecOf(builder) }

// AddValueHashes adds hashed keys with their values to a *bloomery.Builder. It does not keep the slices.
func AddValueHashes(builder any, hs []filter.Hash, values []uint64) error {
	return Bloomery.IntakeOf(builder).(*intake.Intake).AddValueHashes(hs, values)
}

// Shard returns the Set of one shard of a sharded Set, which it loads on first use. Do not change or close it. The
// error is a *shard.Error if the shard cannot be read. S is bloomery.Set.
func Shard[S any](set *S, i int) (*S, error) {
	e, err := Engine(set).Parts().Shard(i)
	if err != nil {
		return nil, err
	}
	return SetOf[S](e), nil
}

// Full returns the counterpart of Set.Trimmed: what is saved in the full form. For a Set that is not sharded that is
// the Set itself. S is bloomery.Set.
func Full[S any](set *S) (*S, error) {
	e := Engine(set)
	full, err := e.Form(false)
	if err != nil || full == e {
		return set, err
	}
	return SetOf[S](full), nil
}

// ForShard returns the Config of each shard of a set with Config.Shards shards. C is bloomery.Config.
func ForShard[C any](ctx context.Context, c C) (C, error) {
	each, err := Bloomery.ForShard(ctx, c)
	return each.(C), err
}
