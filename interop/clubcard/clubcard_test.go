package clubcard_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/bloomery/bloomery/interop/clubcard"
)

// open reads a Clubcard.
func open(t testing.TB, data []byte) *clubcard.Filter {
	t.Helper()
	f, err := clubcard.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// ask returns the answer for a certificate with one timestamp.
func ask(f *clubcard.Filter, issuer [32]byte, serial string, log [32]byte, at uint64) clubcard.Status {
	return f.Check(clubcard.Certificate{Issuer: issuer, Serial: []byte(serial),
		SCTs: []clubcard.SCT{{Log: log, Timestamp: at}}})
}

// compare queries every certificate of a universe.
func compare(t *testing.T, u universe, f *clubcard.Filter) (asked int) {
	t.Helper()
	log := u.logs[len(u.logs)-1]
	for _, is := range u.issuers {
		answers := map[clubcard.Status][]string{clubcard.Revoked: is.revoked, clubcard.NotRevoked: is.valid}
		for want, all := range answers {
			for _, serial := range all {
				asked++
				if got := ask(f, is.hash, serial, log.Log, log.First); got != want {
					t.Fatalf("seed %d, issuer %x, serial %x: %v, want %v", u.seed, is.hash[:4], serial, got, want)
				}
			}
		}
	}
	return asked
}

// TestGoldenAnswers queries the files of testdata for all their certificates.
func TestGoldenAnswers(t *testing.T) {
	base, delta := open(t, read(t, "cache/base.clubcard")), open(t, read(t, "cache/delta.clubcard"))
	if n := compare(t, baseUniverse(), base) + compare(t, deltaUniverse(), delta); n != 3099 {
		t.Errorf("%d certificates", n)
	}
	i := base.Info()
	want := clubcard.Info{Version: 4, Bytes: i.Bytes, Logs: 2, Issuers: 7, Inverted: 2,
		Exceptions: i.Exceptions, Columns: 8, Approx: i.Approx, Exact: i.Exact,
		Newest: time.UnixMilli(someTime + 31*day).UTC()}
	if i != want || i.Exceptions == 0 || i.Bytes != len(read(t, "cache/base.clubcard")) {
		t.Errorf("Info is %+v, want %+v, with exceptions", i, want)
	}
	if c := base.Coverage(); len(c) != 2 || !slices.Contains(c, baseUniverse().logs[0]) {
		t.Errorf("coverage %+v", c)
	}
}

// TestRandom compares the answers for random universes, with and without exceptions.
func TestRandom(t *testing.T) {
	exceptions := 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 7))
		u := universe{logs: baseUniverse().logs, tight: seed%2 == 1, seed: seed}
		for i := range 1 + rng.IntN(5) {
			is := issuer{revoked: serials(fmt.Sprint("r", seed, i), rng.IntN(60)),
				valid: serials(fmt.Sprint("v", seed, i), rng.IntN(600))}
			is.hash[rng.IntN(32)] = byte(1 + i)
			u.issuers = append(u.issuers, is)
		}
		f := open(t, encode(u))
		compare(t, u, f)
		exceptions += f.Info().Exceptions
	}
	if exceptions == 0 {
		t.Error("no file had an exception")
	}
}

// TestCoverage checks that the first and the last timestamp of the range are covered, that timestamps outside are not,
// and that one covered timestamp suffices.
func TestCoverage(t *testing.T) {
	f, u := open(t, read(t, "cache/base.clubcard")), baseUniverse()
	is, b := u.issuers[0], u.logs[0]
	for at, want := range map[uint64]clubcard.Status{b.First: clubcard.Revoked, b.Last: clubcard.Revoked,
		0: clubcard.NotCovered, b.First - 1: clubcard.NotCovered, b.Last + 1: clubcard.NotCovered,
		1<<64 - 1: clubcard.NotCovered} {
		if got := ask(f, is.hash, is.revoked[0], logB, at); got != want {
			t.Errorf("at %d: %v, want %v", at, got, want)
		}
	}
	if got := ask(f, is.hash, is.revoked[0], [32]byte{1}, b.First); got != clubcard.NotCovered {
		t.Errorf("unknown log: %v", got)
	}
	if got := ask(f, [32]byte{1}, is.revoked[0], logB, b.First); got != clubcard.NotEnrolled {
		t.Errorf("unknown issuer: %v", got)
	}
	if got := ask(f, [32]byte{1}, is.revoked[0], logB, 0); got != clubcard.NotCovered {
		t.Errorf("unknown issuer, not covered: %v", got)
	}
	u.logs = []clubcard.Coverage{u.logs[1], u.logs[0]} // the order of the logs is free
	for _, l := range u.logs {
		if got := ask(open(t, encode(u)), is.hash, is.revoked[0], l.Log, l.Last); got != clubcard.Revoked {
			t.Errorf("logs in another order: %v", got)
		}
	}
	c := clubcard.Certificate{Issuer: is.hash, Serial: []byte(is.revoked[0])}
	if got := f.Check(c); got != clubcard.NotCovered {
		t.Errorf("no timestamps: %v", got)
	}
	c.SCTs = []clubcard.SCT{{Log: [32]byte{1}}, {Log: logB}, {Log: logB, Timestamp: b.First}}
	if got := f.Check(c); got != clubcard.Revoked {
		t.Errorf("third timestamp covered: %v", got)
	}
}

// TestStatus checks the order and the texts of the answers.
func TestStatus(t *testing.T) {
	for _, c := range []struct {
		answers []clubcard.Status
		want    string
	}{
		{[]clubcard.Status{clubcard.NotCovered, clubcard.NotEnrolled}, "not enrolled"},
		{[]clubcard.Status{clubcard.NotRevoked, clubcard.NotEnrolled, clubcard.NotCovered}, "not revoked"},
		{[]clubcard.Status{clubcard.NotRevoked, clubcard.Revoked, clubcard.NotEnrolled}, "revoked"},
	} {
		if got, err := slices.Max(c.answers).MarshalText(); string(got) != c.want || err != nil {
			t.Errorf("%v: %s, want %s", c.answers, got, c.want)
		}
	}
	if s := clubcard.Status(9).String(); s != "unknown status" {
		t.Error(s)
	}
}

// TestEmptyBands checks that an issuer without rows in the approximate matrix has an empty set, and that for an issuer
// without rows in the exact matrix, every key uses the row exact_offset.
func TestEmptyBands(t *testing.T) {
	for _, c := range []struct {
		approx, exact uint32
		inverted      byte
		want          clubcard.Status
	}{
		{0, 0, 0, clubcard.NotRevoked}, {0, 0, 1, clubcard.Revoked}, {0, 9, 0, clubcard.NotRevoked},
		{9, 0, 0, clubcard.Revoked}, {9, 0, 1, clubcard.NotRevoked}, {1<<32 - 1, 1<<32 - 1, 0, clubcard.Revoked},
		{9, 0, 2, clubcard.NotRevoked}, {0, 0, 255, clubcard.Revoked}, // any value of inverted except 0 means 1
	} {
		b := (&writer{}).head(1).u(32, 5).u(4, c.approx).u(1, 0).u(4, 1<<32-1).u(4, c.exact).u(4, 1<<32-1).
			u(1, uint32(c.inverted)).u(2, 0).u(1, 0).u(4, 0)
		f := open(t, b.out)
		issuer := [32]byte{31: 5}
		if got := ask(f, issuer, "serial", [32]byte{31: 1}, 3); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestNoExactRows checks that with exact_m = 0 the answer for a key follows from its digest and the bits from
// exact_offset on.
func TestNoExactRows(t *testing.T) {
	const offset = 70
	exact := []uint64{0, 0xdeadbeefcafef00d, 0x123456789abcdef0, 42, 1 << 63, 7}
	b := (&writer{}).head(1).u(32, 5).u(4, 9).u(1, 0).u(4, 0).u(4, 0).u(4, offset).u(1, 0).u(2, 0).u(1, 0).
		u(4, uint32(len(exact)))
	for _, w := range exact {
		b.u(4, uint32(w>>32)).u(4, uint32(w))
	}
	f, issuer := open(t, b.out), [32]byte{31: 5}
	answers := map[clubcard.Status]int{}
	for i := range 1000 {
		serial := fmt.Sprint("serial ", i)
		e := equationOf(issuer, serial, 1, offset, 64*len(exact), false)
		ones := 0
		for i, w := range exact {
			ones += bits.OnesCount64(w & e.bits[i])
		}
		want := clubcard.Revoked
		if ones%2 == 1 {
			want = clubcard.NotRevoked
		}
		answers[want]++
		if got := ask(f, issuer, serial, [32]byte{31: 1}, 3); got != want {
			t.Fatalf("%s: %v, want %v", serial, got, want)
		}
	}
	if len(answers) != 2 || answers[clubcard.Revoked] < 400 || answers[clubcard.NotRevoked] < 400 {
		t.Errorf("answers: %v", answers)
	}
}

// TestAnyOrder checks that the order of the issuers does not affect the answers.
func TestAnyOrder(t *testing.T) {
	block := func(w *writer, issuer uint32) { w.block(issuer, 0, issuer%2).u(2, issuer%2).u(int(issuer%2)*2, 0x0107) }
	for _, order := range [][]uint32{{1, 2, 3, 4}, {4, 3, 2, 1}, {2, 4, 1, 3}} {
		w := (&writer{}).head(uint32(len(order)))
		for _, issuer := range order {
			block(w, issuer)
		}
		f := open(t, w.u(1, 0).u(4, 0).out)
		for _, issuer := range order {
			want := []clubcard.Status{clubcard.Revoked, clubcard.NotRevoked}[issuer%2]
			if got := ask(f, [32]byte{31: byte(issuer)}, "serial", [32]byte{31: 1}, 3); got != want {
				t.Errorf("order %v: issuer %d: %v, want %v", order, issuer, got, want)
			}
		}
	}
}
