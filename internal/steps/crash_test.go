package steps_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/shard"
)

// whole returns the manifest of the set in a store, or nil if there is none. It fails the test unless the set is
// complete.
func whole(t *testing.T, out *memory) (m *shard.Manifest) {
	t.Helper()
	text, ok := out.objects[shard.ManifestName]
	if !ok {
		return nil
	}
	m, err := shard.ReadManifest(strings.NewReader(text))
	check(t, err)
	for _, e := range m.Shards {
		if sha256.Sum256([]byte(out.objects[e.File])) != e.SHA256 {
			t.Fatalf("%s is not the file in the manifest", e.File)
		}
	}
	return m
}

// TestCrashes makes the output fail at every operation, before and after the operation takes effect, in a folder
// without a set and in a folder with a set of other keys. At every moment the folder must contain the old set, no set
// or the new set, and the next run must write the same bytes.
func TestCrashes(t *testing.T) {
	_, old := lines("old", 300)
	_, a := lines("a", 500)
	_, b := lines("b", 400)
	in := memoryOf("old", old, "new/a", a, "new/b", gzipped(b))
	plan := func(pattern string) *steps.Plan {
		p, err := steps.NewPlan(t.Context(), in, []string{pattern},
			steps.Config{Build: bloomery.Config{Spec: "fuse", Sharding: bloomery.Sharding{Shards: 3}}, RangeBytes: 3000})
		check(t, err)
		return p
	}
	before, after := plan("old"), plan("new/")
	for _, first := range []bool{true, false} {
		start := memoryOf()
		if !first {
			if _, err := all(t.Context(), before, in, start, steps.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		want := &memory{objects: maps.Clone(start.objects)}
		if _, err := all(t.Context(), after, in, want, steps.Options{}); err != nil {
			t.Fatal(err)
		}
		crashes := want.ops
		if len(want.objects) != 4 || crashes < 30 {
			t.Fatalf("%d operations, %s", crashes, want)
		}
		for at := range crashes {
			out := &memory{objects: maps.Clone(start.objects)}
			for attempt := range 2 { // the second attempt crashes later
				out.fail(at, attempt == at%2)
				_, err := all(t.Context(), after, in, out, steps.Options{Workers: 1})
				if err != nil && !errors.Is(err, errCrash) {
					t.Fatalf("crash %d: %v", at, err)
				}
				seen := &memory{objects: maps.Clone(out.objects)}
				if st, err := after.Status(t.Context(), seen); err == nil && st.SetChanged {
					t.Fatalf("crash %d: Status says that Finish will refuse, for %s", at, out)
				}
				if whole(t, out) == nil && !first {
					t.Fatalf("crash %d: the old set is gone", at)
				}
			}
			out.heal()
			if _, err := all(t.Context(), after, in, out, steps.Options{}); err != nil {
				t.Fatalf("after crash %d: %v", at, err)
			}
			if !maps.Equal(out.objects, want.objects) {
				t.Fatalf("after crash %d: %s, want %s", at, out, want)
			}
		}
	}
}

// TestResume checks that finished ranges and shards are not computed again unless they are damaged.
func TestResume(t *testing.T) {
	_, text := lines("key", 3000)
	in, out := memoryOf("keys", text), memoryOf()
	p, err := steps.NewPlan(t.Context(), in, []string{"keys"},
		steps.Config{Build: bloomery.Config{Spec: "standard", Sharding: bloomery.Sharding{Shards: 2}}, RangeBytes: 9000})
	check(t, err)
	check(t, p.Save(t.Context(), out))
	o, numbers := steps.Options{}, []int{0, 1, 2, 3}
	if len(p.Ranges) != len(numbers) {
		t.Fatalf("%d ranges", len(p.Ranges))
	}
	done, err := p.RangeAll(t.Context(), in, out, numbers, o)
	check(t, err)
	kept := maps.Clone(in.objects)
	in.objects = map[string]string{} // the input must not be read again
	if _, err := p.RangeAll(t.Context(), in, out, numbers, o); err != nil {
		t.Errorf("finished ranges: %v", err)
	}
	in.objects = kept

	// The results of the ranges, even if given twice, suffice in place of the run files.
	var missing *steps.MissingError
	if _, err := p.Gather(t.Context(), out, done[:3], o); !errors.As(err, &missing) || missing.Numbers[0] != 3 {
		t.Errorf("three of four results: %v", err)
	}
	if n, err := p.Gather(t.Context(), out, append(done, done...), o); err != nil || n != 3000 {
		t.Errorf("%d keys, %v", n, err)
	}
	good, err := p.BuildAll(t.Context(), out, []int{0, 1}, o)
	check(t, err)
	unbuild := func() {
		for n := range out.objects {
			if strings.HasSuffix(n, ".bloom") || strings.HasSuffix(n, ".json") && strings.Contains(n, "shard-") {
				delete(out.objects, n)
			}
		}
	}
	unbuild()
	for name, text := range maps.Clone(out.objects) {
		index := strings.HasSuffix(name, "index")
		if !index && !strings.HasSuffix(name, "1.run") {
			continue
		}
		if index {
			if _, err := p.Gather(t.Context(), out, nil, o); err != nil || out.objects[name] != text {
				t.Errorf("gathered again: %v, or another index", err)
			}
		}
		for at := range len(text) {
			if !index && at%50 != 0 {
				continue
			}
			bad := []byte(text)
			bad[at] ^= 1 << (at % 8)
			out.objects[name] = string(bad)
			e0, err0 := p.Build(t.Context(), out, 0, o)
			e1, err1 := p.Build(t.Context(), out, 1, o)
			if err := errors.Join(err0, err1); index {
				if err != nil || e0 != good[0] || e1 != good[1] {
					t.Fatalf("%s: byte %d is changed: %v, or other shards", name, at, err)
				}
			} else if err == nil && at >= 64 {
				t.Errorf("%s: byte %d is changed, and both shards are built", name, at)
			} else if err != nil && !errors.As(err, &missing) {
				t.Errorf("%s: byte %d: %v", name, at, err)
			} else if _, there := out.objects[name]; err != nil && there {
				t.Errorf("%s: byte %d: the damaged run file is still there", name, at)
			}
			unbuild()
			out.objects[name] = text
		}
	}

	entries, err := p.BuildAll(t.Context(), out, []int{0, 1}, o)
	check(t, err)
	file := entries[1].File
	goodFile := out.objects[file]
	out.objects[file] = goodFile[:len(goodFile)-1] + "x"
	if again, err := p.Build(t.Context(), out, 1, o); err != nil || again != entries[1] || out.objects[file] != goodFile {
		t.Errorf("a damaged shard: %v, or it is not built again", err)
	}
	out.objects[file] = goodFile[1:]
	_, err = p.Finish(t.Context(), out, o)
	if !errors.Is(err, shard.ErrChanged) || out.objects[shard.ManifestName] != "" {
		t.Errorf("Finish over a damaged shard: %v", err)
	}
	st, err := p.Status(t.Context(), out)
	if err != nil || len(st.MissingRanges) != 0 || len(st.MissingShards) != 1 || st.Keys != 3000 {
		t.Errorf("status %+v, %v", st, err)
	}
	out.objects[file] = goodFile
	delete(out.objects, "work-"+p.ID()+"/shard-00000.json")
	if _, err := p.Finish(t.Context(), out, o); !errors.Is(err, steps.ErrMissing) {
		t.Errorf("Finish without a shard: %v", err)
	}
	if _, err := p.Build(t.Context(), out, 0, o); err != nil {
		t.Error(err)
	}
	m, err := p.Finish(t.Context(), out, o)
	if err != nil || len(out.objects) != 3 {
		t.Fatalf("%v, %s", err, out)
	}
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil || b.String() != out.objects[shard.ManifestName] {
		t.Errorf("another manifest, %v", err)
	}
}

// TestFinishCrashes makes Finish fail at every operation. Afterwards a second Finish must complete the set, or the set
// must be complete and the plan removed.
func TestFinishCrashes(t *testing.T) {
	_, text := lines("key", 500)
	in, start := memoryOf("keys", text), memoryOf()
	p, err := steps.NewPlan(t.Context(), in, []string{"keys"},
		steps.Config{Build: bloomery.Config{Spec: "fuse", Sharding: bloomery.Sharding{Shards: 3}}, RangeBytes: 3000})
	check(t, err)
	check(t, p.Save(t.Context(), start))
	for i := range p.Ranges {
		if _, err := p.Range(t.Context(), in, start, i, steps.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.BuildAll(t.Context(), start, []int{0, 1, 2}, steps.Options{}); err != nil {
		t.Fatal(err)
	}
	var want string
	noPlan := 0
	for at := 0; ; at++ {
		out := &memory{objects: maps.Clone(start.objects)}
		out.fail(at, at%2 == 0)
		_, err := p.Finish(t.Context(), out, steps.Options{})
		out.heal()
		again, planErr := steps.ReadPlan(t.Context(), out, "", nil)
		switch {
		case errors.Is(planErr, steps.ErrNoPlan):
			noPlan++
		case planErr != nil:
			t.Fatal(planErr)
		default:
			if _, err := again.Finish(t.Context(), out, steps.Options{}); err != nil {
				t.Fatalf("Finish after crash %d: %v, %s", at, err, out)
			}
		}
		if whole(t, out) == nil {
			t.Fatalf("crash %d: no set: %s", at, out)
		}
		if text := out.objects[shard.ManifestName]; want == "" {
			want = text
		} else if text != want {
			t.Fatalf("crash %d: another manifest", at)
		}
		if err == nil {
			break
		}
	}
	if noPlan < 2 {
		t.Errorf("%d crashes after the plan was removed", noPlan)
	}
}
