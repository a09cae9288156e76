package ribbon

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/hashes"
)

// valued builds a filter in which key i has a value that depends on i.
func valued(t *testing.T, spec string, hs []filter.Hash) (*Filter, []uint64) {
	t.Helper()
	b := builder(t, spec, len(hs))
	var values []uint64
	for i := range hs {
		values = append(values, uint64(i)*golden>>(64-b.c.ValueBits))
	}
	for lo := 0; lo < len(hs); lo += 1000 {
		hi := min(lo+1000, len(hs))
		if err := b.AddValues(hs[lo:hi], values[lo:hi]); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(hs) / 3; n > 0 { // repeat some keys
		if err := b.AddValues(hs[:n], values[:n]); err != nil {
			t.Fatal(err)
		}
	}
	return finish(t, b), values
}

func TestValues(t *testing.T) {
	for _, spec := range []string{
		"ribbon(r=0,value_bits=1,w=128)", "ribbon(r=0,value_bits=32)", "ribbon(value_bits=5)",
		"ribbon(r=32,value_bits=32)", "ribbon(r=3,value_bits=7,w=128,wide=400)", "ribbon(fpr=0.003,value_bits=2)",
		"ribbon(bits_per_key=9.4,value_bits=9)",
	} {
		for _, n := range []int{0, 1, 256, 257, 3000, 30_000} {
			hs := filtertest.Hashes(n, 5)
			f, values := valued(t, spec, hs)
			if f.keys != uint64(n) {
				t.Errorf("%s: %d keys of %d", f.builtSpec(), f.keys, n)
			}
			for i, h := range hs {
				h.Lo ^= uint64(i) & hashes.ValueMask // bits that do not distinguish keys
				if v, ok := f.Get(h); v != values[i] || !ok || !f.Has(h) {
					t.Fatalf("%s, %d keys: value of key %d is %d, %t, want %d", f.builtSpec(), n, i, v, ok, values[i])
				}
			}
			for _, h := range filtertest.Hashes(1000, 6) {
				if v, ok := f.Get(h); v>>f.ValueBits() != 0 || ok != f.Has(h) {
					t.Fatalf("%s, %d keys: value %d, %t", f.builtSpec(), n, v, ok)
				}
			}
		}
	}
}

// TestContradiction adds a key with two values, in filters with and without layers.
func TestContradiction(t *testing.T) {
	for _, n := range []int{2, 100, 5000, 300_000} {
		b := builder(t, "ribbon(r=0,value_bits=4)", n)
		hs := filtertest.Hashes(n, 9)
		hs[n-1] = filter.Hash{Hi: hs[0].Hi, Lo: hs[0].Lo ^ 1} // differs in a bit that does not distinguish keys
		values := make([]uint64, n)
		values[n-1] = 5
		if err := b.AddValues(hs, values); err != nil {
			t.Fatal(err)
		}
		if f, err := b.Build(t.Context()); !errors.Is(err, filter.ErrValues) || f != nil {
			t.Errorf("%d keys: %v, %v", n, f, err)
		}
	}
}

func TestAddErrors(t *testing.T) {
	hs := filtertest.Hashes(2, 1)
	for i, err := range []error{
		builder(t, "ribbon(value_bits=3)", 0).AddMany(hs),
		builder(t, "ribbon", 0).AddValues(hs, []uint64{1, 2}),
		builder(t, "ribbon(value_bits=3)", 0).AddValues(hs, []uint64{1}),
		builder(t, "ribbon(value_bits=3)", 0).AddValues(hs, []uint64{1, 8}),
	} {
		if !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, s := range []string{
		"r=0", "r=33", "w=63", "w=0", "value_bits=33", "wide=1024", "r=32,wide=1", "r=4,fpr=0.1", "fpr=0.1,wide=4",
		"r=0,value_bits=3,bytes=10", "fpr=1e-10", "seed=65536", "bits_per_key=0.9", "bits_per_key=5,value_bits=5",
		"segment=3",
	} {
		spec, err := filter.ParseSpec("ribbon(" + s + ")")
		if err != nil {
			t.Fatal(err)
		}
		c, err := ConfigFromSpec(spec, 1000)
		if err == nil {
			_, err = NewBuilder(c)
		}
		if !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%s: %v", spec, err)
		}
	}
	if _, _, err := (Config{Size: family.Sizing{FPR: 0.1}}).Geometry(1 << 50); !errors.Is(err, filter.ErrTooLarge) {
		t.Error(err)
	}
}

// TestForecast compares forecasts with filters.
func TestForecast(t *testing.T) {
	for _, n := range []int{0, 1, 200, 1000, 20_000, 300_000} {
		for _, w := range []uint{64, 128} {
			c := Config{R: 8, W: w}
			bits, rate, err := c.Forecast(uint64(n))
			f := build(t, fmt.Sprintf("ribbon(w=%d)", w), filtertest.Hashes(n, 2))
			off := float64(bits)/float64(max(f.totalBits(), 1)) - 1
			if err != nil || n > 0 && math.Abs(off) > 0.01 || rate != 1./256 {
				t.Errorf("%d keys: %d bits, rate %g, %v; the filter has %d", n, bits, rate, err, f.totalBits())
			}
		}
	}
}

// TestForecastLimit checks that a forecast respects a limit of the size, as a build does, and uses nearly all of it.
func TestForecastLimit(t *testing.T) {
	for _, n := range []uint64{200, 300, 1000, 5000, 20_000, 300_000, 1e6, 1e7, 1e9} {
		for b := 6; b < 128; b++ {
			for _, valueBits := range []uint{0, 3} {
				perKey := float64(b)/4 + float64(valueBits)
				limit := uint64(math.Ceil(perKey * float64(n)))
				for _, size := range []family.Sizing{{BitsPerKey: perKey}, {Bytes: limit / 8}} {
					c := Config{Keys: n, Size: size, ValueBits: valueBits}
					bits, _, err := c.Forecast(n)
					if err != nil || bits > limit || n >= 300_000 && float64(bits) < 0.999*float64(limit) {
						t.Errorf("%d keys, %+v: %d bits of %d, %v", n, c, bits, limit, err)
					}
				}
			}
		}
	}
}

// TestBytes compares filters with digests of the filters of the first version, which inserted the equations of a bucket
// from the last start to the first. With one column, many equations follow from others and agree with them. If some
// keys have a second column, the order determines its bits.
func TestBytes(t *testing.T) {
	t.Parallel()
	const few = 3 // filters of the first digest; -short tests only these
	for spec, want := range map[string][2]string{
		"ribbon(r=8)":                            {"c52d2bfa78c4027d", "16f723c53dbfc39e"},
		"ribbon(r=1)":                            {"35ab344e6bb1aaeb", "7775b26e0bdffffc"},
		"ribbon(r=1,wide=1)":                     {"b0f4332bcc7885a5", "afeae04af5dd4c2a"},
		"ribbon(r=1,wide=77)":                    {"39a24a2ccf57ca87", "cc8cc2f194174c1a"},
		"ribbon(r=1,wide=300)":                   {"31c4e17234b7ec2c", "4919f1adfe3f8033"},
		"ribbon(r=2,wide=1000)":                  {"950ec74bbdd818ae", "c8f6a7a3dce4a566"},
		"ribbon(r=1,w=128,wide=511,seed=2)":      {"420eb6cb3e9db44b", "33c11859a6d9798e"},
		"ribbon(r=0,value_bits=1)":               {"8800b34aaa318fda", "210e1a1b03a44688"},
		"ribbon(r=4,value_bits=3,w=128,seed=17)": {"a55c054b09ceb781", "14dddad11598e4c0"},
	} {
		h := sha256.New()
		for i := range 60 {
			if i == few {
				if got := fmt.Sprintf("%x", h.Sum(nil)[:8]); got != want[0] {
					t.Errorf("%s, %d filters: %s, want %s", spec, few, got, want[0])
				}
				if testing.Short() {
					break
				}
			}
			n := []int{300, 1000, 5000, 20_000}[i%4]
			if i == 3 {
				n = 280_000 // two segments
			}
			b := builder(t, spec, n)
			hs := filtertest.Hashes(n, uint64(i))
			var err error
			if b.c.ValueBits == 0 {
				err = b.AddMany(hs)
			} else {
				values := make([]uint64, n)
				for j, h := range hs {
					values[j] = h.Hi >> (64 - b.c.ValueBits)
				}
				err = b.AddValues(hs, values)
			}
			if err != nil {
				t.Fatal(err)
			}
			f := finish(t, b)
			fmt.Fprintln(h, f.builtSpec())
			for _, words := range f.Encode().Sections {
				if err := binary.Write(h, binary.LittleEndian, words); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := fmt.Sprintf("%x", h.Sum(nil)[:8]); !testing.Short() && got != want[1] {
			t.Errorf("%s: %s, want %s", spec, got, want[1])
		}
	}
}
