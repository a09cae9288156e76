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

// TestZipf compares the share of objects that come once with the 3/4 of the law.
func TestZipf(t *testing.T) {
	s := Zipf(rand.New(rand.NewPCG(1, 2)), 200_000)
	if share := float64(s.Once) / float64(s.Objects); math.Abs(share-0.75) > 0.01 || len(s.Requests) != 200_000 {
		t.Errorf("%d requests, %.3f of %d objects once", len(s.Requests), share, s.Objects)
	}
}

// TestPopular compares the share of the most popular object with the law.
func TestPopular(t *testing.T) {
	const n = 200_000
	s := Zipf(rand.New(rand.NewPCG(1, 2)), n)
	most := make([]float64, s.Objects)
	for _, object := range s.Requests {
		most[object]++
	}
	sum := 3 * math.Pow(1e6-0.5, -1./3) // of the rest
	for i := 10.; i < 1e6; i++ {
		sum += math.Pow(i, -4./3)
	}
	if got, want := slices.Max(most)/n, math.Pow(10, -4./3)/sum; math.Abs(got/want-1) > 0.06 {
		t.Errorf("%.4f of the requests are for the most popular object, %.4f by the law", got, want)
	}
}

// TestPlank compares the number of objects and of those that come once with the law.
func TestPlank(t *testing.T) {
	const n = 200_000
	s := Plank(rand.New(rand.NewPCG(1, 2)), n)
	// The set has n/20 objects, each requested 5 times on average.
	once, objects := 0.75*n+n/20*5*math.Exp(-5), 0.75*n+n/20*(1-math.Exp(-5))
	if math.Abs(float64(s.Once)/once-1) > 0.01 || math.Abs(float64(s.Objects)/objects-1) > 0.01 ||
		len(s.Requests) != n {
		t.Errorf(
			"%d requests, %d of %d objects once; want %.0f of %.0f",
			len(s.Requests),
			s.Once,
			s.Objects,
			once,
			objects,
		)
	}
}

// TestSizes compares range, mean and tail of sizes with the law.
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

// TestLRU requires that the least recently used object is evicted.
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
	c.Put(0) // evicts 2
	c.Put(1) // evicts 3, not the newest object
	if c.Use(2) || c.Use(3) || !c.Use(0) || !c.Use(1) {
		t.Fatal("0 and 1 are in, 2 and 3 are not")
	}
}

// TestTrace reads a compressed file, and requires an error for a missing one.
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
