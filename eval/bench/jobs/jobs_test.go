package jobs

import (
	"encoding/binary"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

var update = flag.Bool("update", false, "write docs/measured/jobs.md")

// page is the page that contains the table.
const page = "../../../docs/measured/jobs.md"

// libraries are the columns of the table: title, file, and the first word of the functions.
var libraries = [][3]string{
	{"Bloomery", "bloomery.go", "bloomery"}, {"bits-and-blooms/bloom", "bitsandblooms.go", "bits"},
	{"FastFilter/xorfilter", "fastfilter.go", "fuse"}, {"RoaringBitmap/roaring", "roaring.go", "roaring"},
}

// jobs are the rows: the last part of the names of the functions, and what the functions do.
var jobs = [][2]string{
	{"Lines", "build from a file of lines"},
	{"Strings", "build from an iterator of strings"},
	{"Integers", "build from an iterator of integers"},
	{"Save", "save to a file and open it"},
	{"AskMany", "ask for many integers"},
	{"Writers", "add from many goroutines and save"},
	{"Remove", "remove a key"},
	{"Count", "count a key"},
	{"Values", "build keys with values and get one"},
	{"Follow", "follow a file that is replaced"},
	{"Sharded", "build a sharded set"},
	{"KeyedHash", "build with a keyed hash"},
	{"Needs", "choose a filter by needs"},
	{"Rate", "measure the false-positive rate"},
	{"Estimate", "estimate the number of keys"},
	{"Merge", "merge two sets"},
	{"Exact", "build a set without error"},
}

// table returns the Markdown table of the lines between the braces of each function.
func table(t *testing.T) string {
	t.Helper()
	lines := map[string]int{}
	for _, l := range libraries {
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, l[1], nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				from, to := files.Position(fn.Body.Lbrace).Line, files.Position(fn.Body.Rbrace).Line
				lines[fn.Name.Name] = to - from - 1
			}
		}
	}
	var b strings.Builder
	b.WriteString("| job |")
	for _, l := range libraries {
		fmt.Fprintf(&b, " %s |", l[0])
	}
	b.WriteString("\n|---|---|---|---|---|\n")
	for _, j := range jobs {
		fmt.Fprintf(&b, "| %s |", j[1])
		for _, l := range libraries {
			if n, ok := lines[l[2]+j[0]]; ok {
				fmt.Fprintf(&b, " %d |", n)
				delete(lines, l[2]+j[0])
			} else {
				b.WriteString(" no |")
			}
		}
		b.WriteString("\n")
	}
	for name := range lines {
		t.Errorf("%s is in no row", name)
	}
	return b.String()
}

// TestPage compares the page with the code. With -update it writes the page.
func TestPage(t *testing.T) {
	want := `# Lines of code for common jobs

Lines between the braces of one gofmt'ed function for each job, with errors handled. "no": the library has no function
for the job, or its keys cannot be of that type. To make this table again, run in eval/bench: go test ./jobs -update

The functions are in [eval/bench/jobs](../../eval/bench/jobs), one file a library, and a test runs them.
They follow the READMEs. They are not equal in what they do:

- Bloomery saves atomically and verifies checksums; the others write in place.
- bits-and-blooms needs the number of keys first, as an argument or by a first pass over the file.
- xorfilter takes hashes of 64 bits, here of xxhash.
- roaring holds integers without error, and in more memory.
- bits-and-blooms and xorfilter take their keyed hashes from dchest/siphash.

` + table(t)
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("%s is not what the code gives, %v; write it with: go test ./jobs -update", page, err)
	}
}

// run returns v, or ends the test.
func run[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func texts(n int) (s []string) {
	for i := range n {
		s = append(s, fmt.Sprint("key ", i))
	}
	return s
}

// TestJobs runs every function.
func TestJobs(t *testing.T) {
	const n = 1000
	ctx, dir, keys := t.Context(), t.TempDir(), texts(n)
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = uint64(i) * 7
	}
	parts := [][]uint64{ids[:500], ids[500:]}
	list, path := filepath.Join(dir, "list"), filepath.Join(dir, "file")
	if err := os.WriteFile(list, []byte(strings.Join(keys, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := func(what string, answers []bool) {
		t.Helper()
		if len(answers) != n || slices.Contains(answers, false) {
			t.Errorf("%s: a key is missing", what)
		}
	}
	near := func(what string, got, want, by float64) {
		t.Helper()
		if got < want-by || got > want+by {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	no := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}

	secret := filter.NewSecret()
	for _, s := range []*bloomery.Set{
		run(bloomeryLines(ctx, list))(t), run(bloomeryStrings(ctx, slices.Values(keys)))(t),
		run(bloomeryKeyedHash(ctx, slices.Values(keys), secret))(t),
		run(bloomerySharded(ctx, slices.Values(keys), filepath.Join(dir, "set")))(t),
	} {
		for _, k := range keys {
			if !s.ContainsString(k) {
				t.Fatalf("%v: %s is missing", s, k)
			}
		}
		no(s.Close())
	}
	ours := run(bloomeryIntegers(ctx, slices.Values(ids)))(t)
	opened := run(bloomerySave(ctx, ours, path))(t)
	defer opened.Close()
	all("bloomery", bloomeryAskMany(opened, ids))
	near("rate", run(bloomeryRate(ctx, ours))(t), 0.01, 0.005)
	near("estimate", run(bloomeryEstimate(ours))(t), n, 50)
	no(bloomeryMerge(ours, opened))
	no(bloomeryWriters(ctx, parts, n, path))
	needs := run(bloomeryNeeds(n))(t)
	no(bloomery.Keyed[uint64](needs).Add(5))
	no(bloomeryRemove(needs, 5))
	counting := run(bloomery.New(bloomery.Config{Spec: "counting", Keys: n}))(t)
	no(counting.AddString("a"))
	near("count", float64(run(bloomeryCount(counting, []byte("a")))(t)), 1, 0)
	v, ok, err := bloomeryValues(ctx, maps.All(map[string]uint64{"a": 7}), []byte("a"))
	if v != 7 || !ok || err != nil {
		t.Errorf("value %d, %t, %v", v, ok, err)
	}
	asked := make(chan string, 1)
	asked <- "no such key"
	close(asked)
	no(bloomeryFollow(ctx, path, asked, func(string, bool) {}))
	if s := run(bloomeryExact(ctx, keys[:10], keys))(t); !s.Contains([]byte("key 9")) || s.Contains([]byte("key 10")) {
		t.Error("the exact set errs")
	}

	bits := run(bitsSave(bitsIntegers(slices.Values(ids), n), path))(t)
	all("bits", bitsAskMany(bits, ids))
	near("bits, rate", bitsRate(bits), 0.01, 0.005)
	near("bits, estimate", float64(bitsEstimate(bits)), n, 50)
	no(bitsMerge(bits, bitsStrings(slices.Values(keys), n)))
	if !bits.TestString("key 5") || !run(bitsLines(list))(t).TestString("key 5") {
		t.Error("bits: a key is missing")
	}
	if bitsKeyedHash(slices.Values(keys), n, secret[:]).ApproximatedSize() < 900 {
		t.Error("bits: keys are missing")
	}
	no(bitsWriters(parts, n, path))

	fuse := run(fuseSave(run(fuseIntegers(slices.Values(ids)))(t), path))(t)
	all("fuse", fuseAskMany(fuse, ids))
	near("fuse, rate", fuseRate(fuse), 0.0039, 0.002)
	run(fuseLines(list))(t)
	run(fuseStrings(slices.Values(keys)))(t)
	k0, k1 := binary.LittleEndian.Uint64(secret[:]), binary.LittleEndian.Uint64(secret[8:])
	run(fuseKeyedHash(slices.Values(keys), k0, k1))(t)

	r := run(roaringSave(roaringIntegers(slices.Values(ids)), path))(t)
	all("roaring", roaringAskMany(r, ids))
	roaringMerge(r, roaringExact(slices.Values([]uint64{1})))
	roaringRemove(r, 0)
	near("roaring", float64(roaringEstimate(r)), n, 0)
	no(roaringWriters(parts, path))
}
