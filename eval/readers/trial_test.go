package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// TestReaders runs a short trial of all readers. The package comment shows the command of a long one.
func TestReaders(t *testing.T) {
	var out, log bytes.Buffer
	keep := filepath.Join(t.TempDir(), "faults")
	names, python := []string{"plain", "wasm", "c"}, os.Getenv("BLOOMERY_PYTHON")
	if python != "" {
		names = append(names, "python")
	} else {
		fmt.Println("NOT RUN: the Python package; BLOOMERY_PYTHON names an interpreter that has it")
	}
	err := run(t.Context(), []string{
		"--readers", strings.Join(names, ","), "--python", python,
		"--answers", "60000", "--damaged", "150", "--keys", "20000", "--per-filter", "3000", "--seed", "11", "--quiet",
		"--exact", "12", "--windows", "9", "--json", "--keep", keep,
	}, &out, &log)
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	var r report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Keys < 60000 || r.Damaged < 150 || r.Exact != 12 || r.Windows != 9 || r.Damaged != r.Refused+r.Accepted ||
		r.Present == 0 || r.Present == r.Keys {
		t.Errorf("%+v", r)
	}
	if r.Refused < 20 || r.Accepted < 20 || len(r.Families) < 6 || len(r.Changes) < 4 {
		t.Errorf("too little is tested: %+v", r)
	}
	for _, name := range append(names, "go") {
		if r.Answers[name] < r.Keys {
			t.Errorf("%s gave %d of %d answers", name, r.Answers[name], r.Keys)
		}
	}
}

// liar is a reader that changes the replies of the library.
type liar struct {
	change func(*reply)
	err    error
}

func (liar) name() string { return "liar" }
func (liar) close() error { return nil }

func (l liar) answer(_ context.Context, s *subject, _ string) (reply, error) {
	records, err := s.askLibrary()
	r := reply{records: records}
	if err != nil {
		r.refused = err.Error()
	}
	if l.change != nil {
		l.change(&r)
	}
	return r, l.err
}

// newTrial returns a trial without drivers: the library in place of the command, and one other reader.
func newTrial(t *testing.T, other reader) *trial {
	keep := filepath.Join(t.TempDir(), "keep")
	o, err := parse([]string{"--seed", "5", "--keys", "3000", "--quiet", "--keep", keep}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return &trial{
		options: o, dir: t.TempDir(), report: newReport(o.seed), log: io.Discard,
		command: liar{}, readers: []reader{other},
	}
}

// TestFaults runs readers that are each wrong in one way, and checks that each is reported as a fault.
func TestFaults(t *testing.T) {
	for name, l := range map[string]struct {
		reader liar
		want   string
	}{
		"has": {liar{change: func(r *reply) {
			if len(r.records) > 0 {
				r.records[0] ^= 1
			}
		}}, "other answers to 1 of"},
		"a count": {liar{change: func(r *reply) {
			if len(r.records) > 0 {
				r.records[len(r.records)-recordSize+3]++
			}
		}}, "other answers to 1 of"},
		"a value": {liar{change: func(r *reply) {
			if len(r.records) > 0 {
				r.records[len(r.records)-1]++
			}
		}}, "other answers to 1 of"},
		"short":   {liar{change: func(r *reply) { r.records = r.records[:len(r.records)/2] }}, "bytes for"},
		"refuses": {liar{change: func(r *reply) { *r = reply{refused: "no"} }}, "refuse"},
		"crashes": {liar{err: io.ErrUnexpectedEOF}, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, l.reader)
			if err := tr.answers(t.Context(), 2000); err != nil && err != errFaults {
				t.Fatal(err)
			}
			faults := tr.report.Faults
			if len(faults) == 0 || !strings.Contains(faults[0].What, l.want) {
				t.Fatalf("faults %+v, want one with %q", faults, l.want)
			}
			for _, path := range []string{faults[0].File, faults[0].File + ".keys"} {
				if _, err := os.Stat(path); err != nil {
					t.Error(err)
				}
			}
		})
	}
	t.Run("accepts", func(t *testing.T) { // a damaged file
		tr := newTrial(t, liar{change: func(r *reply) {
			if r.refused != "" {
				*r = reply{records: []byte{}}
			}
		}})
		if err := tr.damage(t.Context(), 60); err != nil && err != errFaults {
			t.Fatal(err)
		}
		if len(tr.report.Faults) < 5 || !strings.Contains(tr.report.Faults[0].What, "accepted by liar, refused by") {
			t.Errorf("%+v", tr.report)
		}
	})
}

// TestWindows checks that a reader has a fault if it accepts filters of package window, or refuses them for the wrong
// reason.
func TestWindows(t *testing.T) {
	for name, why := range map[string]string{"accepts": "", "another reason": "a checksum does not match"} {
		tr := newTrial(t, liar{change: func(r *reply) { *r = reply{refused: why} }})
		if err := tr.windows(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		if f := tr.report.Faults; len(f) != 3 || !strings.Contains(f[0].What, "liar") {
			t.Errorf("%s: %+v", name, f)
		}
	}
	tr := newTrial(t, liar{})
	if err := tr.windows(t.Context(), 3); err != nil || len(tr.report.Faults) > 0 || tr.report.Windows != 3 {
		t.Errorf("%v, %+v", err, tr.report)
	}
}

// TestAgreement runs the library as two readers. It checks that there is no fault, and that some damaged files are
// refused and some accepted.
func TestAgreement(t *testing.T) {
	tr := newTrial(t, liar{})
	if err := tr.answers(t.Context(), 20000); err != nil {
		t.Fatal(err)
	}
	if err := tr.damage(t.Context(), 300); err != nil {
		t.Fatal(err)
	}
	r := tr.report
	if len(r.Faults) > 0 || r.Refused < 50 || r.Accepted < 50 || r.Damaged != 300 {
		t.Errorf("%+v", r)
	}
}

// TestPlans requires that random plans reach every family, change and parameter, and that their filters can be built.
func TestPlans(t *testing.T) {
	seen := map[string]int{}
	parameters := strings.Fields("growth counting value_bits layout length block later capacity")
	for i := range 4000 {
		p := newPlan(generator(1, i), families.All(), 300_000)
		if p.keys < 0 || p.keys > 300_000 {
			t.Fatalf("%+v", p)
		}
		seen[p.family.Name]++
		seen[string(p.change)]++
		if p.shards > 0 {
			seen["sharded"]++
		}
		s, err := filter.ParseSpec(p.spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range parameters {
			if family.Given(s, name) {
				seen[name]++
			}
		}
	}
	want := append(families.Names(), "sharded")
	for _, c := range []change{built, added, addedLater, addedAgain, removed, merged, intersected, trimmed} {
		want = append(want, string(c))
	}
	for _, name := range append(want, parameters...) {
		if seen[name] < 20 {
			t.Errorf("%s: only %d of 4000 plans", name, seen[name])
		}
	}
}

// TestKeys requires keys of all kinds and lengths, and the same keys for the same seed.
func TestKeys(t *testing.T) {
	var kinds [3]int
	var long, invalid, zero int
	for i := range 300 {
		s, again := newKeySource(generator(2, i)), newKeySource(generator(2, i))
		for range 30 {
			k := s.key()
			if other := again.key(); k.kind != other.kind || !slices.Equal(k.bytes, other.bytes) {
				t.Fatalf("%s and %s for the same seed", k, other)
			}
			kinds[k.kind]++
			switch {
			case len(k.bytes) > 240:
				long++
			case len(k.bytes) == 0:
				zero++
			case !k.byCommand():
				invalid++
			}
		}
	}
	if min(kinds[0], kinds[1], kinds[2]) < 500 || min(long, zero, invalid) < 50 {
		t.Errorf("kinds %d; %d long, %d empty, %d with a NUL byte", kinds, long, zero, invalid)
	}
}

// TestForge splits the golden files into parts, assembles them again, and checks that the bytes are the same.
func TestForge(t *testing.T) {
	paths, err := filepath.Glob("../../internal/container/testdata/*.bloom")
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d golden files: %v", len(paths), err)
	}
	for _, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(takeApart(file).join(), file) {
			t.Errorf("%s is not the same after it was taken apart and put together", path)
		}
		bare := bytes.Clone(file)
		clear(bare[60:64])
		if mend(bare); !bytes.Equal(bare, file) {
			t.Errorf("%s has other checksums after they were computed anew", path)
		}
	}
}
