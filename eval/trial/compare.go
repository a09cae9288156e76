package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"

	"github.com/bloomery/bloomery"
)

// span is a range of keys: those from first up to, but not including, end.
type span struct{ first, end int }

// every returns each step-th key.
func every(step int, keys [][]byte) (all [][]byte) {
	if step == 1 {
		return keys
	}
	for i := 0; i < len(keys); i += step {
		all = append(all, keys[i])
	}
	return all
}

// compare compares the answers of our sets to each step-th key with those in a file. A set must have all keys of its
// span.
func (t *trial) compare(j *job, d *direction, sets []*bloomery.Set, members []span) error {
	keys := every(j.step, j.keys)
	bits, err := os.ReadFile(j.f.answers)
	if err != nil {
		return err
	}
	if want := (len(sets)*len(keys) + 7) / 8; len(bits) != want {
		return fmt.Errorf("%d bytes of answers, want %d", len(bits), want)
	}
	ours := make([]bool, len(keys))
	for i, set := range sets {
		bloomery.Keyed[[]byte](set).ContainsMany(ours, keys)
		d.Filters++
		for at, key := range keys {
			bit := i*len(keys) + at
			theirs := bits[bit/8]>>(bit%8)&1 == 1
			single := set.Contains(key)
			if j.c.kind == long || j.c.kind == xxh64 {
				single = bloomery.Keyed[uint64](set).Contains(binary.LittleEndian.Uint64(key))
			}
			in := members[i].first <= at*j.step && at*j.step < members[i].end
			d.Answers++
			switch {
			case theirs != ours[at] || theirs != single:
				t.fault(d, "%s: filter %d, key %q: theirs %t, ours %t and %t", j.c, i, key, theirs, ours[at], single)
			case in && !theirs:
				t.fault(d, "%s: filter %d, key %q: a false negative on both sides", j.c, i, key)
			case theirs && !in:
				d.FalsePositives++
			}
		}
	}
	return nil
}

// same notes whether two files are equal.
func (t *trial) same(d *direction, c testCase, what string, want, got []byte) {
	if bytes.Equal(want, got) {
		d.EqualFiles++
		return
	}
	t.fault(d, "%s: %s has other bytes: %d, want %d", c, what, len(got), len(want))
}
