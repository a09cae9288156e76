package main

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
)

// TestDoorkeeper requires that a key is remembered for one to two generations and then forgotten.
func TestDoorkeeper(t *testing.T) {
	const keys = 1000
	d, err := newDoorkeeper(keys, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 * keys {
		key := fmt.Sprint("key ", i)
		if d.admit(key) || !d.admit(key) {
			t.Fatalf("key %d is known at once, or not the second time", i)
		}
		if old := i - keys + 1; old >= 0 && !d.previous.ContainsString(fmt.Sprint("key ", old)) &&
			!d.current.ContainsString(fmt.Sprint("key ", old)) {
			t.Fatalf("key %d is forgotten after %d others", old, i-old)
		}
		if old := i - 2*keys; old >= 0 && (d.previous.ContainsString(fmt.Sprint("key ", old)) ||
			d.current.ContainsString(fmt.Sprint("key ", old))) {
			t.Fatalf("key %d is still known after %d others", old, i-old)
		}
	}
	if got, want := d.counts(), (doorkeeperStats{20 * keys, 10 * keys, 10}); got != want || d.bytes() == 0 {
		t.Errorf("%+v, want %+v; %d bytes", got, want, d.bytes())
	}
	if _, err := newDoorkeeper(0, 0.01); err == nil {
		t.Error("no keys")
	}
}

// TestFalseAdmissions compares the share of new keys that are admitted with the bound, over many generations.
func TestFalseAdmissions(t *testing.T) {
	const keys, all, fpr = 5000, 200_000, 0.01
	d, err := newDoorkeeper(keys, fpr)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		d.admit(fmt.Sprint("key ", i))
	}
	// The current generation is half full on average.
	got, most := float64(d.counts().Admitted)/all, 0.75*fpr
	if got > most+5*math.Sqrt(most/all) || got < fpr/4 {
		t.Errorf("%g of new keys are admitted", got)
	}
}

// TestConcurrentRequests requests keys from many goroutines at once, and checks that one request per key counts as the
// first.
func TestConcurrentRequests(t *testing.T) {
	d, err := newDoorkeeper(10_000, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	var first atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 1000 {
				if !d.admit(fmt.Sprint("key ", i)) {
					first.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := first.Load(); n != 1000 {
		t.Errorf("%d first requests for 1000 keys", n)
	}
}
