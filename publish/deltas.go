package publish

import (
	"context"
	"fmt"
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
	most := 4*c.total + 1<<26 // a delta from a larger filter would not be smaller than c
	was, err := s.read(ctx, old, most)
	if err != nil {
		return nil, err
	}
	return kindOf(c.kind).diff(ctx, s, was, c.file, most)
}

// named returns the objects that a release and its history name, with the shards of their manifests. If a manifest
// cannot be read, nobody knows which shards are in use: named returns the error, and no object may be removed.
func (s *objects) named(ctx context.Context, r *Release, h History) (map[Hash]bool, error) {
	names := map[Hash]bool{}
	add := func(o *Object) {
		if o != nil {
			names[o.SHA256] = true
		}
	}
	k := kindOf(r.Kind)
	content := func(o Object) error {
		add(&o)
		if !k.folder() {
			return nil
		}
		b, err := s.read(ctx, o, maxNumber)
		if err != nil {
			return err
		}
		all, err := k.parts(b)
		for _, p := range all {
			names[p.SHA256] = true
		}
		return err
	}
	add(r.History)
	if r.Previous != nil {
		add(r.Previous.Delta)
	}
	err := content(r.Object)
	for i := 0; i < len(h) && err == nil; i++ {
		err = content(Object{h[i].SHA256, h[i].Bytes})
		add(h[i].Delta)
	}
	return names, err
}
