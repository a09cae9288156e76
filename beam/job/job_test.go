package job

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/keyio"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/shard"
)

var _ = flag.Bool("long", false, "of the tests of the command; none here takes minutes")

func TestMain(m *testing.M) {
	flag.Parse()
	beam.Init() // sets the default logger
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// input writes n keys to two files in a folder, one compressed, and returns a pattern for them and the keys.
func input(t *testing.T, n int) (pattern string, keys [][]byte) {
	dir := t.TempDir()
	var text, zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	for i := range n {
		k := fmt.Sprintf("key-%06d", i*7919%1_000_003)
		keys = append(keys, []byte(k))
		w := io.Writer(&text)
		if i%3 == 0 {
			w = z
		}
		fmt.Fprintln(w, k)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a.txt"), text.Bytes())
	write(t, filepath.Join(dir, "b.txt.gz"), zipped.Bytes())
	return filepath.Join(dir, "*.txt*"), keys
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// config returns a Config with ranges of 64 KiB.
func config(pattern, output, spec string) Config {
	return Config{
		Input: []string{pattern}, Output: output,
		Set: steps.Config{Build: bloomery.Config{Spec: spec, Sharding: bloomery.Sharding{Shards: 4},
			Hashing: bloomery.Hashing{Seed: 7}}, RangeBytes: 64 << 10},
	}
}

// single builds the same set in one process.
func single(t *testing.T, c Config, keys [][]byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "single")
	build := c.Set.Build
	build.Hashing.Secret = c.Secret
	b, err := settest.NewShardBuilder(dir, build)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.AddMany(keys); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// sameFolders fails the test unless two folders contain the same files with the same bytes.
func sameFolders(t *testing.T, got, want string) {
	t.Helper()
	list := func(dir string) string {
		var names []string
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			names = append(names, f.Name())
		}
		return strings.Join(names, " ")
	}
	if g, w := list(got), list(want); g != w {
		t.Fatalf("files %s; want %s", g, w)
	}
	for _, name := range strings.Fields(list(want)) {
		g, err := os.ReadFile(filepath.Join(got, name))
		w, err2 := os.ReadFile(filepath.Join(want, name))
		if err = errors.Join(err, err2); err != nil || !bytes.Equal(g, w) {
			t.Errorf("%s differs: %d and %d bytes, %v", name, len(g), len(w), err)
		}
	}
}

func TestRun(t *testing.T) {
	pattern, keys := input(t, 30_000)
	c := config(pattern, filepath.Join(t.TempDir(), "set"), "blocked(fpr=0.01)")
	m, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if m.Keys() != 30_000 {
		t.Errorf("%d keys", m.Keys())
	}
	sameFolders(t, c.Output, single(t, c, keys))
	if _, err := Run(t.Context(), c); err != nil { // writes over the finished set
		t.Fatal(err)
	}
	sameFolders(t, c.Output, single(t, c, keys))
}

// TestRunValues builds a set of keys with values. If a key has two values, the job must return the same error as the
// build.
func TestRunValues(t *testing.T) {
	dir := t.TempDir()
	c := config(filepath.Join(dir, "*.csv"), filepath.Join(dir, "set"), "ribbon(r=8,value_bits=8)")
	c.Set.Keys = steps.KeyFormat{Name: "csv", Column: "k", ValueColumn: "v"}
	single := filepath.Join(dir, "single")
	b, err := settest.NewShardBuilder(single, c.Set.Build)
	if err != nil {
		t.Fatal(err)
	}
	for file := range 3 {
		text := bytes.NewBufferString("v,k\n")
		for i := range 3000 {
			key := fmt.Sprintf("key-%d", i+2000*file)
			fmt.Fprintf(text, "%d,%s\n", (i+2000*file)%256, key)
			if err := b.AddManyValues([][]byte{[]byte(key)}, []uint64{uint64(i+2000*file) % 256}); err != nil {
				t.Fatal(err)
			}
		}
		write(t, filepath.Join(dir, fmt.Sprint(file, ".csv")), text.Bytes())
	}
	if _, err := b.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	sameFolders(t, c.Output, single)
	write(t, filepath.Join(dir, "2.csv"), []byte("v,k\n3,key-5\n"))
	c.Output = filepath.Join(dir, "other")
	want := fmt.Sprintf(`key "key-5" has the values 3 and 5: want one value a key; see %s, %s`,
		filepath.Join(dir, "0.csv"), filepath.Join(dir, "2.csv"))
	if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %s", err, want)
	}
}

func TestNoSecretInGraph(t *testing.T) {
	pattern, keys := input(t, 5000)
	c := config(pattern, filepath.Join(t.TempDir(), "set"), "fuse")
	c.Set.Build.Hashing.Seed = 0
	c.Secret = (*filter.Secret)([]byte("\x01a secret \"16\\b\xff"))
	task, _, _, err := c.plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	env, stop, err := Loopback.start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	p, err := marshal(task, env)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(c.Output, "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	public := map[string][][]byte{"graph": layers(mustProto(t, p))}
	if !slices.ContainsFunc(public["graph"], func(b []byte) bool { return bytes.Contains(b, []byte(task.Plan)) }) {
		t.Error("the plan id is not found in the graph: this test does not look into all of it")
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		public[f] = layers(b)
	}
	for name, all := range public {
		for _, b := range all {
			for _, form := range formsOf(c.Secret[:]) {
				if bytes.Contains(b, form) {
					t.Errorf("%s has the secret as %q", name, form)
				}
			}
		}
	}
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	sameFolders(t, c.Output, single(t, c, keys))
}

// probe is a format of tests: lines, with a call of do before a span is read.
type probe struct {
	do func(ctx context.Context, s steps.Span) error
}

func (probe) Split(_ context.Context, _ steps.Source, o steps.Object, size int64) (
	spans []steps.Span, err error,
) {
	for at := int64(0); at < o.Size; at += size {
		spans = append(spans, steps.Span{Offset: at, Length: min(size, o.Size-at)})
	}
	return spans, nil
}

func (p probe) Read(
	ctx context.Context, in steps.Source, o steps.Object, s steps.Span, r steps.Reading,
) error {
	if err := p.do(ctx, s); err != nil {
		return err
	}
	text, err := os.ReadFile(o.Name)
	if err != nil {
		return err
	}
	var b keyio.Batch
	at := int64(0)
	for line := range bytes.Lines(text) {
		if at >= s.Offset && at < s.Offset+s.Length {
			b.Keys = append(b.Keys, bytes.TrimSuffix(line, []byte("\n")))
		}
		at += int64(len(line))
	}
	if err := r.Work(&b); err != nil {
		return err
	}
	return r.Emit(&b)
}

// withProbe makes c read with the format "probe".
func withProbe(t *testing.T, c *Config, do func(ctx context.Context, s steps.Span) error) {
	c.Set.Keys.Name = "probe"
	Formats["probe"] = probe{do}
	t.Cleanup(func() { delete(Formats, "probe") })
}

// plain writes n keys to one file and returns its name and the keys.
func plain(t *testing.T, n int) (name string, keys [][]byte) {
	name = filepath.Join(t.TempDir(), "keys.txt")
	for i := range n {
		keys = append(keys, fmt.Appendf(nil, "key-%06d", i))
	}
	write(t, name, append(bytes.Join(keys, []byte("\n")), '\n'))
	return name, keys
}

// TestCancel cancels a job in its first range: the job ends at the server, Run returns the cause, and no set appears.
func TestCancel(t *testing.T) {
	pattern, _ := plain(t, 30_000)
	c := config(pattern, filepath.Join(t.TempDir(), "set"), "blocked(fpr=0.01)")
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	withProbe(t, &c, func(ctx context.Context, _ steps.Span) error {
		cancel(cause)
		<-ctx.Done() // the steps of the worker must also end
		return context.Cause(ctx)
	})
	if _, err := Run(ctx, c); !errors.Is(err, cause) {
		t.Errorf("error %v; want %v", err, cause)
	}
	s, err := startPrism()
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := s.client.GetJobs(t.Context(), &jobpb.GetJobsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	cancelled := 0
	for _, j := range jobs.GetJobInfo() {
		if j.GetState() == jobpb.JobState_CANCELLED {
			cancelled++
		} else if !ended(j.GetState()) {
			t.Errorf("job %s is %v", j.GetJobId(), j.GetState())
		}
	}
	if cancelled == 0 {
		t.Error("no job was cancelled at the server")
	}
	time.Sleep(100 * time.Millisecond)
	if _, err := os.Stat(filepath.Join(c.Output, shard.ManifestName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a manifest after the cancel: %v", err)
	}
}

// TestResume makes one range fail once, and checks that its error is returned, the other ranges are not read again, and
// the bytes are the same.
func TestResume(t *testing.T) {
	pattern, keys := plain(t, 30_000)
	c := config(pattern, filepath.Join(t.TempDir(), "set"), "blocked(fpr=0.01)")
	broken := errors.New("a disk\nis broken")
	var fails atomic.Bool
	var reads atomic.Int64
	withProbe(t, &c, func(_ context.Context, s steps.Span) error {
		if s.Offset > 0 && fails.CompareAndSwap(false, true) {
			for len(runFiles(t, c)) == 0 { // wait until another range is done
				time.Sleep(time.Millisecond)
			}
			return broken
		}
		reads.Add(1)
		return nil
	})
	_, err := Run(t.Context(), c)
	if err == nil || err.Error() != broken.Error() {
		t.Fatalf("error %v; want %v, without the trace of the runner", err, broken)
	}
	if _, err := os.Stat(filepath.Join(c.Output, shard.ManifestName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a manifest after the error: %v", err)
	}
	kept := runFiles(t, c)
	if len(kept) == 0 {
		t.Fatal("no range was kept")
	}
	reads.Store(0)
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if all := ranges(t, c); int(reads.Load()) != all-len(kept) {
		t.Errorf("%d of %d ranges read again; %d were finished", reads.Load(), all, len(kept))
	}
	c.Set.Keys.Name = ""
	sameFolders(t, c.Output, single(t, c, keys))
}

// runFiles returns the run files of a job.
func runFiles(t *testing.T, c Config) []string {
	files, err := filepath.Glob(filepath.Join(c.Output, "work-*", "range-*.run"))
	if err != nil {
		t.Error(err)
	}
	return files
}

// ranges returns the number of ranges of a job.
func ranges(t *testing.T, c Config) int {
	set := c.Set
	set.Formats = Formats
	p, err := steps.NewPlan(t.Context(), steps.Files(), c.Input, set)
	if err != nil {
		t.Fatal(err)
	}
	return len(p.Ranges)
}

func TestErrorHasLine(t *testing.T) {
	good, _ := plain(t, 30_000)
	bad := filepath.Join(filepath.Dir(good), "c.txt")
	write(t, bad, []byte(strings.Repeat("short\n", 20_000)+"this one is too long\n"))
	c := config(filepath.Join(filepath.Dir(good), "*.txt"), filepath.Join(t.TempDir(), "set"), "blocked(fpr=0.01)")
	c.Set.Keys.MaxKey = 10
	_, err := Run(t.Context(), c)
	want := bad + ":20001: key is longer than 10 bytes"
	if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v; want %s", err, want)
	}
}
