package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/internal/fakes3"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/settest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"bloomery-bucket": func() {
			os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

// TestScripts runs testdata/script with a set of the keys one to nine in a folder and on a server, $SET and $S3.
func TestScripts(t *testing.T) {
	f := fakes3.New(t)
	dir := t.TempDir()
	_, err := settest.BuildShards(t.Context(), func(yield func(string) bool) {
		for _, k := range []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine"} {
			if !yield(k) {
				return
			}
		}
	}, dir, bloomery.Config{Spec: "blocked(fpr=0.000001)", Sharding: bloomery.Sharding{Shards: 3}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := buckets.OpenStore(t.Context(), f.Address("set"))
	if err != nil {
		t.Fatal(err)
	}
	storetest.Copy(t, buckets.Folder(dir), s)
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(e *testscript.Env) error {
		e.Setenv("SET", dir)
		e.Setenv("S3", f.Address("set"))
		e.Setenv("S3_NONE", f.Address("none"))
		for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_EC2_METADATA_DISABLED"} {
			e.Setenv(name, os.Getenv(name))
		}
		return nil
	}})
}

// TestSignal checks the exit code after a signal, which is the same as of bloomery.
func TestSignal(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(signalled{syscall.SIGTERM})
	var stdout, stderr strings.Builder
	code := run(ctx, []string{"info", t.TempDir()}, strings.NewReader(""), &stdout, &stderr)
	if code != 143 || stderr.String() != "bloomery-bucket: interrupted\n" {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
}

// TestReadSecret checks that an endless file is not read whole, and that a folder is an error.
func TestReadSecret(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "secret")
	for text, want := range map[string]error{
		strings.Repeat("0f", filter.SecretSize) + "\n": nil,
		strings.Repeat("0f", 1<<20):                    filter.ErrTooLarge,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readSecret(t.Context(), path); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
	if _, err := readSecret(t.Context(), dir); err == nil {
		t.Error("a folder is read")
	}
	const zero = "/dev/zero"
	if _, err := os.Stat(zero); err == nil {
		if _, err := readSecret(t.Context(), zero); !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("%s: %v", zero, err)
		}
	}
}
