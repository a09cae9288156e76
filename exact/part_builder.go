package exact

import (
	"context"
	"errors"

	"github.com/bloomery/bloomery/filter"
)

const (
	// tryBoth is the number of keys below which a part is built with both widths, and the smaller one is taken. Above
	// it, width 128 is always smaller.
	tryBoth = 1 << 17
	// partBatch is the number of keys that a partBuilder passes on together.
	partBatch = 1 << 10
)

// partBuilder gathers the keys of a part.
type partBuilder struct {
	builders []*partMaker // one for each width to try
	keys     uint64       // about how many there will be
	valued   bool         // whether keys have values
	hashes   []filter.Hash
	values   []uint64 // of hashes, if valued
}

// newPart returns a builder of a part with that form, for about that many keys.
func newPart(f form, keys uint64, c Config, memory int64) (*partBuilder, error) {
	p := &partBuilder{valued: f.valueBits > 0, keys: keys}
	widths := []uint{64, 128}
	if keys >= tryBoth {
		widths = widths[1:]
	}
	for _, w := range widths {
		b, err := newMaker(f, keys, w)
		if err != nil {
			return nil, err
		}
		o := filter.BuildOptions{Workers: c.Workers}
		if c.Memory > 0 {
			o.Memory, o.Dir = max(memory, 1), c.TempDir
		}
		b.SetOptions(o)
		p.builders = append(p.builders, b)
	}
	return p, nil
}

// add adds a key without a value.
func (p *partBuilder) add(h filter.Hash) error {
	if p.hashes = append(p.hashes, h); len(p.hashes) < partBatch {
		return nil
	}
	return p.flush()
}

// addValue adds a key and its value.
func (p *partBuilder) addValue(h filter.Hash, v uint64) error {
	p.values = append(p.values, v)
	return p.add(h)
}

func (p *partBuilder) flush() (err error) {
	if len(p.hashes) == 0 {
		return nil
	}
	for _, b := range p.builders {
		if p.valued {
			err = errors.Join(err, b.AddValues(p.hashes, p.values))
		} else {
			err = errors.Join(err, b.AddMany(p.hashes))
		}
	}
	p.hashes, p.values = p.hashes[:0], p.values[:0]
	return err
}

// expected returns about how many keys the part will have: 0 if there is no part.
func (p *partBuilder) expected() uint64 {
	if p == nil {
		return 0
	}
	return p.keys
}

// build returns the part. Its keys are steps of the stage.
func (p *partBuilder) build(ctx context.Context, steps *stages) (best *part, err error) {
	if err := p.flush(); err != nil {
		return nil, err
	}
	before := steps.steps
	for _, b := range p.builders {
		b.Progress = func(now filter.Progress) { steps.to(before + uint64(now.Done*float64(p.keys))) }
		f, err := b.Build(ctx)
		if err != nil {
			return nil, err
		}
		if p := f.(*part); best == nil || p.Info().Bits < best.Info().Bits {
			best = p
		}
	}
	steps.to(before + p.keys)
	p.builders, p.hashes, p.values = nil, nil, nil
	return best, nil
}

// close drops the keys.
func (p *partBuilder) close() (err error) {
	for _, b := range p.builders {
		err = errors.Join(err, b.Close())
	}
	return err
}
