package anneal

import (
	"bytes"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "measure the tables and write them")

// throwsOf returns the number of throws of a measurement: the most in the range of geometries in use, and fewer for
// long searches, which vary less.
func throwsOf(width, passes int, size, load float64) float64 {
	throws := 12_000.0
	if width >= 3 && size >= 4 && load >= 0.2 {
		throws = 60_000
	}
	if passes > 150 {
		throws /= 4
	}
	if passes > 600 {
		throws /= 2
	}
	return min(throws, 1<<21*load)
}

// inWindows returns the yield of a plain search of random keys, which runs one pass after the other.
func inWindows(width, passes int, size, load float64, seed uint64) float64 {
	r := rand.New(rand.NewPCG(seed, 0x77696e646f7773))
	sizes, throws := make([]uint32, max(1, int(throwsOf(width, passes, size, load)/size))), 0
	for range int(math.Round(float64(len(sizes)) * size)) {
		sizes[r.IntN(len(sizes))]++
		throws++
	}
	geometry := Geometry{Bits: uint64(float64(throws)/load) + 1<<width - 1, K: 1, Width: width}
	var s State
	lay(&s, geometry, sizes, r)
	rnd := Random(seed)
	NewPart(passes).Run(&s, &rnd, false)
	return yield(&s, throws)
}

// inWords is inWindows for blocks of random keys with a number of groups.
func inWords(width, passes, groups int, size, load float64, seed uint64) float64 {
	r := rand.New(rand.NewPCG(seed, 0x776f726473))
	keys := int(size) * groups
	k := max(1, int(math.Round(load*WordsBits/float64(keys))))
	geometry := Geometry{Bits: max(32, 32*uint64(math.Round(float64(keys*k)/load/32))), K: k, Width: width, Words: true}
	blocks := max(24, int(throwsOf(width, passes, size, load)/float64(keys*k)))
	sum := 0.0
	var s State
	rnd := Random(seed)
	for range blocks {
		sizes := make([]uint32, groups)
		for range keys {
			sizes[r.IntN(groups)]++
		}
		lay(&s, geometry, sizes, r)
		NewPart(passes).RunSmall(&s, &rnd, keys, false)
		sum += yield(&s, keys*k)
	}
	return sum / float64(blocks)
}

// lay gives s random base positions.
func lay(s *State, geometry Geometry, sizes []uint32, r *rand.Rand) {
	s.Reset(geometry, sizes)
	for j := range sizes {
		pos := s.Positions(j)
		for i := range pos {
			if pos[i] = uint32(r.Uint64N(geometry.base())); geometry.Words {
				pos[i] = Twice(pos[i])
			}
		}
	}
}

// yield returns the yield of a search after the given number of throws on the bits of s.
func yield(s *State, throws int) float64 {
	bits := float64(s.Bits)
	return -math.Log1p(-float64(s.Ones())/bits) * bits / float64(throws)
}

// power is the inverse of the logarithm of an axis.
func power(x float64) float64 { return math.Round(1e6*math.Exp(x)) / 1e6 }

func atWindows(at []float64) float64 {
	return inWindows(int(at[0]), int(power(at[1])), power(at[2]), power(at[3]), 1)
}

func atWords(at []float64) float64 {
	return inWords(int(at[0]), int(power(at[1])), int(math.Round(1/(1-at[2]))), power(at[3]), power(at[4]), 1)
}

// TestTables measures some points of the tables again. With -update it measures all of them.
func TestTables(t *testing.T) {
	r := rand.New(rand.NewPCG(100, 1))
	for _, x := range []struct {
		name string
		at   func([]float64) float64
		axes []Axis
	}{
		{"words.table", atWords, wordsAxes()}, {"windows.table", atWindows, windowsAxes()},
	} {
		if *update {
			if err := os.WriteFile(x.name, MeasureTable(x.at, x.axes...), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		stored, err := os.ReadFile(x.name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range gridSize(x.axes...) {
			at := gridPoint(i, x.axes)
			if power(at[1]) > 150 || r.IntN(100) > 0 {
				continue
			}
			got := MeasureTable(func([]float64) float64 { return x.at(at) }, Axis{0}) // a grid of one point
			if !bytes.Equal(got, stored[2*i:2*i+2]) {
				t.Errorf("%s at %.3g: %x, measured %x; run go generate", x.name, at, stored[2*i:2*i+2], got)
			}
		}
	}
}
