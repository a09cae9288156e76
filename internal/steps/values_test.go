package steps_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/keyio"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/steps"
)

// valued returns n keys with values below 2^8, each in a line that row formats.
func valued(n int, row func(key string, value int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(row(fmt.Sprint("key-", i), i*i%251))
	}
	return b.String()
}

func tabbed(key string, value int) string { return fmt.Sprintf("%s\t%d\n", key, value) }

// numbers is a Format of objects that consist of a number n, which stands for the keys of valued. If it is false, the
// keys have no values.
type numbers bool

func (numbers) Split(_ context.Context, _ steps.Source, o steps.Object, _ int64) ([]steps.Span, error) {
	return []steps.Span{{Offset: 0, Length: o.Size}}, nil
}

func (f numbers) Read(
	_ context.Context, _ steps.Source, o steps.Object, _ steps.Span, r steps.Reading,
) error {
	b := &keyio.Batch{Input: o.Name}
	for i := range 3000 {
		b.Keys = append(b.Keys, fmt.Append(nil, "key-", i))
		if f && r.ValueBits > 0 {
			b.Values = append(b.Values, uint64(i*i%251))
		}
	}
	if err := r.Work(b); err != nil {
		return err
	}
	return r.Emit(b)
}

// TestValues builds sets of keys with values in steps, from several ranges and formats. They must have the bytes of a
// Builder of a sharded set.
func TestValues(t *testing.T) {
	const n, shards = 3000, 3
	secret := filter.Secret{3}
	in := memoryOf(
		"plain", valued(n/2, tabbed), "rest.gz", gzipped(valued(n, tabbed)),
		"blank", "\n"+valued(n, func(k string, v int) string { return fmt.Sprintf("%s=%d\n\n", k, v) }),
		"nul", valued(n, func(k string, v int) string { return fmt.Sprintf("%s\t%d\x00", k, v) }),
		"csv", "k,v\n"+valued(n, func(k string, v int) string { return fmt.Sprintf("%q,%d\n", k, v) }),
		"tsv", valued(n, func(k string, v int) string { return fmt.Sprintf("%d\t%s\n", v, k) }),
		"jsonl", valued(n, func(k string, v int) string { return fmt.Sprintf("{\"v\":%d,\"k\":[%q]}\n", v, k) }),
		"own", "3000",
	)
	formats := steps.Formats{"numbers": numbers(true)}
	for _, c := range []bloomery.Config{
		{Spec: "ribbon(r=4,value_bits=8)", Hashing: bloomery.Hashing{Seed: 9}}, {Spec: "ribbon(r=0,value_bits=8)",
			Hashing: bloomery.Hashing{Secret: &secret}},
	} {
		c.Sharding.Shards = shards
		dir := t.TempDir()
		b, err := settest.NewShardBuilder(dir, c)
		check(t, err)
		for i := range n {
			check(t, b.AddManyValues([][]byte{fmt.Append(nil, "key-", i)}, []uint64{uint64(i * i % 251)}))
		}
		if _, err := b.Build(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := folder(t, dir)
		for _, tt := range []struct {
			objects string
			keys    steps.KeyFormat
		}{
			{"plain rest.gz", steps.KeyFormat{}},
			{"blank", steps.KeyFormat{Separator: "="}},
			{"nul", steps.KeyFormat{Name: "null"}},
			{"csv", steps.KeyFormat{Name: "csv", Column: "k", ValueColumn: "v"}},
			{"csv", steps.KeyFormat{Name: "csv", Header: true}},
			{"tsv", steps.KeyFormat{Name: "tsv", Column: "2", ValueColumn: "1"}},
			{"jsonl", steps.KeyFormat{Name: "jsonl", Column: "k", ValueColumn: "v"}},
			{"own", steps.KeyFormat{Name: "numbers"}},
		} {
			p, err := steps.NewPlan(t.Context(), in, strings.Fields(tt.objects),
				steps.Config{Build: c, Keys: tt.keys, RangeBytes: 2000, Formats: formats})
			check(t, err)
			if p.Version != 1 || len(p.Ranges) < 2 && (tt.objects == "blank" || tt.objects == "nul") {
				t.Errorf("%s: version %d, %d ranges", tt.objects, p.Version, len(p.Ranges))
			}
			to := t.TempDir()
			o := steps.Options{Secret: c.Hashing.Secret}
			if _, err := all(t.Context(), p, in, steps.Dir(to), o); err != nil {
				t.Fatal(err)
			}
			if got := folder(t, to); !slices.Equal(filesOf(got), filesOf(want)) {
				t.Errorf("%s: %s differs from the set of a Builder of a sharded set", c.Spec, tt.objects)
			}
		}
	}
}

// filesOf returns names and contents, in order.
func filesOf(folder map[string]string) (all []string) {
	for name, text := range folder {
		all = append(all, name+"\n"+text)
	}
	slices.Sort(all)
	return all
}

// TestConflict builds from two ranges with different values for one key. The error of the build wraps a
// *family.ValueError, like the error of Builder.Build, and also names the ranges.
func TestConflict(t *testing.T) {
	in := memoryOf(
		"a", valued(2000, tabbed), "b", "key-5\t25\nother\t1\n", "c", "x\t1\n", "d", "key-7\t50\nkey-7\t50\n")
	p, err := steps.NewPlan(t.Context(), in, []string{"*"},
		steps.Config{Build: bloomery.Config{Spec: "ribbon(value_bits=8)", Sharding: bloomery.Sharding{Shards: 1}},
			RangeBytes: 4000})
	check(t, err)
	out := steps.Dir(t.TempDir())
	_, err = all(t.Context(), p, in, out, steps.Options{})
	var e *steps.ConflictError
	var both *family.ValueError
	if !errors.As(err, &e) || !errors.As(err, &both) || !errors.Is(err, filter.ErrValues) {
		t.Fatal(err)
	}
	last := len(p.Ranges) - 1 // b, c and d
	if both.Values != [2]uint64{49, 50} || !slices.Equal(e.Ranges, []int{0, last}) || both.Key != "" ||
		!slices.Equal(e.Inputs, []string{"a", "b", "c", "d"}) {
		t.Errorf("%+v, %v", e, both)
	}
	err = p.NameConflict(t.Context(), in, err, steps.Options{})
	const want = `key "key-7" has the values 49 and 50: want one value a key; see a, d`
	if err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
	changed := memoryOf("a", "x\t1\n")
	if again := p.NameConflict(t.Context(), changed, err, steps.Options{}); !errors.Is(again, err) {
		t.Errorf("with another input: %v", again)
	}
	if other := p.NameConflict(t.Context(), in, context.Canceled, steps.Options{}); other != context.Canceled {
		t.Error(other)
	}
}

// TestBadValues checks that the error for an invalid value in a range names the line in the object, and that no run
// file remains.
func TestBadValues(t *testing.T) {
	few := valued(1000, func(key string, value int) string { return tabbed(key, value%128) })
	bad := few + "key\t128\n" + few
	in := memoryOf("bad", bad, "csv", "a,1\nb,x\n", "own", "1")
	formats := steps.Formats{"numbers": numbers(false), "large": numbers(true)}
	for _, tt := range []struct {
		object, says string
		keys         steps.KeyFormat
	}{
		{"bad", "bad:1001: value 128 is too large", steps.KeyFormat{}},
		{"bad", `"key-0\t0" has no value`, steps.KeyFormat{Separator: ";"}},
		{"csv", `csv: key "b": value "x": want a whole number`, steps.KeyFormat{Name: "csv"}},
		{"own", `the format "numbers" gives 0 values for 3000 keys`, steps.KeyFormat{Name: "numbers"}},
		{"own", `own: key "key-12": value 144 is too large: this filter has room for up to 127`,
			steps.KeyFormat{Name: "large"}},
	} {
		p, err := steps.NewPlan(t.Context(), in, []string{tt.object}, steps.Config{Keys: tt.keys,
			Build: bloomery.Config{Spec: "ribbon(value_bits=7)",
				Sharding: bloomery.Sharding{Shards: 2}}, RangeBytes: 3000, Formats: formats})
		check(t, err)
		dir := t.TempDir()
		o := steps.Options{}
		_, err = all(t.Context(), p, in, steps.Dir(dir), o)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v; want %s", err, tt.says)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*.bloom")); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}

// TestValuePlans checks that plans with values have a separate version, and that plans without values are unchanged.
func TestValuePlans(t *testing.T) {
	in := memoryOf("a", "k\t1\n")
	plan := func(spec string, k steps.KeyFormat) (*steps.Plan, error) {
		return steps.NewPlan(t.Context(), in, []string{"a"},
			steps.Config{Build: bloomery.Config{Spec: spec, Sharding: bloomery.Sharding{Shards: 2}}, Keys: k})
	}
	const with, without = "ribbon(value_bits=8)", "ribbon(r=8)"
	for _, tt := range []struct {
		spec string
		keys steps.KeyFormat
	}{
		{without, steps.KeyFormat{Separator: "\t"}},
		{without, steps.KeyFormat{Name: "csv", ValueColumn: "2"}},
		{with, steps.KeyFormat{ValueColumn: "2"}},
		{with, steps.KeyFormat{Name: "csv", Separator: "\t"}},
		{with, steps.KeyFormat{Name: "csv", ValueColumn: "0"}},
		{with, steps.KeyFormat{Name: "csv", ValueColumn: "1"}},
		{with, steps.KeyFormat{Name: "csv", Column: "2"}},
		{with, steps.KeyFormat{Name: "jsonl", Column: "k"}},
		{with, steps.KeyFormat{Name: "jsonl", ValueColumn: "v"}},
		{with, steps.KeyFormat{Name: "jsonl", Column: "k", ValueColumn: "k"}},
		{with, steps.KeyFormat{Name: "csv", Column: "k", ValueColumn: "k"}},
		{with, steps.KeyFormat{Separator: "\n"}},
		{with, steps.KeyFormat{Separator: "\xff"}},
		{with, steps.KeyFormat{Separator: "=="}},
	} {
		if _, err := plan(tt.spec, tt.keys); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%s, %+v: %v", tt.spec, tt.keys, err)
		}
	}
	p, err := plan(without, steps.KeyFormat{})
	if err != nil || p.ID() != "6c69387aede18370e4187145477a3996" {
		t.Errorf("the id of a plan without values has changed to %s, %v", p.ID(), err)
	}
	p, err = plan(with, steps.KeyFormat{})
	check(t, err)
	b, err := json.Marshal(p)
	check(t, err)
	if again, err := steps.ParsePlan(b, nil); err != nil || again.ID() != p.ID() {
		t.Errorf("%s: %v", b, err)
	}
	for _, change := range [][2]string{
		{`"version":1`, `"version":2`}, {`,"separator":"\t"`, ``},
		{`ribbon(value_bits=8)`, `ribbon(r=8)`},
	} {
		bad := strings.Replace(string(b), change[0], change[1], 1)
		if _, err := steps.ParsePlan([]byte(bad), nil); bad == string(b) || !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
