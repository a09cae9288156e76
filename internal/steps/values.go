package steps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/keyio"
	"github.com/bloomery/bloomery/internal/parallel"
)

// valueBits returns the number of bits of the values that come with the keys, or 0 if there are none.
func (p *Plan) valueBits() int {
	f, _ := families.ByName(p.Spec.Family()) // else the zero Family, which has none
	if !f.NeedsValues(p.Spec) {
		return 0
	}
	return f.BuildValueBits(p.Spec)
}

// checkFamily returns an error for a filter whose values can change: it needs all bits of the hash of a key, but a run
// file with values keeps only 96 of them.
func (p *Plan) checkFamily() error {
	f, err := families.ByName(p.Spec.Family())
	if err == nil && f.BuildValueBits(p.Spec) > 0 && !f.NeedsValues(p.Spec) {
		err = &filter.ConfigError{Field: "value_bits", Value: p.Spec, Reason: "a distributed build takes values of " +
			"family ribbon only; build these in one process (bloomery build --shards, bloomery.Build with Config.Sharding.Dir)"}
	}
	return err
}

// columns reports whether the format is one of keyio with rows.
func (k KeyFormat) columns() bool { return keyio.Format(k.Name).HasColumns() }

// withValues returns k with its defaults for keys with values. own is true if the format is not a format of keyio.
func (k KeyFormat) withValues(own bool) KeyFormat {
	switch {
	case own:
	case k.columns() && k.ValueColumn == "" && k.Name != string(keyio.JSONL):
		k.ValueColumn = "2"
	case !k.columns() && k.Separator == "":
		k.Separator = string(rune(keyio.DefaultSeparator))
	}
	return k
}

// checkValues returns an error wrapping filter.ErrConfig if k cannot be the format of keys with values of bits bits,
// or, if bits is 0, of keys without values.
func (k KeyFormat) checkValues(bits int, own bool) error {
	bad := func(field string, value any, reason string) error {
		return &filter.ConfigError{Field: field, Value: value, Reason: reason}
	}
	switch {
	case bits == 0 && k.ValueColumn != "":
		return bad("value_column", k.ValueColumn, "the keys of this filter have no values at its build")
	case bits == 0 && k.Separator != "":
		return bad("separator", k.Separator, "the keys of this filter have no values at its build")
	case bits > 0 && k.ValueColumn != "" && k.ValueColumn == cmp.Or(k.Column, "1"):
		return bad("value_column", k.ValueColumn, "it has the keys; name the one with the values")
	case bits == 0 || own:
		return nil
	case k.columns() && k.ValueColumn == "":
		return bad("value_column", "", "name the member with the values")
	case k.columns() && k.Separator != "":
		return bad("separator", k.Separator, "columns have none; use the delimiter")
	case !k.columns() && k.ValueColumn != "":
		return bad("value_column", k.ValueColumn, `lines have no columns; set the format to "csv", "tsv" or "fields"`)
	case !k.columns() && (len(k.Separator) != 1 || k.Separator == "\n" || k.Separator[0] >= 0x80):
		return bad("separator", k.Separator, "want one byte below 0x80, and no line end")
	}
	return nil
}

// values returns the options to read values in a format of keyio.
func (k KeyFormat) values(bits int) keyio.Values {
	if k.columns() {
		return keyio.Values{Bits: bits, Column: true}
	}
	return keyio.Values{Bits: bits, Separator: k.Separator[0]}
}

// checkBatch returns an error unless a batch has a value of at most the given number of bits for each key.
func (p *Plan) checkBatch(b *keyio.Batch, bits int) error {
	if len(b.Values) != len(b.Keys) {
		return fmt.Errorf(
			"%s: the format %q gives %d values for %d keys", b.Input, p.Keys.Name, len(b.Values), len(b.Keys))
	}
	for i, v := range b.Values {
		if v>>bits != 0 {
			return fmt.Errorf("%s: key %.80q: value %d is too large: this filter has room for up to %d",
				b.Input, b.Keys[i], v, uint64(1)<<bits-1)
		}
	}
	return nil
}

// hashAdder returns the method of a Builder that takes the hashes in a run file.
func (p *Plan) hashAdder(b *bloomery.Builder) func([]filter.Hash) error {
	if p.valueBits() == 0 {
		return b.AddHashes
	}
	return func(hs []filter.Hash) error { return b.AddHashValues(hs, hashes.ValuesOf(hs)) }
}

// ConflictError is the error of Build if a key has two values. It wraps filter.ErrValues.
type ConflictError struct {
	Ranges []int    // the first range with each of the two values of the key
	Inputs []string // names of their objects, in order

	both *family.ValueError
}

func (e *ConflictError) Error() string {
	return e.both.Error() + "; see " + firstFew(e.Inputs)
}

func (e *ConflictError) Unwrap() error { return e.both }

// locate returns a *ConflictError in place of a *family.ValueError of the shard with these segments. It reads them
// again.
func (p *Plan) locate(ctx context.Context, out Source, all []segment, err error, o Options) error {
	var both *family.ValueError
	if !errors.As(err, &both) {
		return err
	}

	first := [2]int{len(p.Ranges), len(p.Ranges)} // ranges that have the key with each value
	var mu sync.Mutex
	failed := parallel.Do(ctx, len(all), o.parallelReads(), func(ctx context.Context, i int) error {
		g := all[i]
		return p.readSegment(ctx, out, g, func(hs []filter.Hash) error {
			for _, h := range hs {
				for j, value := range both.Values {
					if both.Of(h) && h == hashes.WithValue(h, value) {
						mu.Lock()
						first[j] = min(first[j], int(g.Range))
						mu.Unlock()
					}
				}
			}
			return nil
		})
	})
	e := &ConflictError{both: both}
	for _, i := range slices.Compact([]int{min(first[0], first[1]), max(first[0], first[1])}) {
		if failed != nil || i == len(p.Ranges) {
			return err
		}
		e.Ranges = append(e.Ranges, i)
		objects, _ := p.objectsOf(p.Ranges[i])
		for _, o := range objects {
			e.Inputs = append(e.Inputs, o.Name)
		}
	}
	e.Inputs = slices.Compact(e.Inputs)
	return e
}

// NameConflict adds the key to a *ConflictError of Build, which has only its hash, keeps only the Inputs that have the
// key, and returns the error. It reads the ranges again for this; if that fails, the error stays unchanged. It returns
// other errors unchanged.
func (p *Plan) NameConflict(ctx context.Context, in Source, err error, o Options) error {
	var e *ConflictError
	h, failed := p.hasher(o.Secret)
	if !errors.As(err, &e) || failed != nil {
		return err
	}

	var mu sync.Mutex
	key, inputs := "", []string{}
	for n, i := range e.Ranges {
		each := o
		each.Progress = func(done float64) { o.progress((float64(n) + done) / float64(len(e.Ranges))) }
		failed := p.readRange(ctx, in, i, each, func(b *keyio.Batch) error {
			for _, k := range b.Keys {
				if e.both.Of(h.Sum(k)) {
					mu.Lock()
					key, inputs = string(k), append(inputs, b.Input)
					mu.Unlock()
				}
			}
			return nil
		}, nil)
		if failed != nil {
			return e
		}
	}
	if len(inputs) > 0 {
		slices.Sort(inputs)
		e.both.Key, e.Inputs = key, slices.Compact(inputs)
	}
	return e
}
