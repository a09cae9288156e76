package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// between is a stderr that calls do when the planner prints its choice: after the keys were counted, and before they
// are read again.
type between struct {
	bytes.Buffer
	do func()
}

func (b *between) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("chose")) {
		b.do()
	}
	return b.Buffer.Write(p)
}

// TestInputChanged changes the input of a build between its two passes: nothing is written, and the error says why.
func TestInputChanged(t *testing.T) {
	keys := []byte(strings.Repeat("key\n", 1000))
	for what, change := range map[string]func(path string) error{
		"grown": func(path string) error { return os.WriteFile(path, bytes.Repeat(keys, 16), 0o600) },
		"cut":   func(path string) error { return os.Truncate(path, 400) },
		"same size": func(path string) error {
			err := os.WriteFile(path, bytes.ToUpper(keys), 0o600)
			return errors.Join(err, os.Chtimes(path, time.Time{}, time.Now().Add(time.Second)))
		},
		"replaced": func(path string) error {
			st, err := os.Stat(path)
			if err != nil {
				return err
			}
			other := path + ".new"
			err = os.WriteFile(other, bytes.ToUpper(keys), 0o600)
			return errors.Join(err, os.Chtimes(other, time.Time{}, st.ModTime()), os.Rename(other, path))
		},
		"gone": os.Remove,
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			path, output := filepath.Join(dir, "keys.txt"), filepath.Join(dir, "f.bloom")
			if err := os.WriteFile(path, keys, 0o600); err != nil {
				t.Fatal(err)
			}
			changed := false
			stderr := &between{do: func() {
				changed = true
				if err := change(path); err != nil {
					t.Error(err)
				}
			}}
			code := run(t.Context(), []string{"build", "-o", output, path}, strings.NewReader(""), &bytes.Buffer{}, stderr)
			if !changed || code != exitError {
				t.Errorf("changed %t, exit code %d: %s", changed, code, stderr)
			}
			for _, want := range []string{"keys.txt: the input changed", "Nothing was written"} {
				if what != "gone" && !strings.Contains(stderr.String(), want) {
					t.Errorf("no %q in %s", want, stderr)
				}
			}
			if _, err := os.Stat(output); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a file was written: %v", err)
			}
		})
	}
}
