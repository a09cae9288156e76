package traffic

import (
	"compress/gzip"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestZipf has 3/4 of the objects come up once, as the law says.
func TestZipf(t *testing.T) {
	s := Zipf(rand.New(rand.NewPCG(1, 2)), 200_000)
	if share := float64(s.Once) / float64(s.Objects); math.Abs(share-0.75) > 0.01 || len(s.Requests) != 200_000 {
		t.Errorf("%d requests, %.3f of %d objects once", len(s.Requests), share, s.Objects)
	}
}

// TestSizes holds sizes against the law: their range, their mean, and its heavy tail.
func TestSizes(t *testing.T) {
	const n, large = 300_000, 1e5
	var sum, over float64
	for _, size := range Sizes(rand.New(rand.NewPCG(1, 2)), n) {
		if size < SizeMin || size > SizeMax {
			t.Fatalf("%g bytes", size)
		}
		if sum += size; size > large {
			over++
		}
	}
	if mean := sum / n; math.Abs(mean/SizeMean-1) > 0.15 {
		t.Errorf("mean %.0f bytes, %.0f by the law", mean, SizeMean)
	}
	if want := math.Pow(SizeMin/large, SizePower); math.Abs(over/n/want-1) > 0.08 {
		t.Errorf("%.5f above %g bytes, %.5f by the law", over/n, large, want)
	}
}

// TestLRU evicts the object that was used least recently.
func TestLRU(t *testing.T) {
	c := NewLRU(2, 4)
	c.Put(0)
	c.Put(1)
	if !c.Use(0) || c.Use(2) {
		t.Fatal("0 is in, 2 is not")
	}
	c.Put(2) // evicts 1
	if c.Use(1) || !c.Use(0) || !c.Use(2) {
		t.Fatal("0 and 2 are in, 1 is not")
	}
	c.Put(3) // evicts 0
	if c.Use(0) || !c.Use(2) || !c.Use(3) {
		t.Fatal("2 and 3 are in, 0 is not")
	}
}

// TestTrace reads a compressed file, and fails on one that is not there.
func TestTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace")
	write := func(lines string) {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z := gzip.NewWriter(f)
		_, err = z.Write([]byte(lines))
		if e := z.Close(); err != nil || e != nil {
			t.Fatal(err, e)
		}
	}
	write("a\nb\na\nc\nb\na\n")
	s, err := Trace(t.Context(), path)
	if err != nil || !slices.Equal(s.Requests, []uint32{0, 1, 0, 2, 1, 0}) || s.Objects != 3 || s.Once != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := Trace(t.Context(), path+"x"); err == nil {
		t.Error("a trace that is not there")
	}
}
