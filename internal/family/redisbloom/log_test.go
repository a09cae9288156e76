package redisbloom

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
)

// rounds returns the number of values to test: n, or 2% of n with -short, which CI uses on emulated machines.
func rounds(n int) int {
	if testing.Short() {
		return n / 50
	}
	return n
}

const precision = 200 // bits of the reference values

func number(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// exactExp returns e to the x, |x| < 750: (e^(x/2^20))^(2^20).
func exactExp(x *big.Float) *big.Float {
	const halvings = 20
	r := new(big.Float).SetMantExp(x, -halvings)
	s := number(1)
	for i := 20; i >= 1; i-- {
		s.Mul(s, r)
		s.Quo(s, number(float64(i)))
		s.Add(s, number(1))
	}
	for range halvings {
		s.Mul(s, s)
	}
	return s
}

// exactLog returns ln x by Newton's method from a float64.
func exactLog(x float64) *big.Float {
	m, e := math.Frexp(x) // math.Log of amd64 is wrong below 2^-1022
	y := number(math.Log(m) + float64(e)*math.Ln2)
	for range 2 { // from 50 digits to more than 150
		d := new(big.Float).Quo(number(x), exactExp(y))
		d.Sub(d, number(1)) // ln(1+d) = d - d²/2
		half := new(big.Float).Mul(d, d)
		y.Add(y, d.Sub(d, half.SetMantExp(half, -1)))
	}
	return y
}

func rounded(x *big.Float) float64 {
	v, _ := x.Float64()
	return v
}

// TestRounded checks log and exp against values of 200 bits, rounded once.
func TestRounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	logs := []float64{1, 0.5, 2, 0.01, 0.02, 0.001, math.SmallestNonzeroFloat64, 0x1p-1022,
		1 - 0x1p-53, 1 + 0x1p-52, 0.75}
	exps := []float64{0, -1, 1, -0x1p-60, -92 * ln2squared, -ln2squared, 700, -700}
	for range rounds(2000) {
		logs = append(logs, r.Float64(), math.Ldexp(0.5+r.Float64()/2, -r.IntN(1070)))
		exps = append(exps, -44.3*r.Float64(), 1400*r.Float64()-700)
	}
	for _, x := range logs {
		if got, want := log(x), rounded(exactLog(x)); got != want {
			t.Fatalf("log(%b) is %b, want %b", x, got, want)
		}
	}
	for _, x := range exps {
		if got, want := exp(x), rounded(exactExp(number(x))); got != want {
			t.Fatalf("exp(%b) is %b, want %b", x, got, want)
		}
	}
}

// TestBitsOfRedis compares the bits per key of links with RedisBloom 2.6.28 and glibc 2.36, for rates at which math.Log
// on amd64 differs in the last bit.
func TestBitsOfRedis(t *testing.T) {
	for _, l := range []struct {
		rate float64
		bits uint64
	}{
		{0.01, 0x40232b8cc58a1688}, {0.0003125, 0x4030cc6cb262a435}, {0.18, 0x400c8d931d952f59},
		{0.09, 0x40140c1b6815786e}, {2.4375e-06, 0x403ae6965ab7125b}, {0.00030357142857142855, 0x4030dbdebae90bbb},
	} {
		if got := math.Float64bits(-log(l.rate) / ln2squared); got != l.bits {
			t.Errorf("a link of rate %v has %#x bits per key, want %#x", l.rate, got, l.bits)
		}
	}
}

// TestNearMath compares log and exp with package math.
func TestNearMath(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range rounds(1_000_000) {
		x := math.Ldexp(0.5+r.Float64()/2, -r.IntN(1000))
		if got, near := log(x), math.Log(x); math.Abs(got-near) > 4e-16*math.Abs(near) {
			t.Fatalf("log(%b) is %b, math.Log %b", x, got, near)
		}
		x = -44.3 * r.Float64()
		if got, near := exp(x), math.Exp(x); math.Abs(got-near) > 9e-16*near {
			t.Fatalf("exp(%b) is %b, math.Exp %b", x, got, near)
		}
	}
}

// TestEverywhere checks that sums of the bits of many results are the same on every machine.
func TestEverywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var logs, exps uint64
	for range 5000 {
		logs = logs*31 + math.Float64bits(log(math.Ldexp(0.5+r.Float64()/2, -r.IntN(1070))))
		exps = exps*31 + math.Float64bits(exp(-44.3*r.Float64()))
	}
	if logs != 0xe08f55d193ef4da2 || exps != 0x535e196f0a5eea82 {
		t.Errorf("the sums are %#x and %#x", logs, exps)
	}
}

// TestOtherLogs checks that files whose bits per key were computed with another logarithm, by an earlier version or
// another C library, can be read, are written unchanged, and can grow.
func TestOtherLogs(t *testing.T) {
	f, _ := chain(t, Config{Capacity: 10}, 25)
	for i := range f.links {
		f.links[i].BitsPerKey = math.Nextafter(f.links[i].BitsPerKey, float64(1-2*(i%2))*100)
	}
	e := f.Encode()
	again, err := Decode(e)
	if err != nil {
		t.Fatal(err)
	}
	if string(again.Header()) != string(f.Header()) {
		t.Error("the header has changed")
	}
	for i := range 100 {
		if err := again.Add(hasher.SumString(strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	kept := again.links[0].BitsPerKey != -log(0.005)/ln2squared
	if len(again.links) <= 2 || !again.Has(hasher.SumString("0")) || !kept {
		t.Errorf("%d links, the first %+v", len(again.links), again.links[0])
	}
}
