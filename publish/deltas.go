package publish

import (
	"bytes"
	"context"
	"fmt"

	"github.com/bloomery/bloomery/delta"
	"github.com/bloomery/bloomery/shard"
)

// deltas stores a delta from each of the older releases to c, where that is smaller than c, and sets Step.Delta. A
// release with the content of c needs none.
// An old file that cannot be used costs its delta, with a warning, not the release.
func (p *publisher) deltas(ctx context.Context, older History, c *content) error {
	same := map[Hash]*Object{c.SHA256: nil} // releases may have the same filter
	for i := range older {
		step := &older[i]
		known, ok := same[step.SHA256]
		if !ok {
			d, err := p.store.diff(ctx, Object{step.SHA256, step.Bytes}, c)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				p.warn(fmt.Errorf("there is no delta from release %d: %w", step.Number, err))
			case uint64(len(d)) < c.total:
				o, err := p.store.put(ctx, d)
				if err != nil {
					return err
				}
				known = &o
			}
			same[step.SHA256] = known
		}
		step.Delta = known
		if p.o.Progress != nil {
			p.o.Progress(i+1, len(older))
		}
	}
	return nil
}

// diff returns the delta from an older filter to c.
func (s *objects) diff(ctx context.Context, old Object, c *content) ([]byte, error) {
	was, err := s.read(old)
	if err != nil {
		return nil, err
	}
	if c.kind != Set {
		return delta.Diff(ctx, was, c.file)
	}
	m, err := shard.ReadManifest(bytes.NewReader(was))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrObject, err)
	}
	return delta.DiffSet(ctx, s.set(was, m), s.set(c.file, c.manifest))
}

// set returns a sharded set of objects.
func (s *objects) set(manifest []byte, m *shard.Manifest) delta.Set {
	return delta.Set{Manifest: manifest, Shard: func(i int) ([]byte, error) {
		return s.read(Object{m.Shards[i].SHA256, m.Shards[i].Bytes})
	}}
}

// named returns the objects that a release and its history name, with the shards of their manifests. r may be nil.
// Manifests that cannot be read name nothing.
func (s *objects) named(r *Release, h History) map[Hash]bool {
	names := map[Hash]bool{}
	if r == nil {
		return names
	}
	add := func(o *Object) {
		if o != nil {
			names[o.SHA256] = true
		}
	}
	content := func(o Object) {
		add(&o)
		if r.Kind != Set {
			return
		}
		b, err := s.read(o)
		if err != nil {
			return
		}
		if m, err := shard.ReadManifest(bytes.NewReader(b)); err == nil {
			for _, e := range m.Shards {
				names[e.SHA256] = true
			}
		}
	}
	content(r.Object)
	add(r.History)
	if r.Previous != nil {
		add(r.Previous.Delta)
	}
	for _, step := range h {
		content(Object{step.SHA256, step.Bytes})
		add(step.Delta)
	}
	return names
}
