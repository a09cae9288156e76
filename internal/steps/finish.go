package steps

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

const finishedName = "finished"

// Finish requires all shards, checks that Build wrote their files, gives them their final names, and writes the
// manifest; then the set can be opened. After that it removes the working files of this plan and of earlier plans,
// which can no longer finish, and the shards that the manifest does not name. If an earlier Finish was interrupted
// after the manifest, it only removes files.
//
// The error wraps ErrMissing and names the shards that are not built, filter.ErrRate if the set exceeds Plan.MaxFPR,
// filter.ErrFull if it has more distinct keys than Plan.Capacity, ErrSetChanged if the output has another set than when
// the plan was saved, except the set of this plan, or is an error of out. Before the manifest is written, an error
// leaves the present set unchanged.
//
// If out is a Locker, Finish waits for its lock and holds it until it returns. In a Conditional Store without a lock, a
// late Finish also returns ErrSetChanged.
func (p *Plan) Finish(ctx context.Context, out Store, o Options) (m *shard.Manifest, err error) {
	err = locked(ctx, out, 0, func() error { m, err = p.finish(ctx, out, o); return err })
	return m, err
}

func (p *Plan) finish(ctx context.Context, out Store, o Options) (*shard.Manifest, error) {
	m, err := p.wasFinished(ctx, out)
	if err == nil && m == nil {
		m, err = p.commit(ctx, out)
	}
	if err != nil {
		return nil, err
	}
	return m, p.removeLeftovers(ctx, out, m, o)
}

// shards returns the manifest that Finish writes, and the present locations of the shards.
func (p *Plan) shards(ctx context.Context, out Source) (*shard.Manifest, []found, error) {
	old, err := ReadManifest(ctx, out)
	if err != nil {
		return nil, nil, err
	}

	all := make([]found, p.Shards)
	entries, planned := make([]shard.Entry, p.Shards), make([]float64, p.Shards)
	err = require(ctx, "shard", p.Shards, func(ctx context.Context, s int) error {
		f, err := p.findShard(ctx, out, s, func() (*shard.Manifest, error) { return old, nil },
			func(r result) error { return r.checkFile(ctx, out) })
		if errors.Is(err, shard.ErrChanged) {
			return &shard.Error{File: f.File, Err: fmt.Errorf("%w; build shard %d again", shard.ErrChanged, s)}
		}
		all[s], entries[s], planned[s] = f, f.Entry, f.FPRPlanned
		entries[s].File = f.final
		return err
	})
	if err != nil {
		return nil, nil, err
	}

	m := &shard.Manifest{
		Spec: p.Spec, Hash: p.Hash, Seed: p.Seed, KeyCheck: p.KeyCheck, Form: p.form(), Shards: entries,
		FPRPlanned: cmp.Or(p.FPRPlanned, shardset.PlannedRate(planned)),
	}

	var distinct engine.Estimate
	for _, f := range all {
		if f.Distinct != nil {
			distinct.Sum(engine.Estimate(*f.Distinct))
		}
	}
	if err := bulk.CheckCapacity(m.Keys(), distinct, p.Capacity); err != nil {
		return nil, nil, err
	}
	return m, all, engine.CheckShards(m, p.MaxFPR)
}

// commit installs the shards, writes and returns the manifest, and records that this plan has written it.
func (p *Plan) commit(ctx context.Context, out Store) (*shard.Manifest, error) {
	// Read before the shards: a Finish of another plan removes this record last.
	there, err := p.replaces(ctx, out)
	if err != nil {
		return nil, err
	}

	m, all, err := p.shards(ctx, out)
	if err != nil {
		return nil, err
	}

	var b bytes.Buffer
	if _, err = m.WriteTo(&b); err == nil {
		err = there.checkNext(b.Bytes())
	}
	if err == nil {
		// The shards first, then the manifest: a reader of the new manifest finds all of its files.
		err = p.install(ctx, out, all)
	}
	if err == nil {
		err = putManifest(ctx, out, there.version, b.Bytes())
	}
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b.Bytes())
	return m, putObject(ctx, out, p.workName(finishedName), []byte(hex.EncodeToString(sum[:])))
}

// putManifest replaces version was of the manifest. If a Conditional Store has another version now, the error wraps
// ErrSetChanged.
func putManifest(ctx context.Context, out Store, was string, b []byte) error {
	c, ok := out.(Conditional)
	if !ok {
		return putObject(ctx, out, shard.ManifestName, b)
	}

	err := c.WriteIf(ctx, shard.ManifestName, was, func(w io.Writer) error { _, err := w.Write(b); return err })
	if !errors.Is(err, fs.ErrExist) {
		return err
	}

	// The write may have succeeded earlier: its response was lost, and the client repeated the request.
	if now, e := readAll(ctx, out, shard.ManifestName, int64(len(b))); e == nil && bytes.Equal(now, b) {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrSetChanged, err)
}

// wasFinished returns the manifest in the output if this plan has written it, else nil.
func (p *Plan) wasFinished(ctx context.Context, out Source) (*shard.Manifest, error) {
	note, err := readAll(ctx, out, p.workName(finishedName), 1<<10)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	now, err := manifestSum(ctx, out)
	if err != nil || now != string(note) {
		return nil, err
	}
	return ReadManifest(ctx, out)
}

// removeLeftovers removes all files that the manifest does not need, and leaves the files of plans that may still
// finish: see running. It removes the plan, the record of the replaced set and the record of commit last.
func (p *Plan) removeLeftovers(ctx context.Context, out Store, m *shard.Manifest, o Options) error {
	text := manifestText(m)
	there, same, err := watchManifest(ctx, out)
	if err == nil && (there == nil || manifestText(there) != text) {
		err = ErrSetChanged
	}
	if err != nil {
		return err
	}

	needed, leftover := map[string]bool{}, shardset.Leftover{All: true, Keep: []*shard.Manifest{m}}.Func()
	for _, e := range m.Shards {
		needed[e.File] = true
	}

	var shards, names []string
	work := map[string][]string{} // files by plan
	for object, err := range out.List(ctx, "") {
		if err != nil {
			return err
		}
		delete(needed, object.Name)
		if id, file, ok := shardset.CutWork(object.Name); ok {
			work[id] = append(work[id], file)
		} else if leftover(object.Name) {
			shards = append(shards, object.Name)
		}
	}
	if len(needed) > 0 { // without a lock, another process may have removed files meanwhile
		name := slices.Min(slices.Collect(maps.Keys(needed)))
		return &shard.Error{File: name, Err: fmt.Errorf("it was removed meanwhile; build its shard and finish again: %w",
			fs.ErrNotExist)}
	}

	// While these files exist, a Finish that was interrupted here continues. So Finish removes them last.
	last := []string{p.workName(PlanName), p.workName(replacesName), p.workName(finishedName)}
	for id, files := range work {
		if id != p.ID() {
			is, err := running(ctx, out, id, files, text)
			if err != nil {
				return err
			}
			if is {
				shards = nil // that plan may have built or installed some of them
				continue
			}
		}
		for _, file := range files {
			name := shardset.WorkName(id, file)
			switch {
			case slices.Contains(last, name):
			case file == replacesName:
				last = slices.Insert(last, 0, name)
			default:
				names = append(names, name)
			}
		}
	}

	names = append(names, shards...)
	err = parallel.Do(ctx, len(names), planReads, func(ctx context.Context, i int) error {
		id, _, work := shardset.CutWork(names[i])
		if !work {
			if err := same(ctx); err != nil {
				return err
			}
		}
		if o.Removed != nil && id != p.ID() {
			o.Removed(names[i])
		}
		return out.Remove(ctx, names[i])
	})
	for _, name := range last {
		if err == nil {
			err = out.Remove(ctx, name)
		}
	}
	return err
}

// running reports whether the plan with that id may still replace the present manifest: it was saved for this manifest,
// or its record was removed so that it replaces any set. files are its working files.
func running(ctx context.Context, out Source, id string, files []string, manifest string) (bool, error) {
	record, err := readAll(ctx, out, shardset.WorkName(id, replacesName), 1<<10)
	if missing(err) {
		return slices.Contains(files, PlanName), nil
	}
	sum := sha256.Sum256([]byte(manifest))
	return string(record) == hex.EncodeToString(sum[:]), err
}

func manifestText(m *shard.Manifest) string {
	var b strings.Builder
	_, _ = m.WriteTo(&b) // to memory
	return b.String()
}
