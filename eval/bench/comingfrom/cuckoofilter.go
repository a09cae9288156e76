package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	cuckoo "github.com/seiflotfy/cuckoofilter"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/interop"
)

// fromCuckoofilter compares a cuckoo filter and rankindexed at its rate.
func fromCuckoofilter(ctx context.Context, w io.Writer, dir string) error {
	present, absent := words("present"), words("absent")

	theirs := cuckoo.NewFilter(keys)
	for _, key := range present {
		if !theirs.Insert([]byte(key)) {
			return errors.New("the cuckoo filter is full")
		}
	}
	// A query compares all fingerprints in two buckets, of 255 values.
	slots := float64(len(theirs.Encode()))
	rate := 1 - math.Pow(1-1./255, 8*keys/slots)

	ours, err := bloomery.New(bloomery.Config{Spec: "rankindexed", Keys: keys, FPR: rate})
	if err != nil {
		return err
	}
	for _, key := range present {
		if err := ours.AddString(key); err != nil {
			return err
		}
	}
	stored, err := ours.MarshalBinary()
	if err != nil {
		return err
	}

	if err := compare(w, present, absent,
		side[string]{"cuckoofilter", func(key string) bool { return theirs.Lookup([]byte(key)) }, rate, int(slots)},
		side[string]{"rankindexed", ours.ContainsString, ours.Info().FPRPrior, len(stored)},
	); err != nil {
		return err
	}

	// A file keeps all that Encode keeps, and the hash function.
	path := filepath.Join(dir, "f.bloom")
	if err := ours.Save(ctx, path); err != nil {
		return err
	}
	again, err := bloomery.Open(ctx, path)
	if err != nil {
		return err
	}
	defer again.Close()
	return errors.Join(want("Open", again.Equal(ours)), cuckooDeletes(theirs, ours, present), cuckooDuplicates(),
		cuckooFull(), cuckooFiles(theirs))
}

// cuckooDeletes deletes the first half of the keys.
func cuckooDeletes(theirs *cuckoo.Filter, ours *bloomery.Set, present []string) error {
	for _, key := range present[:keys/2] {
		if err := ours.Remove([]byte(key)); err != nil {
			return err
		}
		if !theirs.Delete([]byte(key)) {
			return want("Delete", false)
		}
	}
	if err := want("Count", theirs.Count() == keys/2 && ours.Len() == keys/2); err != nil {
		return err
	}
	for _, key := range present[keys/2:] {
		if !ours.ContainsString(key) || !theirs.Lookup([]byte(key)) {
			return want("the other keys stay", false)
		}
	}

	theirs.Reset()
	return errors.Join(ours.Reset(), want("Remove", errors.Is(ours.Remove([]byte("absent")), filter.ErrNotFound)),
		want("Delete of an absent key", !theirs.Delete([]byte("absent"))))
}

// cuckooDuplicates adds one key again and again.
func cuckooDuplicates() error {
	theirs, copies := cuckoo.NewFilter(1000), 0
	for theirs.Insert([]byte("a")) {
		copies++
	}
	ours, err := bloomery.New(bloomery.Config{Spec: "rankindexed(counting=1)", Keys: 1000})
	if err != nil {
		return err
	}
	for range 1000 {
		if err := ours.AddString("a"); err != nil {
			return err
		}
	}
	n, _, err := ours.Count([]byte("a"))
	if err := errors.Join(err, want("eight copies", copies == 8), want("Count", n == 1000)); err != nil {
		return err
	}

	unique := cuckoo.NewFilter(1000)
	unique.InsertUnique([]byte("a"))
	present, err := ours.TestAndAdd([]byte("a"))
	return errors.Join(err, want("TestAndAdd", present && !unique.InsertUnique([]byte("a"))))
}

// cuckooFull adds keys until the filters are full, and then to filters that grow.
func cuckooFull() error {
	theirs := cuckoo.NewFilter(1 << 10)
	ours, err := bloomery.New(bloomery.Config{Spec: "rankindexed", Keys: 1 << 10})
	if err != nil {
		return err
	}
	key := func(i int) []byte { return fmt.Appendf(nil, "key %d", i) }
	taken, lost := 0, 0
	for theirs.Insert(key(taken)) {
		taken++
	}
	for i := range taken {
		if !theirs.Lookup(key(i)) {
			lost++ // the failed Insert dropped the fingerprint of another key
		}
	}
	n := 0
	for ; err == nil; n++ {
		err = ours.Add(key(n))
	}
	if err := errors.Join(want("full", errors.Is(err, filter.ErrFull) && n > 1<<10 && lost <= 1)); err != nil {
		return err
	}
	for i := range n - 1 {
		if !ours.Contains(key(i)) {
			return want("a full filter keeps its keys", false)
		}
	}

	growing := cuckoo.NewScalableCuckooFilter()
	set, err := bloomery.New(bloomery.Config{Spec: "rankindexed(capacity=1000,growth=10)"})
	if err != nil {
		return err
	}
	for i := range 20_000 {
		if err := set.Add(key(i)); err != nil || !growing.Insert(key(i)) {
			return errors.Join(err, want("growth", false))
		}
	}
	return nil
}

// cuckooFiles reads what Encode returns, in their program and ours.
func cuckooFiles(theirs *cuckoo.Filter) error {
	theirs.Insert([]byte("a"))
	again, err := cuckoo.Decode(theirs.Encode())
	if err := errors.Join(err, want("Decode", again != nil && again.Lookup([]byte("a")))); err != nil {
		return err
	}
	small := cuckoo.NewFilter(1000)
	for i := range 800 {
		small.Insert(fmt.Appendf(nil, "key %d", i))
	}
	growing := cuckoo.NewScalableCuckooFilter()
	for name, b := range map[string][]byte{
		"Encode of seiflotfy/cuckoofilter": small.Encode(), "ScalableCuckooFilter": growing.Encode(),
	} {
		_, err := interop.Detect(strings.NewReader(string(b)), int64(len(b)))
		if err := want(name, err != nil && strings.Contains(err.Error(), name)); err != nil {
			return err
		}
	}
	return nil
}
