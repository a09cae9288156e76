package main

import (
	"fmt"
	"math"
	"sync"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// doorkeeper admits a key that was requested before: "cache on second hit" by Maggs and Sitaraman, CCR 45, 2015. The
// name is from TinyLFU (Einziger, Friedman and Manes, ACM ToS 13, 2017).
//
// It is a filter of two generations in fixed memory. A request asks both and adds the key to the current one. When that
// is full, it becomes the previous one, and the old previous one begins anew. So a key is remembered while one to two
// generations of other keys come after it; a single filter would forget all keys at once.
//
// Keys are hashed with a random secret, so that clients cannot compute keys that are false positives. A doorkeeper is
// safe for concurrent use: asking and adding are one step, so exactly one of several concurrent requests for a new key
// is the first.
type doorkeeper struct {
	mu                sync.Mutex
	current, previous *bloomery.Set
	keys              uint64 // keys per generation
	held              uint64 // keys in the current generation, except false positives
	stats             doorkeeperStats
}

// doorkeeperStats are counts since the start.
type doorkeeperStats struct{ Requests, Admitted, Rotations uint64 }

// newDoorkeeper returns an empty doorkeeper for the given number of keys per generation. fpr bounds the share of keys
// that are admitted at their first request when both generations are full, about half of it by each.
func newDoorkeeper(keys uint64, fpr float64) (*doorkeeper, error) {
	each := 1 - math.Sqrt(1-fpr)
	c := bloomery.Config{Spec: fmt.Sprintf("blocked(fpr=%g)", each), Keys: keys,
		Hashing: bloomery.Hashing{Secret: filter.NewSecret()}}
	d := &doorkeeper{keys: keys}
	for _, generation := range []**bloomery.Set{&d.current, &d.previous} {
		set, err := bloomery.New(c)
		if err != nil {
			return nil, err
		}
		*generation = set
	}
	return d, nil
}

// admit reports whether the key was requested before and is still remembered, and remembers this request.
func (d *doorkeeper) admit(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()

	inCurrent := d.current.ContainsString(key)
	known := inCurrent || d.previous.ContainsString(key)
	d.stats.Requests++
	if known {
		d.stats.Admitted++
	}

	if !inCurrent {
		_ = d.current.AddString(key) // a blocked filter in memory is never full
		if d.held++; d.held >= d.keys {
			d.current, d.previous = d.previous, d.current
			_ = d.current.Reset() // fails only for mapped sets
			d.held = 0
			d.stats.Rotations++
		}
	}
	return known
}

// counts returns the counts since the start.
func (d *doorkeeper) counts() doorkeeperStats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stats
}

// bytes returns the memory of both generations.
func (d *doorkeeper) bytes() uint64 { return 2 * d.current.Info().Bits / 8 }
