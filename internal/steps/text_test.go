package steps_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/keyio"
	"github.com/bloomery/bloomery/internal/steps"
)

// keysOf returns the keys of all spans of a format of keyio, in order.
func keysOf(t *testing.T, text string, k steps.KeyFormat, size int64) (keys []string, spans int) {
	t.Helper()
	in := memoryOf("o", text)
	p, err := steps.NewPlan(t.Context(), in, []string{"o"},
		steps.Config{Build: bloomery.Config{Spec: "standard", Sharding: bloomery.Sharding{Shards: 1}}, Keys: k,
			RangeBytes: size})
	check(t, err)
	format, objects := steps.Text(p.Keys), p.Objects
	for _, r := range p.Ranges {
		span := r.Span
		if r.Objects == 1 {
			span.Length = objects[0].Size
		}
		err := format.Read(t.Context(), in, objects[0], span, steps.Reading{
			Keys: p.Keys, Workers: 1, Work: func(*keyio.Batch) error { return nil },
			Emit: func(b *keyio.Batch) error {
				for _, k := range b.Keys {
					keys = append(keys, string(k))
				}
				return nil
			},
		})
		check(t, err)
	}
	return keys, len(p.Ranges)
}

// TestSpans checks that for any size of a span, the spans together contain the keys of the whole text, in order.
func TestSpans(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 1))
	random := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			ends := []string{"\n", "\r\n", "\n\n", "\x1f\x8b\b\n", "BZh91AY&SY\n", "é\n"}
			b.WriteString(strings.Repeat("x", r.IntN(9)) + ends[r.IntN(len(ends))])
		}
		return b.String()
	}
	texts := []string{
		"", "a", "\n", "a\n", "\n\n\n", "a\r\nb", strings.Repeat("k", 300) + "\n" + strings.Repeat("l", 200), random(500),
		random(3000), "\xef\xbb\xbfa\n\xef\xbb\xbfb\n",
		strings.Repeat("k", 200_000) + "\nb\n" + strings.Repeat("c", 3_000_000>>4),
	}
	for _, k := range []steps.KeyFormat{{}, {KeepEmpty: true}, {Name: "null"}} {
		for i, text := range texts {
			if k.Name == "null" {
				text = strings.ReplaceAll(text, "\n", "\x00")
			}
			want, _ := keysOf(t, text, k, 1<<30)
			sizes := []int64{1, 2, 3, 7, 64, 1000, int64(len(text)) - 1, int64(len(text))}
			for _, size := range sizes {
				if size < 1 || int64(len(text))/size > 500 {
					continue
				}
				got, spans := keysOf(t, text, k, size)
				if !slices.Equal(got, want) {
					t.Errorf("text %d in %+v, %d spans of %d bytes: %d keys, want %d (seed %d)",
						i, k, spans, size, len(got), len(want), seed)
				}
			}
		}
	}
	rows := strings.Repeat("{\"k\":[\"a\",2]}\n\n{\"k\":\"\\n\",\"x\":{}}\r\n{\"k\":null}\n", 50)
	for size := int64(1); size < int64(len(rows)); size += 1 + size/8 {
		if int64(len(rows))/size > 500 {
			continue
		}
		got, spans := keysOf(t, rows, steps.KeyFormat{Name: "jsonl", Column: "k"}, size)
		if !slices.Equal(got, slices.Repeat([]string{"a", "2", "\n"}, 50)) {
			t.Errorf("%d spans of JSON Lines of %d bytes: %q", spans, size, got)
		}
	}
	// A line that is longer than one read beyond the end of a span, with much shorter spans.
	long := "a\n" + strings.Repeat("b", 900_000) + "\nc\n"
	got, spans := keysOf(t, long, steps.KeyFormat{}, 100_000)
	if len(got) != 3 || len(got[1]) != 900_000 || spans != 10 {
		t.Errorf("%d keys of %d spans", len(got), spans)
	}
}

// TestWhole checks that a compressed object or a CSV object is one range, and small objects share a range.
func TestWhole(t *testing.T) {
	_, text := lines("key", 2000)
	in := memoryOf("plain", text, "gz", gzipped(text+text), "empty", "", "s1", "a\n", "s2", "b\n", "s3", gzipped("c\n"))
	for _, tt := range []struct {
		patterns []string
		keys     steps.KeyFormat
		ranges   int
	}{
		{[]string{"plain"}, steps.KeyFormat{}, (len(text) + 4999) / 5000},
		{[]string{"plain"}, steps.KeyFormat{Name: "csv", Column: "1"}, 1},
		{[]string{"plain"}, steps.KeyFormat{Name: "tsv"}, 1},
		{[]string{"gz"}, steps.KeyFormat{}, 1},
		{[]string{"s?"}, steps.KeyFormat{}, 1},
		{[]string{"s1", "s2", "s3", "empty", "s1"}, steps.KeyFormat{}, 1},
		{[]string{"gz", "s[12]"}, steps.KeyFormat{}, 2},
	} {
		p, err := steps.NewPlan(t.Context(), in, tt.patterns,
			steps.Config{Build: bloomery.Config{Spec: "standard", Sharding: bloomery.Sharding{Shards: 2}}, Keys: tt.keys,
				RangeBytes: 5000})
		if err != nil || len(p.Ranges) != tt.ranges {
			t.Errorf("%q as %q: %d ranges, want %d; %v", tt.patterns, tt.keys.Name, len(p.Ranges), tt.ranges, err)
		}
	}
	if _, err := steps.Match(t.Context(), in, []string{"none*"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v for a pattern without an object", err)
	}
}

// TestFolderPatterns tests names, patterns and prefixes in a folder.
func TestFolderPatterns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	for _, name := range []string{"a.txt", "b.txt", "[x].txt", "sub/c.txt", "sub/deep/d.txt", "sub/.hidden"} {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), "x\n")
	}
	links := true
	for _, link := range [][2]string{{"../a.txt", "sub/link"}, {"sub", "link"}, {"nothing", "dangling/link"}} {
		at := filepath.Join(dir, filepath.FromSlash(link[1]))
		check(t, os.MkdirAll(filepath.Dir(at), 0o777))
		err := os.Symlink(link[0], at)
		if links = err == nil; runtime.GOOS != "windows" { // where only developers and administrators may make links
			check(t, err)
		}
	}
	for pattern, want := range map[string]string{
		"a.txt": "a.txt", "?.txt": "a.txt b.txt", "sub/": "sub/c.txt sub/deep/d.txt sub/link",
		"sub/*": "sub/c.txt sub/link", "sub/.h*": "sub/.hidden", "s*/*.txt": "sub/c.txt", "[x].txt": "[x].txt",
	} {
		for _, in := range []struct {
			steps.Source
			prefix string
		}{{steps.Dir(dir), ""}, {steps.Files(), filepath.ToSlash(dir) + "/"}} {
			all, err := steps.Match(t.Context(), in.Source, []string{in.prefix + pattern})
			var names []string
			for _, o := range all {
				names = append(names, strings.TrimPrefix(o.Name, in.prefix))
			}
			if !links {
				want = strings.TrimSuffix(want, " sub/link")
			}
			if got := strings.Join(names, " "); err != nil || got != want {
				t.Errorf("%s: %s, %v; want %s", pattern, got, err, want)
			}
		}
	}
	// Keys behind such links would be missing without an error.
	for _, pattern := range []string{"dangling/", "link/", "./", "dangling/*", ""} {
		if all, err := steps.Match(t.Context(), steps.Dir(dir), []string{pattern}); err == nil {
			t.Errorf("%q: %v", pattern, all)
		}
	}
	for _, name := range []string{"../x", "/etc/passwd", "", ".", "a/../b"} {
		if _, err := steps.Dir(dir).Stat(t.Context(), name); !errors.Is(err, os.ErrInvalid) {
			t.Errorf("%q in a folder: %v", name, err)
		}
	}
}

// TestErrors checks that errors of keys name the object and the line number in the object, and that changed inputs are
// errors.
func TestErrors(t *testing.T) {
	_, text := lines("key", 2000)
	rows := strings.Repeat("{\"k\":1}\n", 2000)
	in := memoryOf("long", text+strings.Repeat("k", 100)+"\nb\n", "nul", text+"a\x00b\n", "changed", text,
		"hex", strings.Repeat("6b6579\n", 2000)+"6\n", "jsonl", rows+"{\"k\":{}}\n"+rows)
	for name, says := range map[string]string{
		"long": "long:2001: key is longer", "nul": "nul:2001: there is a NUL byte", "changed": "changed",
		"hex": "hex:2001: not a key in hexadecimal digits", "jsonl": "jsonl:2001: k is an object",
	} {
		keys := steps.KeyFormat{MaxKey: 50}
		if name == "hex" || name == "jsonl" {
			keys.Name = name
		}
		if name == "jsonl" {
			keys.Column = "k"
		}
		p, err := steps.NewPlan(t.Context(), in, []string{name}, steps.Config{
			Build:      bloomery.Config{Spec: "standard", Sharding: bloomery.Sharding{Shards: 2}},
			RangeBytes: 1000, Keys: keys})
		check(t, err)
		if name == "changed" {
			in.objects[name] += "more\n"
		}
		out := memoryOf()
		for i := range p.Ranges {
			if _, err = p.Range(t.Context(), in, out, i, steps.Options{}); err != nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), says) || name == "changed" && !errors.Is(err, steps.ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
		for n := range out.objects {
			if name == "changed" {
				t.Errorf("there is %s", n)
			}
		}
	}
}

// TestTogether runs all steps several times at the same time, and checks that none fails and that the set is right.
func TestTogether(t *testing.T) {
	_, text := lines("key", 4000)
	in, want := memoryOf("keys", text), memoryOf()
	p, err := steps.NewPlan(t.Context(), in, []string{"keys"},
		steps.Config{Build: bloomery.Config{Spec: "blocked", Sharding: bloomery.Sharding{Shards: 4}}, RangeBytes: 9000})
	check(t, err)
	if _, err := all(t.Context(), p, in, want, steps.Options{}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out := steps.Dir(dir)
	check(t, p.Save(t.Context(), out))
	step := func(f func() error) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := f(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	numbers := []int{0, 1, 2, 3}
	step(func() error {
		_, err := p.RangeAll(t.Context(), in, out, numbers, steps.Options{})
		return err
	})
	for i := len(numbers); i < len(p.Ranges); i++ {
		if _, err := p.Range(t.Context(), in, out, i, steps.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	step(func() error {
		_, err := p.BuildAll(t.Context(), out, numbers, steps.Options{})
		return err
	})
	if _, err := p.Finish(t.Context(), out, steps.Options{}); err != nil {
		t.Fatal(err)
	}
	got := folder(t, dir)
	for name, text := range want.objects {
		if got[name] != text {
			t.Errorf("%s differs", name)
		}
	}
	if len(got) != len(want.objects) {
		t.Errorf("%d files", len(got))
	}
}

// TestPlanHostile checks that a changed plan is an error, and that no content of a plan makes a step read other
// objects.
func TestPlanHostile(t *testing.T) {
	_, text := lines("key", 2000)
	in, out := memoryOf("keys", text), memoryOf()
	secret := filter.NewSecret()
	c := bloomery.Config{Spec: "blocked", Sharding: bloomery.Sharding{Shards: 4},
		Hashing: bloomery.Hashing{Secret: secret}, FPR: 0.02}
	p, err := steps.NewPlan(t.Context(), in, []string{"keys"}, steps.Config{Build: c, RangeBytes: 9000})
	check(t, err)
	check(t, p.Save(t.Context(), out))
	name := "work-" + p.ID() + "/plan.json"
	good := out.objects[name]
	if bytes.Contains([]byte(good), secret[:]) || strings.Contains(good, fmt.Sprintf("%x", secret[:])) {
		t.Error("the plan has the secret")
	}
	if back, err := steps.ReadPlan(t.Context(), out, "", nil); err != nil || back.ID() != p.ID() {
		t.Fatalf("the plan cannot be read: %v", err)
	}
	for _, change := range [][2]string{
		{`"shards":4`, `"shards":0`}, {`"shards":4`, `"shards":99999999`},
		{`"blocked(fpr=0.02)"`, `"blocked(bits_per_key=-1)"`},
		{`"object":0`, `"object":1`}, {`"object":0`, `"object":-1`}, {`"objects":[`, `"objects":[],"x":[`},
		{`"version":1`, `"version":2`},
		{`"offset":9000`, `"offset":-9000`}, {`"length":9000`, `"length":-1`}, {`"hash":2`, `"hash":1`},
		{`"name":"lines"`, `"name":"xml"`},
		{`"shards":4`, `"shards":5`}, {`"fpr_planned":0.02`, `"fpr_planned":2`}, {`"size":`, `"size":-`},
		{`{`, `{"unknown":1,`},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Fatalf("%q is not in the plan: %s", change[0], good)
		}
		out.objects[name] = bad
		if _, err := steps.ReadPlan(t.Context(), out, "", nil); err == nil {
			t.Errorf("%s to %s: no error", change[0], change[1])
		}
	}
	out.objects[name] = good
	for i := range good {
		if _, err := steps.ParsePlan([]byte(good[:i]), nil); err == nil {
			t.Fatalf("cut to %d bytes: no error", i)
		}
	}
	if _, err := p.Range(t.Context(), in, out, 0, steps.Options{}); err == nil {
		t.Error("a Range without the secret")
	}
	if _, err := p.Range(t.Context(), in, out, 0, steps.Options{Secret: filter.NewSecret()}); err == nil {
		t.Error("a Range with another secret")
	}
	m, err := all(t.Context(), p, in, out, steps.Options{Secret: secret})
	if err != nil || m.KeyCheck != filter.NewKeyedHasher(*secret).KeyCheck() || m.FPRPlanned != 0.02 {
		t.Errorf("with the secret: %v", err)
	}
	for n, text := range out.objects {
		if strings.Contains(text, string(secret[:])) {
			t.Errorf("%s has the secret", n)
		}
	}
}
