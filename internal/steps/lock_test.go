package steps_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/shard"
)

// needLocks skips a test on systems without file locks.
func needLocks(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("no file locks on " + runtime.GOOS)
	}
}

// unfinished returns a plan whose shards are built in a folder.
func unfinished(t *testing.T, dir string, keys int) (*steps.Plan, steps.Store) {
	t.Helper()
	_, text := lines("planned", keys)
	in, out := memoryOf("keys", text), steps.Dir(dir)
	p, err := steps.NewPlan(t.Context(), in, []string{"keys"}, steps.Config{
		Build: bloomery.Config{Spec: "standard(capacity=4000)", Capacity: 4000,
			Sharding: bloomery.Sharding{Shards: 3}}, RangeBytes: 9000})
	if err == nil {
		err = p.Save(t.Context(), out)
	}
	for i := 0; err == nil && i < len(p.Ranges); i++ {
		_, err = p.Range(t.Context(), in, out, i, steps.Options{})
	}
	for s := 0; err == nil && s < p.Shards; s++ {
		_, err = p.Build(t.Context(), out, s, steps.Options{})
	}
	check(t, err)
	return p, out
}

// set builds a set with the same number of shards as unfinished.
func set(t *testing.T, dir string) {
	t.Helper()
	keys, _ := lines("old", 500)
	c := bloomery.Config{Spec: "standard(capacity=4000)", Capacity: 4000, Sharding: bloomery.Sharding{Shards: 3}}
	if _, err := settest.BuildShards(t.Context(), slices.Values(keys), dir, c); err != nil {
		t.Fatal(err)
	}
}

// TestFinishWaits checks that Finish waits for a Locked of its folder, and Lock for Finish.
func TestFinishWaits(t *testing.T) {
	needLocks(t)
	dir := filepath.Join(t.TempDir(), "set")
	set(t, dir)
	p, out := unfinished(t, dir, 2000)
	l, err := bloomery.Lock(t.Context(), dir)
	check(t, err)
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := p.Finish(short, out, steps.Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Finish beside a Locked: %v", err)
	}
	check(t, l.Close())
	waited := make(chan bool, 1)
	hung := &hanging{Store: out, at: func() {
		l, err := bloomery.Lock(short, dir, bloomery.WithWaiting(func() { waited <- true }))
		if err == nil {
			_ = l.Close()
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Lock beside Finish: %v", err)
		}
	}}
	if _, err := p.Finish(t.Context(), hung, steps.Options{}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-waited:
	default:
		t.Error("Lock did not wait for Finish")
	}
}

// hanging is a Locker that calls at when the manifest is written.
type hanging struct {
	steps.Store
	at func()
}

func (h *hanging) Lock(ctx context.Context) (func() error, error) {
	return h.Store.(steps.Locker).Lock(ctx)
}

func (h *hanging) Write(ctx context.Context, name string, write func(w io.Writer) error) error {
	if name == shard.ManifestName {
		h.at()
	}
	return h.Store.Write(ctx, name, write)
}

// TestSaveBesideBuild checks that no plan can be saved in a folder in which a Builder of a sharded set is working.
func TestSaveBesideBuild(t *testing.T) {
	needLocks(t)
	dir := t.TempDir()
	b, err := settest.NewShardBuilder(dir, bloomery.Config{Spec: "standard", Sharding: bloomery.Sharding{Shards: 3}})
	check(t, err)
	defer b.Close()
	defer steps.SetSaveWait(100 * time.Millisecond)()
	_, text := lines("key", 100)
	p, err := steps.NewPlan(t.Context(), memoryOf("keys", text), []string{"keys"},
		steps.Config{Build: bloomery.Config{Spec: "standard", Sharding: bloomery.Sharding{Shards: 3}}})
	check(t, err)
	if err := p.Save(t.Context(), steps.Dir(dir)); !errors.Is(err, filter.ErrLocked) {
		t.Errorf("Save: %v", err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 0 {
		t.Errorf("%d files in the folder, %v", len(all), err)
	}
}

// TestRaces repeatedly runs a distributed build, an addition, a build and a copy in one folder at the same time. After
// each round it must be possible to open the set, and the set must be complete.
func TestRaces(t *testing.T) {
	needLocks(t)
	dir := filepath.Join(t.TempDir(), "set")
	set(t, dir)
	other := filepath.Join(t.TempDir(), "other")
	set(t, other)
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	finished := 0
	for round := 0; round < rounds || finished == 0 && round < 50; round++ { // the order is random
		p, out := unfinished(t, dir, 300+round)
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := p.Finish(t.Context(), out, steps.Options{})
			switch { // another writer may have removed shards or changed the set
			case err == nil:
				finished++
			case !errors.Is(err, steps.ErrMissing) && !errors.Is(err, steps.ErrSetChanged):
				t.Errorf("round %d: Finish: %v", round, err)
			}
		})
		for i := range 2 {
			wg.Go(func() {
				l, err := bloomery.Lock(t.Context(), dir)
				if err != nil {
					t.Errorf("round %d: Lock: %v", round, err)
					return
				}
				defer l.Close()
				for k := range 20 {
					if err := l.AddString(fmt.Sprint("added ", round, i, k)); err != nil && !errors.Is(err, filter.ErrFull) {
						t.Error(err)
					}
				}
				if err := l.Commit(t.Context()); err != nil {
					t.Errorf("round %d: Replace: %v", round, err)
				}
			})
		}
		if round%2 == 1 {
			wg.Go(func() {
				keys, _ := lines(fmt.Sprint("built", round), 400)
				c := bloomery.Config{Spec: "standard(capacity=4000)", Capacity: 4000, Sharding: bloomery.Sharding{Shards: 3}}
				_, err := settest.BuildShards(t.Context(), slices.Values(keys), dir, c)
				if err != nil && !errors.Is(err, filter.ErrLocked) {
					t.Errorf("round %d: Build: %v", round, err)
				}
			})
		}
		if round%3 == 1 {
			wg.Go(func() {
				s, err := bloomery.Open(t.Context(), other)
				if err == nil {
					err = errors.Join(s.Save(t.Context(), dir), s.Close())
				}
				if err != nil && !errors.Is(err, filter.ErrLocked) {
					t.Errorf("round %d: Save: %v", round, err)
				}
			})
		}
		wg.Wait()
		s, err := bloomery.Open(t.Context(), dir)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if err := errors.Join(s.Check(t.Context(), nil), s.Close()); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	if finished == 0 {
		t.Error("no Finish came first")
	}
}

// TestChangedSet checks that Finish does not replace a set that was changed after the plan was saved, unless the user
// removes the record.
func TestChangedSet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	set(t, dir)
	p, out := unfinished(t, dir, 2000)
	l, err := bloomery.Lock(t.Context(), dir)
	check(t, err)
	check(t, errors.Join(l.AddString("a new key"), l.Commit(t.Context()), l.Close()))
	if err := p.Save(t.Context(), out); err != nil { // the plan exists, so nothing is recorded again
		t.Fatal(err)
	}
	_, err = p.Finish(t.Context(), out, steps.Options{})
	record := "work-" + p.ID() + "/replaces.sha256"
	if !errors.Is(err, steps.ErrSetChanged) || !strings.Contains(err.Error(), record) {
		t.Fatalf("Finish: %v", err)
	}
	s, err := bloomery.Open(t.Context(), dir)
	check(t, err)
	if !s.ContainsString("a new key") {
		t.Error("the new key is gone")
	}
	check(t, s.Close())
	check(t, os.Remove(filepath.Join(dir, filepath.FromSlash(record))))
	if _, err := p.BuildAll(t.Context(), out, []int{0, 1, 2}, steps.Options{}); err != nil {
		t.Fatal(err)
	}
	if m, err := p.Finish(t.Context(), out, steps.Options{}); err != nil || m.Keys() != 2000 {
		t.Errorf("Finish without the record: %v", err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 4 {
		t.Errorf("%d files are left, %v", len(all), err)
	}
}
