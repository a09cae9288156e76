package steps

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/keyio"
)

// Done is the result of a range: the number and position of the hashes of each shard in its run file. It takes 8 bytes
// per shard and 4,194,304 keys.
type Done struct {
	Range int
	Keys  uint64
	Index *hashes.Index
}

// RangePrefix begins the names of run files, and of no other working files.
const RangePrefix = "range-"

func (p *Plan) runName(i int) string { return p.workName("%s%07d.run", RangePrefix, i) }

func (p *Plan) header(i int) hashes.Header {
	h := hashes.Header{Range: uint32(i), Shards: uint32(p.Shards), KeyCheck: p.KeyCheck, Values: p.valueBits() > 0}
	_, _ = hex.Decode(h.Plan[:], []byte(p.ID()))
	return h
}

// Range hashes the keys of range i and writes its run file. It keeps a finished run file after it has checked its size,
// header and index; Build compares the checksums of the hashes. Errors name the input, with the line if it is about a
// key or a value. They wrap ErrChanged if an object is not the one in the plan, ErrNoPlan if a Finish has removed the
// plan meanwhile, or come from keyio, in and out.
func (p *Plan) Range(ctx context.Context, in Source, out Store, i int, o Options) (Done, error) {
	if i < 0 || i >= len(p.Ranges) {
		return Done{}, fmt.Errorf("range %d: the plan has ranges 0 to %d", i, len(p.Ranges)-1)
	}

	h, err := p.hasher(o.Secret)
	if err != nil {
		return Done{}, err
	}
	if x, err := p.finished(ctx, out, i); err == nil {
		o.progress(1)
		return Done{i, x.Keys(), x}, nil
	} else if !mustRunAgain(err) {
		return Done{}, err
	}

	var x *hashes.Index
	err = p.attempt(ctx, out, func() error {
		return out.Write(ctx, p.runName(i), func(w io.Writer) error {
			rw, err := hashes.NewWriter(w, p.header(i))
			if err == nil {
				if err = p.hashRange(ctx, in, i, h, rw, o); err == nil {
					x, err = rw.Close()
				}
			}
			return err
		})
	}, func() []string { return []string{p.runName(i)} })
	if err != nil {
		return Done{}, err
	}
	o.progress(1)
	return Done{i, x.Keys(), x}, nil
}

func (p *Plan) finished(ctx context.Context, out Source, i int) (*hashes.Index, error) {
	st, err := out.Stat(ctx, p.runName(i))
	if err != nil {
		return nil, err
	}
	x, err := hashes.ReadIndex(st.Size, p.header(i), func(offset, length int64) ([]byte, error) {
		return readPart(ctx, out, p.runName(i), offset, length)
	})
	if errors.Is(err, hashes.ErrDamaged) {
		err = fmt.Errorf("%s: %w", p.runName(i), err)
	}
	return x, err
}

// hashRange writes the hashes of the keys of a range, and their values, to w in the order of the keys.
func (p *Plan) hashRange(ctx context.Context, in Source, i int, h filter.Hasher, w *hashes.Writer, o Options) error {
	bits := p.valueBits()
	return p.readRange(ctx, in, i, o, func(b *keyio.Batch) error {
		for _, k := range b.Keys {
			b.Hashes = append(b.Hashes, h.Sum(k))
		}
		if bits == 0 {
			return nil
		}
		return p.checkBatch(b, bits)
	}, func(b *keyio.Batch) error {
		if bits == 0 {
			return w.Add(b.Hashes)
		}
		return w.AddValues(b.Hashes, b.Values)
	})
}

// readRange calls work and emit for the batches of a range; see Format.Read.
func (p *Plan) readRange(ctx context.Context, in Source, i int, o Options, work, emit func(*keyio.Batch) error) error {
	objects, spans := p.objectsOf(p.Ranges[i])
	format := p.formats.formatOf(p.Keys)
	total, before := int64(1), int64(0)
	for _, s := range spans {
		total += s.Length
	}

	for j, object := range objects {
		if err := unchanged(ctx, in, object); err != nil {
			return err
		}
		err := format.Read(ctx, in, object, spans[j], Reading{
			Keys: p.Keys, Workers: o.Workers, ValueBits: p.valueBits(), Form: p.form(), Work: work, Emit: emit,
			Progress: func(units int64) { o.progress(float64(before+units) / float64(total)) },
		})
		if changed := unchanged(ctx, in, object); changed != nil {
			return changed // also the cause of an error
		}
		if err != nil {
			return err
		}
		before += spans[j].Length
	}
	return nil
}

// unchanged returns an error wrapping ErrChanged if an object is not the one in the plan.
func unchanged(ctx context.Context, in Source, o Object) error {
	now, err := in.Stat(ctx, o.Name)
	if err == nil && (now.Size != o.Size || now.Version != o.Version) {
		err = fmt.Errorf("%s: %w", o.Name, ErrChanged)
	}
	return err
}
