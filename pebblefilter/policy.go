// Package pebblefilter connects Bloomery's filters to Pebble v2: a filter policy for the tables of a database.
//
//	p, err := pebblefilter.New("blockpartitioned(bits_per_key=10,effort=fast)")
//	opts := &pebble.Options{}
//	pebblefilter.Use(opts, p)
//	db, err := pebble.Open(dir, opts)
//
// Package tablefilter defines the format of a filter block and does the work. Module pebblefilter/next contains the
// policy for the interfaces of Pebble's main branch.
package pebblefilter

import (
	"github.com/cockroachdb/pebble/v2"

	"github.com/bloomery/bloomery/tablefilter"
)

// Policy is a pebble.FilterPolicy: it builds the filter of each new table and reads the filters of all tables that were
// written by any Policy. Its fields and its Name are the fields and the Name of tablefilter.Policy.
type Policy struct{ tablefilter.Policy }

// New returns the Policy of a spec, such as "blockpartitioned(bits_per_key=10,effort=fast)". See tablefilter.New.
func New(spec string) (*Policy, error) { return wrapPolicy(tablefilter.New(spec)) }

// Parse returns the Policy with this name, which Pebble stores in tables and in its OPTIONS file. See
// tablefilter.Parse.
func Parse(name string) (*Policy, error) { return wrapPolicy(tablefilter.Parse(name)) }

// wrapPolicy returns a Policy of Pebble for a Policy of tablefilter.
func wrapPolicy(p *tablefilter.Policy, err error) (*Policy, error) {
	if err != nil {
		return nil, err
	}
	return &Policy{*p}, nil
}

// MayContain reports whether the key may be in the table of a filter block. See tablefilter.MayContain.
func (p *Policy) MayContain(_ pebble.FilterType, block, key []byte) bool {
	return tablefilter.MayContain(block, key)
}

// NewWriter returns a writer of a filter block.
func (p *Policy) NewWriter(pebble.FilterType) pebble.FilterWriter {
	return &writer{p.Policy.NewWriter()}
}

type writer struct{ *tablefilter.Writer }

func (w *writer) AddKey(key []byte) { w.Add(key) }

// Use makes all levels of a database build their filters by p, and registers p and the earlier policies as decoders.
// Pebble finds the decoder of a table by the name of the policy that wrote it. A table whose policy is not registered
// is read without its filter until a compaction rewrites it.
func Use(o *pebble.Options, p *Policy, earlier ...*Policy) {
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = p
	}
	if o.Filters == nil {
		o.Filters = map[string]pebble.FilterPolicy{}
	}
	// A database that was written with an earlier policy has tables with that policy's name.
	for _, d := range append(earlier, p) {
		o.Filters[d.Name()] = d
	}
}
