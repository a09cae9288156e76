package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/distribute"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// bucket is a Store in memory, like the Store that a program writes for its own storage.
type bucket struct {
	mu      sync.Mutex
	objects map[string][]byte
}

func (b *bucket) get(name string) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	data, ok := b.objects[name]
	if !ok {
		return nil, &fs.PathError{Op: "get", Path: name, Err: fs.ErrNotExist}
	}
	return data, nil
}

func (b *bucket) Open(_ context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	data, err := b.get(name)
	if err != nil {
		return nil, err
	}
	if length < 0 {
		length = math.MaxInt64 - offset
	}
	return io.NopCloser(io.NewSectionReader(bytes.NewReader(data), offset, length)), nil
}

func (b *bucket) Stat(_ context.Context, name string) (distribute.Object, error) {
	data, err := b.get(name)
	return distribute.Object{Name: name, Size: int64(len(data))}, err
}

func (b *bucket) List(_ context.Context, prefix string) iter.Seq2[distribute.Object, error] {
	return func(yield func(distribute.Object, error) bool) {
		b.mu.Lock()
		all := maps.Clone(b.objects)
		b.mu.Unlock()
		for name, data := range all {
			if strings.HasPrefix(name, prefix) && !yield(distribute.Object{Name: name, Size: int64(len(data))}, nil) {
				return
			}
		}
	}
}

func (b *bucket) Write(_ context.Context, name string, write func(io.Writer) error) error {
	var data bytes.Buffer
	if err := write(&data); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.objects[name] = data.Bytes()
	return nil
}

func (b *bucket) Remove(_ context.Context, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.objects, name)
	return nil
}

// TestDistribute builds a set with a keyed hash in steps, in a Store of this module. The files must equal the files of
// Build with Config.Sharding.Dir. Then it queries the shard of each key, like a service with one shard per machine.
func TestDistribute(t *testing.T) {
	ctx, secret := t.Context(), filter.NewSecret()
	keys := words("key-", 3000)
	store := &bucket{objects: map[string][]byte{"in/keys.txt": []byte(strings.Join(keys, "\n"))}}
	c := bloomery.Config{Spec: "blocked(fpr=0.001)", Sharding: bloomery.Sharding{Shards: 5},
		Hashing: bloomery.Hashing{Secret: secret}}
	plan := must(distribute.NewPlan(ctx, store, []string{"in/"}, distribute.Config{Build: c, RangeBytes: 10_000}))(t)
	out := &bucket{objects: map[string][]byte{}}
	if err := plan.Save(ctx, out); err != nil {
		t.Fatal(err)
	}
	p := must(distribute.ReadPlan(ctx, out, plan.ID))(t)
	if _, err := p.Range(ctx, store, out, 0, distribute.Options{}); !errors.Is(err, filter.ErrNoSecret) {
		t.Errorf("without the secret: %v", err)
	}
	o := distribute.Options{Secret: secret, Workers: 2}
	if _, err := p.Gather(ctx, out, o); !errors.Is(err, distribute.ErrMissing) {
		t.Errorf("no range is finished: %v", err)
	}
	n := uint64(0)
	for i := range p.Ranges {
		n += must(p.Range(ctx, store, out, i, o))(t)
	}
	if all := must(p.Gather(ctx, out, o))(t); n != 3000 || all != n || p.Ranges < 3 {
		t.Errorf("%d ranges have %d keys, all %d", p.Ranges, n, all)
	}
	for s := range p.Shards {
		must(p.Build(ctx, out, s, o))(t)
	}
	finished := must(p.Finish(ctx, out, o))(t)

	dir := filepath.Join(t.TempDir(), "set")
	c.Sharding.Dir = dir
	set := must(bloomery.Build(ctx, slices.Values(keys), c))(t)
	defer set.Close()
	want := set.Manifest()
	if !slices.Equal(finished.Shards, want.Shards) || len(out.objects) != len(want.Shards)+1 {
		t.Errorf("%+v, want %+v; files %q", finished, want, slices.Sorted(maps.Keys(out.objects)))
	}

	m := must(shard.ReadManifest(bytes.NewReader(out.objects[shard.ManifestName])))(t)
	h := filter.NewKeyedHasher(*secret)
	if m.Keys() != 3000 || m.Bytes() == 0 || h.KeyCheck() != m.KeyCheck || m.Hash != h.ID() || shard.Max < len(m.Shards) {
		t.Errorf("%+v", m)
	}
	sets := make([]*bloomery.Set, len(m.Shards))
	for s, e := range m.Shards {
		sets[s] = must(bloomery.FromBytes(out.objects[e.File], bloomery.WithSecret(secret)))(t)
		if text := must(e.SHA256.MarshalText())(t); string(text) != fmt.Sprint(e.SHA256) {
			t.Errorf("%s and %s", text, e.SHA256)
		}
	}
	for _, k := range keys {
		if s := shard.Route(h.SumString(k), len(sets)); !sets[s].ContainsString(k) {
			t.Fatalf("%s is not in shard %d", k, s)
		}
	}
	err := error(&shard.Error{File: m.Shards[0].File, Err: shard.ErrChanged})
	if !errors.Is(err, shard.ErrChanged) || errors.Is(err, shard.ErrForeign) {
		t.Error(err)
	}
	if _, err := shard.ReadManifest(strings.NewReader("{")); !errors.Is(err, shard.ErrManifest) {
		t.Error(err)
	}
}
