package distribute

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/shard"
)

const finishedName = "finished"

// Finish requires all shards, checks that their files are those that Build wrote, and writes the manifest, after which
// the set can be opened. Then it removes the working files of this plan and of others, and the files of an earlier set
// that the manifest does not name. If Finish was interrupted after the manifest, it only removes.
//
// The error wraps ErrMissing and names the shards that are not built, filter.ErrRate if the set exceeds Plan.MaxFPR, or
// is one of out. Before the manifest is written, an error leaves everything as it is.
func (p *Plan) Finish(ctx context.Context, out Store, o Options) (*shard.Manifest, error) {
	m, err := p.wasFinished(ctx, out)
	if err != nil {
		return nil, err
	}
	if m == nil {
		if m, err = p.Manifest(ctx, out); err != nil {
			return nil, err
		}
		if err := p.commit(ctx, out, m); err != nil {
			return nil, err
		}
	}
	return m, p.clean(ctx, out, m, o)
}

// Manifest returns the manifest of the set. Errors are those of Finish.
func (p *Plan) Manifest(ctx context.Context, out Source) (*shard.Manifest, error) {
	entries, chosen, found := make([]shard.Entry, p.Shards), make([]float64, p.Shards), make([]bool, p.Shards)
	err := parallel(ctx, p.Shards, planReads, func(ctx context.Context, s int) error {
		r, err := p.built(ctx, out, s)
		if err == nil {
			if err = r.kept(ctx, out); errors.Is(err, shard.ErrChanged) {
				return &shard.Error{File: r.File, Err: fmt.Errorf("%w; build shard %d again", shard.ErrChanged, s)}
			}
		}
		switch {
		case missing(err):
			return nil // reported below, with all others
		case err != nil:
			return err
		}
		entries[s], err = r.entry()
		chosen[s], found[s] = r.FPRChosen, true
		return err
	})
	if err != nil {
		return nil, err
	}
	if numbers := lacking(found); len(numbers) > 0 {
		return nil, &MissingError{What: "shard", Numbers: numbers, Of: p.Shards}
	}
	m := &shard.Manifest{
		Spec: p.Spec, Hash: p.Hash, Seed: p.Seed, KeyCheck: p.KeyCheck, Shards: entries, FPRChosen: shard.Chosen(chosen),
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	return m, bloomery.CheckShards(m, p.MaxFPR)
}

// commit writes the manifest, and a note that this plan has done so.
func (p *Plan) commit(ctx context.Context, out Store, m *shard.Manifest) error {
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		return err
	}
	put := func(name string, b []byte) error {
		return out.Write(ctx, name, func(w io.Writer) error { _, err := w.Write(b); return err })
	}
	if err := put(shard.ManifestName, b.Bytes()); err != nil {
		return err
	}
	sum := sha256.Sum256(b.Bytes())
	return put(p.work(finishedName), []byte(hex.EncodeToString(sum[:])))
}

// wasFinished returns the manifest in the output if it is the one that this plan has written, else nil.
func (p *Plan) wasFinished(ctx context.Context, out Source) (*shard.Manifest, error) {
	note, err := readAll(ctx, out, p.work(finishedName), 1<<10)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b, err := readAll(ctx, out, shard.ManifestName, 1<<30)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != string(note) {
		return nil, nil
	}
	return shard.ReadManifest(bytes.NewReader(b))
}

// clean removes all files that the manifest does not need. The plan and the note of commit are the last ones.
func (p *Plan) clean(ctx context.Context, out Store, m *shard.Manifest, o Options) error {
	keep := map[string]bool{}
	for _, e := range m.Shards {
		keep[e.File] = true
	}
	last := []string{p.work(planName), p.work(finishedName)}
	for _, name := range last {
		keep[name] = true
	}
	var names []string
	for object, err := range out.List(ctx, "") {
		if err != nil {
			return err
		}
		name := object.Name
		if !keep[name] && (strings.HasPrefix(name, workPrefix) || shard.IsName(name)) {
			names = append(names, name)
		}
	}
	err := parallel(ctx, len(names), planReads, func(ctx context.Context, i int) error {
		if o.Removed != nil && !strings.HasPrefix(names[i], workPrefix+p.ID()) {
			o.Removed(names[i])
		}
		return out.Remove(ctx, names[i])
	})
	for _, name := range last {
		if err == nil {
			err = out.Remove(ctx, name)
		}
	}
	if d, ok := out.(dir); ok {
		d.clean()
	}
	return err
}
