package steps

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"sync"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/internal/strictjson"
	"github.com/bloomery/bloomery/shard"
)

// result is the file that Build writes for Finish: the entry of a shard.
type result struct {
	Shard int `json:"shard"`
	shard.Entry
	FPRPlanned float64   `json:"fpr_planned"`
	Distinct   *estimate `json:"distinct,omitempty"` // estimated number of distinct keys, with Plan.Capacity
	Version    string    `json:"version,omitempty"`  // Object.Version of the file
}

// estimate is an engine.Estimate with names for JSON.
type estimate struct {
	Keys    float64 `json:"keys"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Counted bool    `json:"counted"`
}

// maxResult is the largest result in bytes.
const maxResult = 4096

// ShardPrefix begins the names of results, and of no other working files.
const ShardPrefix = "shard-"

func (p *Plan) resultName(s int) string { return p.workName("%s%05d.json", ShardPrefix, s) }

// Build builds the filter of shard s from its segments in the run files and writes it. The File of the entry is its
// name until Finish: see the package comment. Build keeps a finished shard, after reading it and comparing its SHA-256.
// If Gather has not run, or the shard index is damaged, Build gathers. If a segment is damaged, Build removes its run
// file, and the error wraps ErrMissing and names the range to run again. If a key has two values, it is a
// *ConflictError. If a Finish has removed the plan meanwhile and the present set has another shard, the error wraps
// ErrNoPlan. Other errors come from bloomery.Builder and out.
func (p *Plan) Build(ctx context.Context, out Store, s int, o Options) (shard.Entry, error) {
	if s < 0 || s >= p.Shards {
		return shard.Entry{}, fmt.Errorf("shard %d: the plan has shards 0 to %d", s, p.Shards-1)
	}
	if _, err := p.hasher(o.Secret); err != nil {
		return shard.Entry{}, err
	}
	if f, err := p.finishedShard(ctx, out, s); err == nil {
		o.progress(1)
		return f.Entry, nil
	} else if !mustRunAgain(err) {
		return shard.Entry{}, err
	}

	var r result
	err := p.attempt(ctx, out, func() error {
		set, err := p.filter(ctx, out, s, o)
		if err != nil {
			return err
		}
		defer set.Close()
		r, err = p.writeShard(ctx, out, s, set)
		return err
	}, func() []string {
		if _, ok := out.(Conditional); ok {
			return []string{p.resultName(s)} // keep the shard: another attempt may rely on it
		}
		return []string{p.resultName(s), r.File}
	})
	if err != nil && !(errors.Is(err, ErrNoPlan) && r.isInSet(ctx, out)) { // a Finish has installed the shard
		return shard.Entry{}, fmt.Errorf("shard %d: %w", s, err)
	}
	o.progress(1)
	return r.Entry, nil
}

// finishedShard returns a shard that an earlier attempt has finished, after it has verified the file.
func (p *Plan) finishedShard(ctx context.Context, out Source, s int) (f found, err error) {
	old := func() (*shard.Manifest, error) { return p.earlier.readManifest(ctx, out) }
	return p.findShard(ctx, out, s, old, func(r result) error { return r.verifyFile(ctx, out) })
}

// readResult returns the result of a finished shard. The error wraps hashes.ErrDamaged if it contradicts itself.
func (p *Plan) readResult(ctx context.Context, out Source, s int) (r result, err error) {
	b, err := readAll(ctx, out, p.resultName(s), maxResult)
	if err != nil {
		return r, err
	}
	if err = strictjson.Unmarshal(b, &r); err == nil && r.Shard != s {
		err = fmt.Errorf("it is about shard %d", r.Shard)
	}
	if err == nil {
		err = p.checkPlace(r, out)
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w: %w", p.resultName(s), hashes.ErrDamaged, err)
	}
	return r, nil
}

// verifyFile returns an error unless the file of a shard has the size and the SHA-256 of its result.
func (r result) verifyFile(ctx context.Context, out Source) error {
	st, err := out.Stat(ctx, r.File)
	if err != nil {
		return err
	}

	var sum shard.Sum
	if uint64(st.Size) == r.Bytes {
		if sum, err = hashObject(ctx, out, r.File); err != nil {
			return err
		}
	}
	if sum != r.SHA256 {
		return fmt.Errorf("%s: %w", r.File, shard.ErrChanged)
	}
	return nil
}

// checkFile returns an error unless the file of a shard is the one that Build wrote. It reads the file only if its
// version differs: another attempt has then written the same bytes, or another plan in the same output different ones.
func (r result) checkFile(ctx context.Context, out Source) error {
	st, err := out.Stat(ctx, r.File)
	if err != nil || uint64(st.Size) == r.Bytes && st.Version == r.Version && r.Version != "" {
		return err
	}
	return r.verifyFile(ctx, out)
}

func (p *Plan) filter(ctx context.Context, out Store, s int, o Options) (*bloomery.Set, error) {
	all, keys, err := p.segments(ctx, out, s)
	damaged := errors.Is(err, hashes.ErrDamaged)
	if damaged {
		err = out.Remove(ctx, p.indexName())
	}
	if missing(err) || damaged && err == nil {
		if _, err = p.Gather(ctx, out, nil, o); err == nil {
			all, keys, err = p.segments(ctx, out, s)
		}
	}
	if err != nil {
		return nil, err
	}

	b, err := bloomery.NewBuilder(ctx, p.config(keys, o))
	if err != nil {
		return nil, err
	}
	defer b.Close()
	add := p.hashAdder(b)
	var mu sync.Mutex
	read := uint64(0)
	err = parallel.Do(ctx, len(all), o.parallelReads(), func(ctx context.Context, i int) error {
		g := all[i]
		err := p.readSegment(ctx, out, g, add)
		if missing(err) || errors.Is(err, hashes.ErrDamaged) {
			i := int(g.Range)
			err = errors.Join(&MissingError{"range", []int{i}, len(p.Ranges)}, err, out.Remove(ctx, p.runName(i)))
		}
		mu.Lock()
		defer mu.Unlock()
		read += uint64(g.Keys)
		o.progress(readShare * float64(read) / float64(keys))
		return err
	})
	if err != nil {
		return nil, err
	}
	set, err := b.Build(ctx)
	return set, p.locate(ctx, out, all, err, o)
}

func (p *Plan) readSegment(ctx context.Context, out Source, g segment, f func([]filter.Hash) error) error {
	r, err := out.Open(ctx, p.runName(int(g.Range)), g.Offset, g.Bytes())
	if err != nil {
		return err
	}
	defer r.Close()
	return hashes.Read(r, g.Segment, f)
}

// buildReads is the number of segments that a Build reads at the same time, if there is memory: the segments of a shard
// are many and small, and reads from a bucket mostly wait. No family depends on their order.
const buildReads = 16

// readMemory is the memory of one read in bytes; see hashes.Read.
const readMemory = 512 << 10

// parallelReads returns the number of segments to read at the same time, at least two and at least one per worker.
func (o Options) parallelReads() int {
	n := int64(buildReads)
	if o.Memory > 0 {
		n = min(n, o.Memory/8/readMemory)
	}
	return max(2, o.workers(), int(n))
}

// readShare is the share of reading in the progress of a Build.
const readShare = 0.2

func (p *Plan) config(keys uint64, o Options) bloomery.Config {
	c := bloomery.Config{
		Spec: p.Spec.String(), Keys: keys, Capacity: intake.PerShard(p.Capacity, p.Shards),
		Hashing: bloomery.Hashing{ID: p.Hash, Seed: p.Seed, Form: p.form()}, Limits: bloomery.Limits{Bytes: p.MaxBytes},
		Building: bloomery.Building{Workers: o.Workers, Memory: o.Memory, TempDir: o.TempDir},
	}
	if p.Hash == filter.SipHash {
		c.Hashing.Secret = o.Secret
	}
	if o.Progress != nil {
		c.Building.Progress = func(now filter.Progress) { o.progress(readShare + (1-readShare)*now.Done) }
	}
	return c
}

func (p *Plan) writeShard(ctx context.Context, out Store, s int, set *bloomery.Set) (r result, err error) {
	ctx = container.Batch(ctx) // Finish syncs the folder once for all shards
	r = result{Shard: s, Entry: shardset.EntryOf(set.Info()), FPRPlanned: set.Info().FPRPlanned}
	if p.Capacity > 0 {
		distinct := estimate(bulk.DistinctKeys(set))
		r.Distinct = &distinct
	}
	if err := shardset.Measure(&r.Entry, set, io.Discard); err != nil {
		return r, err
	}
	if r.File, err = p.placeFile(ctx, out, r, set); err != nil {
		return r, err
	}

	st, err := out.Stat(ctx, r.File)
	if err != nil {
		return r, err
	}

	r.Version = st.Version
	b, err := json.Marshal(r)
	if err != nil {
		return r, err
	}
	return r, putObject(ctx, out, p.resultName(s), append(b, '\n'))
}

// manifestCache keeps the manifest of an output, so that each shard of a large set does not read it again.
type manifestCache struct {
	mu       sync.Mutex
	out      Source
	object   Object // the manifest that was read; its Version is empty if none was
	manifest *shard.Manifest
}

// readManifest is ReadManifest with a cache. It reads the manifest again if the output, its size or its version has
// changed, or if the output has no versions.
func (c *manifestCache) readManifest(ctx context.Context, out Source) (*shard.Manifest, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st, err := out.Stat(ctx, shard.ManifestName)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	same := reflect.ValueOf(out).Comparable() // == panics for other dynamic types
	if same && c.object.Version != "" && c.object == st && c.out == out {
		return c.manifest, nil
	}

	m, err := ReadManifest(ctx, out)
	if err == nil && same {
		c.out, c.object, c.manifest = out, st, m
	}
	return m, err
}

// ReadManifest returns the manifest of the set in an output, or nil if there is none.
func ReadManifest(ctx context.Context, out Source) (*shard.Manifest, error) {
	b, err := readAll(ctx, out, shard.ManifestName, math.MaxInt32)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	m, err := shard.ReadManifest(bytes.NewReader(b))
	if errors.Is(err, shard.ErrManifest) {
		return nil, fmt.Errorf("%s: %w; remove it to build a new set", shard.ManifestName, err)
	}
	return m, err
}
