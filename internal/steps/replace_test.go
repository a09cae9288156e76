package steps_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/shard"
)

// exclusive is a Conditional that is sufficient for one process.
type exclusive struct{ steps.Store }

func (e exclusive) WriteIf(ctx context.Context, name, version string, write func(io.Writer) error) error {
	if o, _ := e.Stat(ctx, name); o.Version != version {
		return fs.ErrExist
	}
	return e.Write(ctx, name, write)
}

// watched is a Conditional that counts how often the manifest is read.
type watched struct {
	exclusive
	reads atomic.Int32
}

func (w *watched) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	if name == shard.ManifestName {
		w.reads.Add(1)
	}
	return w.Store.Open(ctx, name, offset, length)
}

// unbuilt returns a plan of 20 shards in an output, with all ranges done.
func unbuilt(t *testing.T, out steps.Store, name string) *steps.Plan {
	t.Helper()
	_, text := lines(name, 2000)
	in := memoryOf(name, text)
	p, err := steps.NewPlan(t.Context(), in, []string{name},
		steps.Config{Build: bloomery.Config{Spec: "fuse", Sharding: bloomery.Sharding{Shards: 20}}, RangeBytes: 9000})
	check(t, err)
	unwatched := out
	if w, ok := out.(*watched); ok { // Save and Finish read the manifest themselves
		unwatched = w.exclusive
	}
	check(t, p.Save(t.Context(), unwatched))
	for i := range p.Ranges {
		if _, err := p.Range(t.Context(), in, out, i, steps.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// TestReplaceReadsOnce checks that in a Conditional Store a plan reads the manifest of the set that it replaces only
// once, and again after a change of the time or of the output. No shard may overwrite a file of the replaced set.
func TestReplaceReadsOnce(t *testing.T) {
	dir, numbers := t.TempDir(), make([]int, 20)
	for s := range numbers {
		numbers[s] = s
	}
	out := &watched{exclusive: exclusive{steps.Dir(dir)}}
	build := func(p *steps.Plan, out steps.Store, numbers []int) {
		t.Helper()
		if _, err := p.BuildAll(t.Context(), out, numbers, steps.Options{Workers: 4}); err != nil {
			t.Fatal(err)
		}
	}
	first := unbuilt(t, out, "first")
	build(first, out, numbers)
	if _, err := first.Finish(t.Context(), out.exclusive, steps.Options{}); err != nil || out.reads.Load() != 0 {
		t.Fatalf("%d reads without a manifest, error %v", out.reads.Load(), err)
	}
	before := folder(t, dir)
	second := unbuilt(t, out, "second")
	build(second, out, numbers[:10])
	if n := out.reads.Load(); n != 1 {
		t.Errorf("10 shards: the manifest was read %d times", n)
	}
	path := filepath.Join(dir, shard.ManifestName)
	st, err := os.Stat(path)
	if err == nil {
		err = os.Chtimes(path, st.ModTime(), st.ModTime().Add(time.Second))
	}
	check(t, err)
	build(second, out, numbers[10:])
	if n := out.reads.Load(); n != 2 {
		t.Errorf("10 shards before and 10 after a change: the manifest was read %d times", n)
	}
	after := folder(t, dir)
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s was overwritten", name)
		}
	}
	if _, err := second.Finish(t.Context(), out, steps.Options{}); err != nil {
		t.Fatal(err)
	}

	// With Stores that are not comparable, every Build reads the manifest.
	done := memoryOf()
	for name, text := range folder(t, dir) {
		done.objects[name] = text
	}
	for range 2 {
		other := &memory{objects: maps.Clone(done.objects)}
		third := unbuilt(t, conditional{memory: other}, "third")
		build(third, conditional{memory: other}, numbers[:5])
		other.objects[shard.ManifestName] = "x"
		_, err := third.BuildAll(t.Context(), conditional{memory: other}, numbers[5:], steps.Options{})
		if !errors.Is(err, shard.ErrManifest) {
			t.Errorf("a damaged manifest: error %v", err)
		}
		names := slices.Sorted(maps.Keys(done.objects))
		for _, name := range names[:len(names)-1] {
			if other.objects[name] != done.objects[name] {
				t.Errorf("%s was overwritten", name)
			}
		}
	}
}
