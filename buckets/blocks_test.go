package buckets_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// TestBlocks compares the answers of range reads with the answers of the local folder.
func TestBlocks(t *testing.T) {
	for _, spec := range []string{
		"blocked(fpr=0.01)", "blocked(bits_per_key=10,layout=split)", "blockpartitioned(bits_per_key=8,effort=fast)",
	} {
		for _, shards := range []int{1, 16} {
			c := bloomery.Config{Spec: spec, Sharding: bloomery.Sharding{Shards: shards}}
			if shards > 1 {
				c.Hashing.Secret = filter.NewSecret()
			}
			dir, local := storetest.Build(t, keys, c)
			s := openSet(t, buckets.Folder(dir), buckets.Options{Blocks: true, BlockCacheBytes: 100_000,
				Secret: c.Hashing.Secret})
			if n := storetest.Compare(t, s, local, keys-3000, 6000, 4); n != 0 || s.Err() != nil {
				t.Fatalf("%s: %d unknown: %v", spec, n, s.Err())
			}
			st := s.Stats()
			if st.Fetches != 0 || st.BlockReads < 1000 || st.BlockHits == 0 {
				t.Errorf("%s: %+v", spec, st)
			}
		}
	}
}

// TestBlockFaults makes reads fail or end early. It does not damage bytes, since no checksum covers blocks.
func TestBlockFaults(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)",
		Sharding: bloomery.Sharding{Shards: 16}})
	f := &storetest.Faulty{Store: buckets.Folder(dir), Refuse: 0.1, Cut: 0.15, Slow: 0.1}
	f.Off.Store(true)
	s := openSet(t, f, buckets.Options{Blocks: true, BlockCacheBytes: 20_000})
	f.Off.Store(false)
	if n := storetest.Compare(t, s, local, keys-3000, 6000, 16); n == 0 || s.Err() == nil {
		t.Errorf("%d unknown: no faults?", n)
	}
	f.Off.Store(true)
	if n := storetest.Compare(t, s, local, keys-3000, 6000, 4); n != 0 {
		t.Errorf("%d unknown after the faults", n)
	}
}

// TestBlockRequests counts requests. The header of a shard and each block must be read once, and close blocks of a
// batch in one request.
func TestBlockRequests(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)",
		Sharding: bloomery.Sharding{Shards: 1}})
	f := &storetest.Faulty{Store: buckets.Folder(dir)}
	s := openSet(t, f, buckets.Options{Blocks: true})
	f.Opens.Store(0)
	for range 3 {
		storetest.Compare(t, s, local, 5, 1, 1)
		if n := f.Opens.Load(); n != 2 {
			t.Errorf("%d requests for a header and a block", n)
		}
	}
	if st := s.Stats(); st.Bytes != 64+320 && st.Bytes > 64+1024 {
		t.Errorf("%d bytes", st.Bytes)
	}
	all := make([]filter.Hash, 5000)
	for i := range all {
		all[i] = s.Hasher().SumUint64(uint64(i))
	}
	got, want := make([]bool, len(all)), make([]bool, len(all))
	f.Opens.Store(0)
	if err := s.ContainsHashesContext(t.Context(), got, all); err != nil {
		t.Fatal(err)
	}
	local.ContainsHashes(want, all)
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("key %d: %v", i, got[i])
		}
	}
	if n := f.Opens.Load(); n != 1 {
		t.Errorf("%d requests for blocks of a file of %d bytes", n, local.Manifest().Bytes())
	}
}

// TestBlocksRefused checks that sets whose queries read more than one block are refused, and a shard that is replaced
// after Open.
func TestBlocksRefused(t *testing.T) {
	dir, _ := storetest.Build(t, 1000, bloomery.Config{Spec: "standard(fpr=0.01)", Sharding: bloomery.Sharding{Shards: 2}})
	_, err := buckets.OpenSet(t.Context(), buckets.Folder(dir), buckets.Options{Blocks: true})
	if !errors.Is(err, filter.ErrUnsupported) {
		t.Error(err)
	}
	dir, local := storetest.Build(t, 1000, bloomery.Config{Spec: "blocked(fpr=0.01)",
		Sharding: bloomery.Sharding{Shards: 1}})
	f := &storetest.Faulty{Store: buckets.Folder(dir)}
	s := openSet(t, f, buckets.Options{Blocks: true})
	storetest.Compare(t, s, local, 5, 1, 1)
	time.Sleep(5 * time.Millisecond)
	other, _ := storetest.Build(t, 1000, bloomery.Config{Spec: "blocked(fpr=0.01)",
		Sharding: bloomery.Sharding{Shards: 1}, Hashing: bloomery.Hashing{Seed: 6}})
	storetest.Copy(t, buckets.Folder(other), buckets.Folder(dir))
	present := 0
	for i := range uint64(1000) {
		yes, err := s.ContainsContext(t.Context(), storetest.Key(i))
		if !yes || err != nil && !errors.Is(err, buckets.ErrReplaced) {
			t.Fatalf("key %d: %v, %v", i, yes, err)
		}
		if err == nil {
			present++ // its block is in the cache
		}
	}
	if present > 100 {
		t.Errorf("%d keys were answered from a replaced shard", present)
	}
}

// TestBlocksVerified damages blocks during the transfer. Before Verify, no error reports this. After Verify, an answer
// must be right or an error, even for blocks that were in the cache. Verify must return an error for damage that it
// finds.
func TestBlocksVerified(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)",
		Sharding: bloomery.Sharding{Shards: 4}})
	f := &storetest.Faulty{Store: buckets.Folder(dir), Flip: 1}
	f.Off.Store(true)
	s := openSet(t, f, buckets.Options{Blocks: true})
	for i := range uint64(4) { // read the headers of the shards
		storetest.Compare(t, s, local, i*100, 100, 1)
	}
	f.Off.Store(false)
	wrong := 0
	for i := keys - 2000; i < keys; i++ {
		if yes, _ := s.ContainsContext(t.Context(), storetest.Key(uint64(i))); !yes {
			wrong++
		}
	}
	if wrong == 0 {
		t.Error("no block was damaged: the test tests nothing")
	}
	if err := s.Verify(t.Context(), nil); !errors.Is(err, shard.ErrChanged) {
		t.Errorf("Verify of damaged answers: %v", err)
	}
	f.Off.Store(true)
	if err := s.Verify(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if n := storetest.Compare(t, s, local, keys-2000, 4000, 4); n != 0 {
		t.Errorf("%d unknown", n)
	}
	if err := s.Verify(t.Context(), nil); err != nil { // the cache is empty again
		t.Fatal(err)
	}
	f.Off.Store(false)
	if n := storetest.Compare(t, s, local, keys-2000, 4000, 4); n == 0 || !errors.Is(s.Err(), shard.ErrChanged) {
		t.Errorf("damaged answers: %d unknown, %v", n, s.Err())
	}
	f.Off.Store(true)
	if n := storetest.Compare(t, s, local, keys-2000, 4000, 4); n != 0 {
		t.Errorf("%d unknown after the damage", n)
	}
}

// TestBlocksClosed checks that after Close a block in the cache gives no answer, and that Err returns the reason.
func TestBlocksClosed(t *testing.T) {
	dir, _ := storetest.Build(t, 1000, bloomery.Config{Spec: "blocked(fpr=0.01)", Sharding: bloomery.Sharding{Shards: 2}})
	for name, o := range map[string]buckets.Options{"blocks": {Blocks: true}, "shards": {}} {
		s := openSet(t, buckets.Folder(dir), o)
		absent := uint64(0)
		for absent = 2000; s.ContainsUint64(absent); absent++ {
		}
		if err := errors.Join(s.Err(), s.Close()); err != nil {
			t.Fatal(err)
		}
		if err := s.Err(); !errors.Is(err, buckets.ErrClosed) {
			t.Errorf("%s: Err before a query: %v", name, err)
		}
		yes, err := s.ContainsContext(t.Context(), storetest.Key(absent))
		many := []bool{false}
		s.ContainsManyStrings(many, []string{"x"})
		if !yes || !s.ContainsUint64(absent) || !many[0] || !errors.Is(err, buckets.ErrClosed) {
			t.Errorf("%s: %v, %v, %v", name, yes, many, err)
		}
		_, refreshed := s.Refresh(t.Context())
		for _, err := range []error{s.Err(), refreshed, s.Verify(t.Context(), nil)} {
			if !errors.Is(err, buckets.ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
