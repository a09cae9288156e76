package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestInputs reads plain and compressed inputs in order, and checks that other files are refused.
func TestInputs(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := io.WriteString(z, "three\nfour"); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", maxLine)
	plain, packed := write("plain", []byte("one\r\n\n two\n"+long+"\n")), write("packed.gz", zipped.Bytes())

	read := func(ctx context.Context, stdin io.Reader, paths ...string) (all []string, err error) {
		in, err := (&app{stdin: stdin}).inputs(paths)
		if err != nil {
			return nil, err
		}
		err = in.eachBatch(ctx, func(keys [][]byte) error {
			for _, k := range keys {
				all = append(all, string(k))
			}
			return nil
		})
		return all, err
	}
	got, err := read(t.Context(), strings.NewReader("five"), plain, packed, stdio)
	if want := []string{"one", " two", long, "three", "four", "five"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%.200q, %v", got, err)
	}

	for what, path := range map[string]string{
		"a long line": write("long", []byte(long+"xxx\n")), "zstd": write("zstd", []byte("\x28\xb5\x2f\xfd...")),
		"cut gzip": write("cut", zipped.Bytes()[:zipped.Len()-9]), "a folder": dir, "a missing file": dir + "/missing",
	} {
		if _, err := read(t.Context(), nil, path); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if _, err := read(t.Context(), strings.NewReader(""), stdio, stdio); err == nil {
		t.Error("standard input is read twice")
	}

	silent, _ := io.Pipe()
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if _, err := read(ctx, silent); !errors.Is(err, stopped) {
		t.Errorf("an input that is silent: %v", err)
	}
}
