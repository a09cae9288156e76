package dleft

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

func TestDecode(t *testing.T) {
	f := must(t, Config{Keys: 100, Remainder: 9, Counting: true}) // 27 words and a half
	for i, h := range filtertest.Hashes(100, 1) {
		for range i%3 + 1 {
			_ = f.Add(h)
		}
	}
	empty := func(w []uint64) (at uint64, cell int) {
		g := &Filter{geometry: f.geometry, words: w}
		for {
			if free := g.match(at, 0); free != 0 {
				return at, bits.TrailingZeros64(free)
			}
			at += f.width() * 8
		}
	}
	for name, c := range map[string]struct {
		change func(*family.Encoded)
		ok     bool
	}{
		"nothing":            {func(*family.Encoded) {}, true},
		"one key more":       {func(e *family.Encoded) { e.Keys++ }, false},
		"no keys":            {func(e *family.Encoded) { e.Keys = 0 }, false},
		"many keys":          {func(e *family.Encoded) { e.Keys = math.MaxUint64 }, false},
		"another count":      {func(e *family.Encoded) { e.Sections[0][1] = 0 }, false},
		"a word behind":      {func(e *family.Encoded) { e.Sections[0][28] = 1 }, false},
		"half a word behind": {func(e *family.Encoded) { e.Sections[0][27] |= 1 << 32 }, false},
		"an empty one marks": {func(e *family.Encoded) {
			w := e.Sections[0]
			at, c := empty(w)
			(&Filter{geometry: f.geometry, words: w}).flip(at, 10, c)
		}, false},
		"all ones": {func(e *family.Encoded) {
			for i := range f.cells() * f.width() {
				e.Sections[0][i/64] |= 1 << (i % 64)
			}
			e.Keys = f.cells() * copies
		}, true},
		"the cells of others": {func(e *family.Encoded) { slices.Reverse(e.Sections[0][:len(e.Sections[0])-1]); e.Keys = 0 }, false},
		"no counter": {func(e *family.Encoded) {
			e.Spec = family.NewSpec(Family, "buckets", 5, "capacity", 100, "remainder", 9)
		}, false},
		"no remainder":      {func(e *family.Encoded) { e.Spec = e.Spec.With("remainder", 0) }, false},
		"no capacity":       {func(e *family.Encoded) { e.Spec = e.Spec.With("capacity", 0) }, false},
		"a large capacity":  {func(e *family.Encoded) { e.Spec = e.Spec.With("capacity", uint64(math.MaxUint64)) }, false},
		"capacity of cells": {func(e *family.Encoded) { e.Spec = e.Spec.With("capacity", 160) }, true},
		"more than cells":   {func(e *family.Encoded) { e.Spec = e.Spec.With("capacity", 161) }, false},
		"many buckets":      {func(e *family.Encoded) { e.Spec = e.Spec.With("buckets", uint64(math.MaxUint64)) }, false},
		"a size":            {func(e *family.Encoded) { e.Spec = e.Spec.With("bytes", 9) }, false},
		"counting=2":        {func(e *family.Encoded) { e.Spec = e.Spec.With("counting", 2) }, false},
	} {
		e := f.Encode()
		e.Sections = [][]uint64{slices.Clone(e.Sections[0])}
		c.change(&e)
		got, err := Decode(e)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		for _, h := range filtertest.Hashes(300, 9) { // none of these may panic
			_, _ = got.Has(h), countOf(got, h)
			_ = got.Add(h)
			_ = got.Remove(h)
		}
		if i := got.Info(); !(i.FPRPrior >= 0 && i.FPRPrior <= 1 && i.FPRPosterior >= 0 && i.FPRPosterior <= 1) {
			t.Errorf("%s: %+v", name, i)
		}
	}
}
