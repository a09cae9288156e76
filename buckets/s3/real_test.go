package s3_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/internal/fakes3"
	"github.com/bloomery/bloomery/buckets/internal/reals3"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
	"github.com/bloomery/bloomery/distribute"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/shard"
)

// TestReal tests the Store against a server of S3 that is not of this project, if flags name the server: see package
// reals3. It compares the behaviour of the server with the table in README.md.
func TestReal(t *testing.T) {
	s := reals3.New(t)
	lacks := measured(t, s)
	if slices.ContainsFunc(reals3.Races, func(b reals3.Behaviour) bool { return lacks[b] }) {
		s.Single()
	}
	if lacks[reals3.PartSums] {
		s.ChecksumsWhenRequired()
	}
	t.Run("store", func(t *testing.T) {
		if !lacks[reals3.FileAndFolder] {
			storetest.Put(t, openURL(t, s, ""), "suite", "not below the prefix")
		}
		storetest.Put(t, openURL(t, s, ""), "suite.one", "not below the prefix")
		storetest.RunWithout(t, openURL(t, s, "suite/one"), storetest.Lacks{
			IfMatchOfParts: lacks[reals3.ReplacesParts], ConditionsOfParts: lacks[reals3.AbortKeeps],
		})
	})
	t.Run("parts", func(t *testing.T) { realParts(t, s) })
	t.Run("pages", func(t *testing.T) { realPages(t, s) })
	t.Run("late", func(t *testing.T) { storetest.Late(t, openURL(t, s, "sets/late")) })
	t.Run("faults", func(t *testing.T) { realFaults(t, s) })
	t.Run("lost", func(t *testing.T) { lost(t, s, !lacks[reals3.AbortKeeps]) })
	t.Run("died", func(t *testing.T) {
		died(t, s, func() int { return len(s.Uploads(t)) })
		s.Abort(t)
	})
	t.Run("distribute with faults", func(t *testing.T) { distributed(t, s) })
	t.Run("distribute", func(t *testing.T) { realDistribute(t, s, "sets/two") })
	t.Run("command", func(t *testing.T) { realCommand(t, s, "sets/two") })
	t.Run("distribute throttled", func(t *testing.T) { realThrottled(t, s) })
	t.Run("set", func(t *testing.T) { realSet(t, s) })
	if left := s.Uploads(t); len(left) != 0 {
		t.Errorf("uploads of %q are left behind", left)
	}
}

// realParts compares the listing with Stat, and checks the requests that TestParts does not check.
func realParts(t *testing.T, f *reals3.Server) {
	s := openURL(t, f, "parts")
	f.Counts()
	parts(t, s)
	if n := f.Counts(); n["POST"] != 4 || n["PUT"] < 3 || n["DELETE"] < 2 {
		t.Errorf("requests %v: not written in parts", n)
	}
	listed := 0
	for o, err := range s.List(t.Context(), "") {
		st, err2 := s.Stat(t.Context(), "big")
		if err != nil || err2 != nil || o != st {
			t.Errorf("listed %+v, Stat %+v, %v, %v", o, st, err, err2)
		}
		listed++
	}
	if listed != 1 {
		t.Errorf("%d objects", listed)
	}
}

// realPages lists more objects than fit into one response.
func realPages(t *testing.T, f *reals3.Server) {
	const objects = 2345
	s := openURL(t, f, "pages")
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := w; i < objects; i += 8 {
				write := func(to io.Writer) error { _, err := fmt.Fprint(to, i); return err }
				if err := s.Write(t.Context(), fmt.Sprintf("a/%d", i), write); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	storetest.Put(t, s, "b", "after the prefix")
	f.Counts()
	seen := map[string]bool{}
	for o, err := range s.List(t.Context(), "a/") {
		if err != nil {
			t.Fatal(err)
		}
		seen[o.Name] = true
	}
	if n := f.Counts(); len(seen) != objects || seen["b"] || n["LIST"] != 3 {
		t.Errorf("%d objects of %d in %v", len(seen), objects, n)
	}
}

// realFaults throttles requests to the server and cuts off its responses. The SDK must repeat requests, and the reader
// must resume with the same version.
func realFaults(t *testing.T, f *reals3.Server) {
	defer f.Fault(nil, nil)
	s := openURL(t, f, "faults")
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	storetest.Put(t, s, "big", string(big))
	var n atomic.Int32
	f.Fault(func(w http.ResponseWriter, _ *http.Request) bool {
		if n.Add(1) > 2 {
			return false
		}
		fakes3.Fail(w, http.StatusServiceUnavailable, "SlowDown")
		return true
	}, nil)
	storetest.Put(t, s, "throttled", "text")
	if n.Load() != 3 {
		t.Errorf("a throttled write took %d requests", n.Load())
	}
	var cuts atomic.Int32
	f.Fault(nil, func(*http.Request) int { cuts.Add(1); return 300_000 })
	for _, c := range [][2]int{{0, -1}, {100, 900_000}} {
		want := big[c[0]:]
		if c[1] >= 0 {
			want = want[:c[1]]
		}
		b, err := storetest.Read(t.Context(), s, "big", "", int64(c[0]), int64(c[1]))
		if err != nil || !bytes.Equal(b, want) {
			t.Errorf("%v: %d bytes, want %d: %v", c, len(b), len(want), err)
		}
	}
	if cuts.Load() < 6 {
		t.Errorf("%d answers", cuts.Load())
	}
	r, err := s.Open(t.Context(), "big", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	storetest.Put(t, s, "big", strings.ToUpper(string(big))) // before the response is cut off
	if b, err := io.ReadAll(r); !errors.Is(err, buckets.ErrReplaced) || !bytes.HasPrefix(big, b) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

const realKeys = 100_000 // keys of realDistribute

// realDistribute runs every step of a build twice at once, like two independent workers. A step that fails is repeated,
// as an engine would do. The files must equal the files of Build.
func realDistribute(t *testing.T, f *reals3.Server, to string) (failed int) {
	const keys = realKeys
	ctx := t.Context()
	in, out := openURL(t, f, "input"), openURL(t, f, to)
	all := func(yield func(string) bool) {
		for i := 0; i < keys && yield(fmt.Sprint("key ", i)); i++ {
		}
	}
	var text strings.Builder
	for k := range all {
		fmt.Fprintln(&text, k)
	}
	storetest.Put(t, in, "keys.txt", text.String())
	config := bloomery.Config{Spec: "partitioned(fpr=0.01)", Sharding: bloomery.Sharding{Shards: 7}}
	p, err := distribute.NewPlan(ctx, in, []string{"keys.txt"}, distribute.Config{Build: config, RangeBytes: 200_000})
	if err == nil {
		err = p.Save(ctx, out)
	}
	if err != nil {
		t.Fatal(err)
	}
	var repeated atomic.Int32
	again := func(step func() error) {
		for attempt := range 5 {
			err := step()
			if err == nil {
				return
			}
			repeated.Add(1)
			if attempt == 4 {
				t.Errorf("a step fails again and again: %v", err)
			}
		}
	}
	twice := func(n int, step func(i int) error) {
		var wg sync.WaitGroup
		for w := range 2 {
			wg.Go(func() {
				for i := range n {
					again(func() error { return step((i*(1-2*w) + n*w - w) % n) }) // the second worker from the end
				}
			})
		}
		wg.Wait()
	}
	twice(p.Ranges, func(i int) error { _, err := p.Range(ctx, in, out, i, distribute.Options{}); return err })
	again(func() error { _, err := p.Gather(ctx, out, distribute.Options{}); return err })
	twice(p.Shards, func(i int) error { _, err := p.Build(ctx, out, i, distribute.Options{}); return err })
	again(func() error {
		m, err := p.Finish(ctx, out, distribute.Options{})
		if err == nil && m.Keys() != keys {
			err = fmt.Errorf("%d keys", m.Keys())
		}
		return err
	})
	f.Fault(nil, nil)
	f.Lose(nil)
	dir := t.TempDir()
	if _, err := settest.BuildShards(ctx, all, dir, config); err != nil {
		t.Fatal(err)
	}
	want, files := buckets.Folder(dir), 0
	for o, err := range out.List(ctx, "") {
		if err != nil {
			t.Fatal(err)
		}
		a, err := storetest.Read(ctx, out, o.Name, "", 0, -1)
		b, err2 := storetest.Read(ctx, want, o.Name, "", 0, -1)
		if err != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: %d and %d bytes, %v, %v", o.Name, len(a), len(b), err, err2)
		}
		files++
	}
	if files != p.Shards+1 || p.Ranges < 5 {
		t.Errorf("%d files of %d shards, %d ranges", files, p.Shards, p.Ranges)
	}
	return int(repeated.Load())
}

// realSet queries a set in the bucket by whole shards and by blocks, then while responses are cut off, and after a
// shard was replaced.
func realSet(t *testing.T, f *reals3.Server) {
	defer f.Fault(nil, nil)
	dir, local := storetest.Build(t, 40_000, bloomery.Config{Spec: "blocked(fpr=0.01)",
		Sharding: bloomery.Sharding{Shards: 16}})
	storetest.Copy(t, buckets.Folder(dir), openURL(t, f, "sets/set"))
	for _, blocks := range []bool{false, true} {
		for _, cut := range []func(*http.Request) int{nil, func(*http.Request) int { return 2000 }} {
			f.Fault(nil, nil)
			s, err := buckets.Open(t.Context(), f.Address("sets/set"), buckets.Options{Blocks: blocks})
			if err != nil {
				t.Fatal(err)
			}
			f.Fault(nil, cut)
			if n := storetest.Compare(t, s, local, 39_500, 1000, 4); n != 0 {
				t.Errorf("%d unknown: %v", n, s.Err())
			}
			_ = s.Close()
		}
	}
	f.Fault(nil, nil)
	s, err := buckets.Open(t.Context(), f.Address("sets/set"), buckets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out := openURL(t, f, "sets/set")
	for _, e := range local.Manifest().Shards {
		storetest.Put(t, out, e.File, strings.Repeat("x", int(e.Bytes)))
	}
	if yes, err := s.ContainsContext(t.Context(), storetest.Key(1)); !yes || err == nil ||
		!strings.Contains(err.Error(), "Refresh") {
		t.Errorf("%v, %v", yes, err)
	}
	if _, err := out.Stat(t.Context(), shard.ManifestName); err != nil {
		t.Error(err)
	}
}

// columns are the columns of the table in README.md.
var columns = []string{"moto", "s3proxy", "s3mock"}

// table returns the cells of the table in README.md, which show the behaviour of each server.
func table(t *testing.T) map[reals3.Behaviour][]string {
	t.Helper()
	b, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[reals3.Behaviour][]string{}
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(strings.Trim(line, "|\n "), " | ")
		if behaviour := reals3.Behaviour(strings.TrimSpace(cells[0])); slices.Contains(reals3.Behaviours(), behaviour) {
			rows[behaviour] = cells[1:]
		}
	}
	return rows
}

// TestTable checks that README.md has a row for every behaviour that is measured, and each cell is yes or no.
func TestTable(t *testing.T) {
	rows := table(t)
	for _, b := range reals3.Behaviours() {
		cells := rows[b]
		if len(cells) != len(columns) || slices.ContainsFunc(cells, func(c string) bool { return c != "yes" && c != "no" }) {
			t.Errorf("README.md: the row %q has the cells %q", b, cells)
		}
	}
}

// measured returns the behaviours that a server lacks. For the servers in the table of README.md, the test fails unless
// they match the table.
func measured(t *testing.T, s *reals3.Server) map[reals3.Behaviour]bool {
	t.Helper()
	rows, found := table(t), s.Measure(t)
	lacks := map[reals3.Behaviour]bool{}
	column := slices.Index(columns, s.Name)
	for _, b := range reals3.Behaviours() {
		lacks[b] = found[b] != nil
		if lacks[b] {
			t.Logf("NOT IMITATED: %s: %v", b, found[b])
		}
		if column < 0 || len(rows[b]) != len(columns) {
			continue
		}
		switch no := rows[b][column] == "no"; {
		case no == lacks[b]:
		case no && slices.Contains(reals3.Races, b):
			lacks[b] = true
			t.Logf("only one has won this time: %s", b)
		default:
			t.Errorf("README.md says %s for %s: %s", rows[b][column], s.Name, b)
		}
	}
	return lacks
}
