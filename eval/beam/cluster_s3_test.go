package beam

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/eval/beam/clusters"
	"github.com/bloomery/bloomery/eval/s3servers"
)

// s3Bucket starts S3Proxy, which checks signatures, until the test ends. It sets the credentials for this process and
// its children, and returns a function that makes the URL of a prefix or pattern.
func s3Bucket(t *testing.T) func(name string) string {
	t.Helper()
	if lacks := s3servers.Lacking(s3servers.S3Proxy, ""); lacks != "" {
		t.Skip("NOT RUN: " + lacks)
	}
	s, err := s3servers.Start(t.Context(), s3servers.S3Proxy, s3servers.Options{
		Dir: t.TempDir(), Bucket: "bucket", Note: func(text string) { t.Log(text) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Stop()
		if t.Failed() {
			t.Logf("the log of S3Proxy ends:\n%s", last(s.Log(), 2000))
		}
	})
	for _, v := range os.Environ() { // a profile, endpoint or region of the machine
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": s3servers.Key, "AWS_SECRET_ACCESS_KEY": s3servers.Secret, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE":             filepath.Join(t.TempDir(), "none"),
		"AWS_SHARED_CREDENTIALS_FILE": filepath.Join(t.TempDir(), "none"),
	} {
		t.Setenv(name, value)
	}
	return func(name string) string {
		return "s3://" + s.Bucket + "/" + name + "?region=" + s3servers.Region + "&use_path_style=true&endpoint=" + s.URL
	}
}

// openURL opens a prefix of a bucket.
func openURL(t *testing.T, url string) buckets.Store {
	t.Helper()
	s, err := buckets.OpenStore(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := s.(io.Closer); ok {
		t.Cleanup(func() { _ = c.Close() })
	}
	return s
}

// TestClusterS3 builds sets from objects of a bucket into the bucket, with two task managers or executors, once with
// workers in the submitter and once in pools. The objects must equal the files of bloomery build. Large shards are
// uploaded in parts. If two submitters build the same set at the same time, one may fail, but its repeated command must
// succeed.
func TestClusterS3(t *testing.T) {
	onClusters(t, func(t *testing.T, engine string) {
		url := s3Bucket(t)
		s := newSite(t)
		files := s.texts(t, "keys", 8, 25_000)
		large, err := os.Create(s.path("keys-large.txt")) // read in ranges, and uploaded in parts
		if err != nil {
			t.Fatal(err)
		}
		for i := range 1_000_000 {
			fmt.Fprintf(large, "key of the large file %d\n", i)
		}
		if err := large.Close(); err != nil {
			t.Fatal(err)
		}
		uploadAll(t, files, openURL(t, url("keys")))
		s.start(t, clusters.Config{Engine: engine, Workers: 2, OwnPools: true})
		port := freePort(t)
		for i := range 2 {
			s.pool(t, clusters.PoolAddress(i+1), port)
		}
		pools := []string{"--environment", "external", "--environment-config",
			fmt.Sprintf("%s:%d", clusters.PoolHost, port)}
		for _, c := range []struct {
			name, spec string
			shards     int
			more       []string
		}{
			{"loopback", "blocked(fpr=0.01)", 16, nil},
			{"own pools", "blocked(fpr=0.01)", 16, pools},
			{"shards in parts", "blocked(bytes=80000000)", 4, pools},
		} {
			t.Run(c.name, func(t *testing.T) {
				name := strings.ReplaceAll(c.name, " ", "-")
				want := s.build(t, "want-"+name, files, c.spec, c.shards)
				job := s.job("", url("keys/*.txt"), c.spec, c.shards, append(c.more, "--output", url("sets/"+name))...)
				if text, err := job.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, text)
				}
				sameObjects(t, openURL(t, url("sets/"+name)), want)
			})
		}
		t.Run("two submitters", func(t *testing.T) {
			if engine == clusters.Spark {
				t.Skip("NOT RUN: Beam's job server for Spark runs one job at a time, and refuses the second")
			}
			const spec, shards = "partitioned(bits_per_key=8,effort=fast)", 8
			want := s.build(t, "want-two", files, spec, shards)
			run := func() error {
				job := s.job("", url("keys/*.txt"), spec, shards, append(pools, "--output", url("sets/two"))...)
				if text, err := job.CombinedOutput(); err != nil {
					return fmt.Errorf("%w: %s", err, text)
				}
				return nil
			}
			other := make(chan error)
			go func() { other <- run() }()
			for _, err := range []error{run(), <-other} {
				if err == nil {
					continue
				}
				t.Logf("a submitter failed: %v", err)
				if err := run(); err != nil {
					t.Errorf("repeated: %v", err)
				}
			}
			sameObjects(t, openURL(t, url("sets/two")), want)
		})
	})
}

// uploadAll copies files to a store.
func uploadAll(t *testing.T, pattern string, to buckets.Store) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		err = to.Write(t.Context(), filepath.Base(f), func(w io.Writer) error { _, err := w.Write(b); return err })
		if err != nil {
			t.Fatal(err)
		}
	}
}

// sameObjects fails the test unless a store contains exactly the files of a folder.
func sameObjects(t *testing.T, got buckets.Store, want string) {
	t.Helper()
	files, err := os.ReadDir(want)
	if err != nil {
		t.Fatal(err)
	}
	var names, objects []string
	for _, f := range files {
		names = append(names, f.Name())
		b, err := os.ReadFile(filepath.Join(want, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		r, err := got.Open(t.Context(), f.Name(), 0, -1)
		if err != nil {
			t.Error(err)
			continue
		}
		o, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil || !bytes.Equal(b, o) {
			t.Errorf("%s: %d bytes, want %d: %v", f.Name(), len(o), len(b), err)
		}
	}
	for o, err := range got.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o.Name)
	}
	slices.Sort(objects)
	slices.Sort(names)
	if !slices.Equal(objects, names) {
		t.Errorf("objects %q, want %q", objects, names)
	}
}
