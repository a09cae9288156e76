package bulk

import (
	"math"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestSampleIsBounded checks that the sample of the keys stays small for a new list of any length.
func TestSampleIsBounded(t *testing.T) {
	l := &Losses{sample: map[filter.Hash]struct{}{}}
	l.limit.Store(math.MaxUint64)
	if err := l.Add(filtertest.Hashes(8*sampleSize, 1)); err != nil {
		t.Fatal(err)
	}
	if n := len(l.sample); n > 2*sampleSize || n < sampleSize/2 {
		t.Errorf("%d keys in the sample, want about %d", n, sampleSize)
	}
}
