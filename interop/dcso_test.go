package interop_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/interop"
)

// TestDCSOData checks that data attached to a filter changes neither its format nor its answers.
func TestDCSOData(t *testing.T) {
	b := file(t, "dcso-data")
	if f, err := interop.Detect(bytes.NewReader(b), int64(len(b))); f != interop.DCSO || err != nil {
		t.Errorf("taken for %q, %v", f, err)
	}
	in := bytes.NewReader(b)
	set := must(interop.Read(in, interop.DCSO, uint64(len(b))))
	if rest := must(io.ReadAll(in)); string(rest) != "attached\nlines\n" {
		t.Errorf("left: %q", rest)
	}
	if !bytes.Equal(write(t, set, interop.DCSO), file(t, "dcso")) {
		t.Error("not the filter without the data")
	}
}

// TestDCSOHeaders checks the errors for headers that no filter has, before memory is allocated, and that a truncated
// filter is not taken for a filter of RedisBloom, whose first number has the same place.
func TestDCSOHeaders(t *testing.T) {
	head := func(at int, v uint64) []byte {
		b := bytes.Clone(file(t, "dcso"))
		binary.LittleEndian.PutUint64(b[at:], v)
		return b
	}
	for what, c := range map[string]struct {
		file []byte
		want error
	}{
		"version 2":     {head(0, 2), interop.ErrFormat},
		"a flag":        {head(0, 1<<8+1), interop.ErrFormat},
		"no capacity":   {head(8, 0), filter.ErrCorrupt},
		"rate 0":        {head(16, 0), filter.ErrCorrupt},
		"rate 1":        {head(16, math.Float64bits(1)), filter.ErrCorrupt},
		"a negative":    {head(16, math.Float64bits(-0.01)), filter.ErrCorrupt},
		"not a number":  {head(16, math.Float64bits(math.NaN())), filter.ErrCorrupt},
		"no probes":     {head(24, 0), interop.ErrFormat},
		"256 probes":    {head(24, 256), interop.ErrFormat},
		"2^63 probes":   {head(24, 1<<63), interop.ErrFormat},
		"no bits":       {head(32, 0), filter.ErrCorrupt},
		"2^50 bits":     {head(32, 1<<50), filter.ErrTooLarge},
		"2^62 bits":     {head(32, 1<<62), filter.ErrTooLarge},
		"2^64-1 bits":   {head(32, math.MaxUint64), filter.ErrTooLarge},
		"a bit behind":  {head(160, 1<<63), filter.ErrCorrupt},
		"fewer words":   {head(32, 1025), io.ErrUnexpectedEOF},
		"a word behind": {append(head(32, 1025), 0), io.ErrUnexpectedEOF},
	} {
		if set, err := interop.Read(bytes.NewReader(c.file), interop.DCSO, 1<<30); set != nil || !errors.Is(err, c.want) ||
			!refused(err) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}

	for _, n := range []int{48, 56, 167} {
		err := detected(file(t, "dcso")[:n])
		if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "a dcso filter of 168 bytes") {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	any64 := head(40, math.MaxUint64) // a number of keys that nothing limits
	if set := must(interop.Read(bytes.NewReader(any64), interop.DCSO, 1<<20)); set.Info().Keys != math.MaxUint64 {
		t.Errorf("%d keys", set.Info().Keys)
	}
}

// TestDCSORate checks that a file states the planned rate, or the predicted rate if it has none, and that it is a
// rate even if the filter has one bit.
func TestDCSORate(t *testing.T) {
	for spec, want := range map[string][2]float64{
		"dcso(fpr=0.001)": {0.001, 0.001}, "dcso(m=10000,k=7)": {0.008, 0.0085}, "dcso(m=1,k=3)": {0.99, 1},
		"dcso(m=1000000,k=255)": {1e-308, 1e-100},
	} {
		set := must(bloomery.New(bloomery.Config{Spec: spec, Keys: 1000}))
		b := write(t, set, interop.DCSO)
		rate := math.Float64frombits(binary.LittleEndian.Uint64(b[16:]))
		if rate < want[0] || rate > want[1] || rate >= 1 {
			t.Errorf("%s: rate %g", spec, rate)
		}
		same(t, b, interop.DCSO)
	}
}
