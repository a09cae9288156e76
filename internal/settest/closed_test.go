package settest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/settest"
)

// TestClosed checks that after Close, and after a failed load into a Set without a filter, every query is true and Err
// returns the reason.
func TestClosed(t *testing.T) {
	dir := t.TempDir()
	small, mapped, sharded := filepath.Join(dir, "small"), filepath.Join(dir, "mapped"), filepath.Join(dir, "sharded")
	guava := filepath.Join(dir, "guava")
	for path, spec := range map[string]string{
		small: "rankindexed(capacity=100,counting=1)", mapped: "standard(m=16777216)", guava: "guava(fpr=0.01)",
	} {
		s := settest.Build(t, settest.Words(50), bloomery.Config{Spec: spec})
		settest.Check(t, s.Save(t.Context(), path))
	}
	c := bloomery.Config{Spec: "standard(bytes=32768)", Sharding: bloomery.Sharding{Shards: 3}}
	settest.Must(settest.BuildShards(t.Context(), slices.Values(settest.Words(50)), sharded, c))
	file := settest.ReadAll(t, small)
	opened := func(path string, o ...bloomery.Option) func() (settest.Querier, error) {
		return func() (settest.Querier, error) { return bloomery.Open(t.Context(), path, o...) }
	}
	closed := func(open func() (settest.Querier, error)) func() (settest.Querier, error) {
		return func() (settest.Querier, error) {
			q, err := open()
			if err != nil {
				return nil, err
			}
			if q.Contains([]byte("absent")) && q.Contains([]byte("absent too")) {
				return nil, fmt.Errorf("finds everything before")
			}
			return q, q.Close()
		}
	}
	live := func(path string) func() (settest.Querier, error) {
		return closed(func() (settest.Querier, error) { return bloomery.OpenLive(t.Context(), path) })
	}
	failed := func(load func(s *bloomery.Set) error) func() (settest.Querier, error) {
		return func() (settest.Querier, error) {
			s := new(bloomery.Set)
			if s.Contains(nil) || s.Err() != nil {
				return nil, fmt.Errorf("the zero Set is not empty")
			}
			if load(s) == nil {
				return nil, fmt.Errorf("no error")
			}
			return s, nil
		}
	}
	for name, form := range map[string]func() (settest.Querier, error){
		"small": closed(opened(small)), "mapped": closed(opened(mapped)), "sharded": closed(opened(sharded)),
		"raw keys": closed(opened(guava)), "concurrent": closed(opened(small, bloomery.WithConcurrent())),
		"bytes":     closed(func() (settest.Querier, error) { return bloomery.FromBytes(file) }),
		"read":      closed(func() (settest.Querier, error) { return bloomery.Read(bytes.NewReader(file)) }),
		"live":      live(small),
		"live map":  live(mapped),
		"live set":  live(sharded),
		"unmarshal": failed(func(s *bloomery.Set) error { return s.UnmarshalBinary(file[:len(file)-1]) }),
	} {
		q, err := form()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !q.Contains(nil) || !q.ContainsString("absent") {
			t.Errorf("%s: says that a key is absent", name)
		}
		if q.Err() == nil {
			t.Errorf("%s: Err is nil", name)
		}
		settest.View(q, func(s *bloomery.Set) {
			many := make([]bool, 2)
			bloomery.Keyed[[]byte](s).ContainsMany(many, [][]byte{nil, {1}})
			if !bloomery.Keyed[uint64](s).Contains(1) || !many[0] || !many[1] {
				t.Errorf("%s: says that a key is absent", name)
			}
			if _, _, err := s.Count(nil); err == nil {
				t.Errorf("%s: Count has no error", name)
			}
			if _, ok, err := s.Get(nil); !ok || err == nil {
				t.Errorf("%s: Get: %v, %v", name, ok, err)
			}
		})
		s, ok := q.(*bloomery.Set)
		if !ok {
			continue
		}
		for what, f := range map[string]func(dst []bool){
			"strings":  func(dst []bool) { bloomery.Keyed[string](s).ContainsMany(dst, []string{"a", "b"}) },
			"integers": func(dst []bool) { bloomery.Keyed[uint64](s).ContainsMany(dst, []uint64{1, 2}) },
			"hashes":   func(dst []bool) { s.ContainsHashes(dst, make([]filter.Hash, 2)) },
			"hash":     func(dst []bool) { dst[0], dst[1] = s.ContainsHash(filter.Hash{}), true },
		} {
			many := make([]bool, 2)
			if f(many); !many[0] || !many[1] {
				t.Errorf("%s, %s: says that a key is absent", name, what)
			}
		}
		if present, err := s.ContainsContext(t.Context(), nil); !present || err == nil {
			t.Errorf("%s: ContainsContext: %v, %v", name, present, err)
		}
		_, err = s.Clone()
		_, marshal := s.MarshalBinary()
		if err == nil || marshal == nil || s.AddString("x") == nil || s.Save(t.Context(), small+".again") == nil {
			t.Errorf("%s: it can be copied or changed", name)
		}
		if err := s.UnmarshalBinary(file); err != nil || s.Err() != nil || !s.ContainsString("key-1") {
			t.Errorf("%s: as a receiver: %v, %v", name, err, s.Err())
		}
	}
}

// TestFailedLoadKeeps checks that a failed load into a Set with a filter changes nothing.
func TestFailedLoadKeeps(t *testing.T) {
	s := settest.Build(t, settest.Words(50), bloomery.Config{Spec: "standard"})
	if err := s.UnmarshalBinary([]byte("damaged")); err == nil || s.Err() != nil || !s.ContainsString("key-1") {
		t.Errorf("%v, %v", err, s.Err())
	}
	if s.ContainsString("absent") && s.ContainsString("absent too") {
		t.Error("it finds everything")
	}
}

// TestUnopenedLive checks that a Live that was never opened answers like a closed one.
func TestUnopenedLive(t *testing.T) {
	l := new(bloomery.Live)
	if !l.Contains([]byte("a")) || !l.ContainsString("a") || !settest.HasUint64(l, 1) {
		t.Error("a key is absent")
	}
	l.View(func(s *bloomery.Set) {
		dst := []bool{false}
		if bloomery.Keyed[string](s).ContainsMany(dst, []string{"a"}); !dst[0] {
			t.Error("a key of a batch is absent")
		}
		if _, ok, err := s.Get([]byte("a")); !ok || err == nil {
			t.Errorf("Get: %v, %v", ok, err)
		}
	})
	if l.Err() == nil || l.Reload(t.Context()) == nil {
		t.Errorf("Err %v, Reload %v", l.Err(), l.Reload(t.Context()))
	}
	if l.Swaps() != 0 || l.String() != "bloomery.Live(, bloomery.Set())" {
		t.Errorf("%d swaps, %v", l.Swaps(), l)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestErrClosed checks that every use after Close or Build returns an error that wraps filter.ErrClosed.
func TestErrClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "set")
	s := settest.Build(t, settest.Words(50), bloomery.Config{Spec: "rankindexed(capacity=100)"})
	settest.Check(t, s.Save(t.Context(), path))
	late := [][]byte{[]byte("late")}
	b := settest.Must(bloomery.NewBuilder(t.Context(), bloomery.Config{}))
	shards := settest.Must(bloomery.NewBuilder(t.Context(),
		bloomery.Config{Sharding: bloomery.Sharding{Dir: filepath.Join(t.TempDir(), "dir"), Shards: 2}}))
	live := settest.Must(bloomery.OpenLive(t.Context(), path))
	addition := settest.Must(s.Addition(bloomery.JobConfig{}))
	removal := settest.Must(s.Removal(bloomery.JobConfig{}))
	opened := settest.Must(bloomery.Open(t.Context(), path))
	for name, of := range map[string]struct {
		io.Closer
		use func() error
	}{
		"Builder":  {b, func() error { return b.Add(late[0]) }},
		"shards":   {shards, func() error { return shards.Add(late[0]) }},
		"Live":     {live, func() error { return live.Reload(t.Context()) }},
		"Addition": {addition, func() error { return addition.AddMany(late) }},
		"Removal":  {removal, func() error { return removal.AddMany(late) }},
		"Set":      {opened, func() error { return opened.Add(late[0]) }},
	} {
		if err := of.Close(); err != nil {
			t.Error(name, err)
		}
		if err := of.use(); !errors.Is(err, filter.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestClosedShared checks that changes of a closed Set for many writers are errors in all goroutines.
func TestClosedShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	set, err := bloomery.New(bloomery.Config{Spec: "blocked", Keys: 1000})
	if err == nil {
		err = set.Save(t.Context(), path)
	}
	settest.Check(t, err)
	set = settest.Must(bloomery.Open(t.Context(), path, bloomery.WithConcurrent(), bloomery.InMemory()))
	settest.Check(t, set.Close())

	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				if err := set.AddString("key"); !errors.Is(err, filter.ErrClosed) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
