package gcs_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	_ "github.com/bloomery/bloomery/buckets/gcs"
	"github.com/bloomery/bloomery/buckets/internal/fakegcs"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
)

func open(t *testing.T, prefix string) buckets.Store {
	s, err := buckets.OpenStore(t.Context(), "gs://bucket/"+prefix)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	fakegcs.New(t).Page(2)
	storetest.Put(t, open(t, ""), "sets", "not below the prefix")
	storetest.Run(t, open(t, "sets/one"))
}

// TestLate checks that a late worker and a late Finish do not change a finished set.
func TestLate(t *testing.T) {
	fakegcs.New(t)
	storetest.Late(t, open(t, "sets/late"))
}

// TestParts writes an object in parts, and aborts the upload of another one.
func TestParts(t *testing.T) {
	fakegcs.New(t)
	s := open(t, "")
	big := bytes.Repeat([]byte("0123456789abcdef"), 40<<16)
	write := func(name string, fail error) error {
		return s.Write(t.Context(), name, func(w io.Writer) error {
			_, err := w.Write(big)
			return errors.Join(err, fail)
		})
	}
	if err := write("big", nil); err != nil {
		t.Fatal(err)
	}
	if b, err := storetest.Read(t.Context(), s, "big", "", 0, -1); err != nil || !bytes.Equal(b, big) {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	if err := write("broken", errors.New("wrong")); err == nil || err.Error() != "wrong" {
		t.Error(err)
	}
	if _, err := s.Stat(t.Context(), "broken"); err == nil {
		t.Error("an object appeared")
	}
}

// TestCut cuts responses off and checks that the client resumes.
func TestCut(t *testing.T) {
	f := fakegcs.New(t)
	s := open(t, "x")
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	storetest.Put(t, s, "big", string(big))
	var cuts atomic.Int32
	f.Cut(func() int { cuts.Add(1); return 300_000 })
	b, err := storetest.Read(t.Context(), s, "big", "", 100, -1)
	if err != nil || !bytes.Equal(b, big[100:]) || cuts.Load() < 4 {
		t.Errorf("%d bytes, %d answers, %v", len(b), cuts.Load(), err)
	}
}

// TestSet compares a set in the bucket with the local one, by shards and by blocks, and then replaces its shards.
func TestSet(t *testing.T) {
	for _, blocks := range []bool{false, true} {
		f := fakegcs.New(t)
		dir, local := storetest.Build(t, 40_000, bloomery.Config{Spec: "blocked(fpr=0.01)",
			Sharding: bloomery.Sharding{Shards: 16}})
		storetest.Copy(t, buckets.Folder(dir), open(t, "set"))
		s, err := buckets.Open(t.Context(), "gs://bucket/set", buckets.Options{
			Blocks: blocks, CacheBytes: int64(local.Manifest().Bytes())/16*3 + 3000, BlockCacheBytes: 30_000,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var n atomic.Int32
		f.Cut(func() int {
			if n.Add(1)%5 == 0 {
				return 20
			}
			return -1
		})
		if n := storetest.Compare(t, s, local, 39_500, 1000, 8); n != 0 {
			t.Errorf("%d unknown: %v", n, s.Err())
		}
		for _, e := range local.Manifest().Shards {
			f.Change("set/"+e.File, func(b []byte) []byte { clear(b[len(b)/2:]); return b })
		}
		failed := 0
		for i := range uint64(300) {
			yes, err := s.ContainsContext(t.Context(), storetest.Key(i))
			if !yes || err != nil && !strings.Contains(err.Error(), "Refresh") {
				t.Fatalf("%v, %v", yes, err)
			}
			if err != nil {
				failed++
			}
		}
		if failed < 200 {
			t.Errorf("%d of 300 queries found that their shard was replaced", failed)
		}
	}
}
