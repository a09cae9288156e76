// Package next connects Bloomery's filters to the interfaces of Pebble's main branch. There, Pebble finds the decoder
// of a filter by a family, not by the name of a policy, so that one decoder reads the tables of every policy.
//
//	p, err := tablefilter.New("blockpartitioned(bits_per_key=10,effort=fast)")
//	opts := &pebble.Options{}
//	next.Use(opts, p)
//	db, err := pebble.Open(dir, opts)
//
// The interfaces may change until Pebble releases them. Package pebblefilter contains the policy for Pebble v2.
package next

import (
	"slices"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/sstable/tablefilters"
	"github.com/cockroachdb/pebble/sstable/tablefilters/bloom"

	"github.com/bloomery/bloomery/tablefilter"
)

// Family names the filters of every policy of this package in tables.
const Family = "bloomery"

// Decoder reads the filters of every policy of this package.
var Decoder = decoderLike(bloom.Decoder)

// Policy returns a policy of Pebble that builds the filters of new tables by p. Its Name is the Name of p.
func Policy(p *tablefilter.Policy) pebble.TableFilterPolicy {
	return policyLike(p, bloom.FilterPolicy(10), bloom.Decoder)
}

// Use makes all levels of a database build their filters by p, and adds Decoder to the decoders of o, or to Pebble's
// own decoders if o has none.
func Use(o *pebble.Options, p *tablefilter.Policy) {
	policy := Policy(p)
	for i := range o.Levels {
		o.Levels[i].TableFilterPolicy = func() pebble.TableFilterPolicy { return policy }
	}
	if o.TableFilterDecoders == nil {
		o.TableFilterDecoders = tablefilters.Decoders
	}
	o.TableFilterDecoders = append(slices.Clone(o.TableFilterDecoders), Decoder)
}

// Two types in Pebble's interfaces are internal: W, the filter writer, and F, the family, a string. Values of Pebble
// let the compiler infer them.

func decoderLike[F ~string](interface{ Family() F }) pebble.TableFilterDecoder {
	return any(decoder[F]{}).(pebble.TableFilterDecoder)
}

func policyLike[W any, F ~string](
	p *tablefilter.Policy, _ interface{ NewWriter() W }, _ interface{ Family() F },
) pebble.TableFilterPolicy {
	return any(policy[W, F]{p}).(pebble.TableFilterPolicy)
}

type decoder[F ~string] struct{}

func (decoder[F]) Family() F { return Family }

func (decoder[F]) MayContain(block, key []byte) bool { return tablefilter.MayContain(block, key) }

type policy[W any, F ~string] struct{ p *tablefilter.Policy }

func (p policy[W, F]) Name() string { return p.p.Name() }

func (p policy[W, F]) NewWriter() W { return any(&writer[F]{p.p.NewWriter()}).(W) }

type writer[F ~string] struct{ w *tablefilter.Writer }

func (w *writer[F]) AddKey(key []byte) { w.w.Add(key) }

// Finish returns the filter block, or false if the block would have no filter.
func (w *writer[F]) Finish() ([]byte, F, bool) {
	block := w.w.Finish(nil)
	return block, Family, tablefilter.HasFilter(block)
}
