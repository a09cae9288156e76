package rankindexed

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// TestContent copies filters bucket by bucket, with and without extensions, and compares the files.
func TestContent(t *testing.T) {
	for _, c := range []Config{
		{Keys: 20000}, {Keys: 20000, Bucket: 512}, {Keys: 3000, Counting: true}, {Keys: 3000, ValueBits: 7, Growth: 2},
	} {
		f := made(t, c)
		h := filter.NewHasher(3)
		for i := range c.Keys {
			if err := f.Add(h.SumUint64(i)); err != nil {
				t.Fatal(err)
			}
			if i%7 == 0 {
				if err := f.Add(h.SumUint64(i)); err != nil {
					t.Fatal(err)
				}
			}
			if i%5 == 0 {
				if err := f.Remove(h.SumUint64(i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		n, err := f.SameShape()
		if err != nil {
			t.Fatal(err)
		}
		read, write := f.BucketReader(), n.BucketWriter()
		s := f.ChainShape()
		var b family.ChainBucket
		for bucket := range s.Buckets {
			read(bucket, &b)
			if uint64(len(b.Cells)) != f.CellsOf(bucket) {
				t.Fatalf("bucket %d: %d cells, want %d", bucket, len(b.Cells), f.CellsOf(bucket))
			}
			at := 0
			for _, n := range b.Lengths {
				chain := b.Cells[at:][:n]
				at += int(n)
				if !slices.IsSortedFunc(chain, func(x, y uint64) int { return int(x>>s.Payload) - int(y>>s.Payload) }) {
					t.Fatalf("bucket %d: a chain is not in order", bucket)
				}
			}
			var extensions [family.ChainLevels]uint64
			levels := 1
			for level := 1; level < family.ChainLevels; level++ {
				if number, ok := f.Extension(bucket, level); ok {
					extensions[level] = number
					levels++
				}
			}
			if levels != s.Levels(uint64(len(b.Cells))) {
				t.Fatalf("bucket %d: %d levels for %d cells", bucket, levels, len(b.Cells))
			}
			if err := write(bucket, &b, extensions); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := n.Stored(false), f.Encode(); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: the copy differs", c)
		}
		if got, want := n.Stored(true), (Trimmed{f}).Encode(); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: the trimmed copy differs", c)
		}
		full := family.ChainBucket{Cells: make([]uint64, 1<<15), Lengths: b.Lengths}
		empty, _ := f.SameShape()
		if err := empty.BucketWriter()(0, &full, [family.ChainLevels]uint64{}); !errors.Is(err, filter.ErrFull) {
			t.Errorf("too many cells: %v", err)
		}
		if s.Most() < c.Keys {
			t.Errorf("at most %d cells for %d keys", s.Most(), c.Keys)
		}
	}
}
