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

// between is an output for stderr that calls do when the planner prints its choice: after the keys were counted and
// before they are read again.
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

// TestInputChanged changes the input of a build between its two passes, and checks that nothing is written and that the
// error names the cause.
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
			mustWrite(t, path, keys)
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

// binaryFiles are files for the scripts that a text archive cannot contain.
var binaryFiles = map[string]string{
	"bom.txt": "\xef\xbb\xbfexample.com\nyopmail.com\n",
	"bom.txt.bz2": "\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x51\x11\x3f\x00\x00\x00\x0d\x51\x89\x00\x10\x00\x01\x2a\x26" +
		"\xc0\x60\x00\x08\x80\x00\xa0\x00\x31\x4c\x00\x00\xd4\x64\xf5\x34\x6d\x26\x90\x0c\x34\x90\xfe\x8e\xa4" +
		"\x32\xe8\x54\x95\x57\x6d\xf1\x77\x24\x53\x85\x09\x05\x11\x13\xf0\x00",
	// 512 GiB of newlines in three layers of compression.
	"nested.zst": "\x28\xb5\x2f\xfd\x64\x1f\x06\x6d\x02\x00\x24\x04\x28\xb5\x2f\xfd\x84\x68\x06\x00\x00\x01\x9c\x00\x00" +
		"\x50\x28\xb5\x2f\xfd\x00\x38\x02\x00\x10\x0a\x01\x54\x0a\x02\x34\xf3\xff\x07\x5c\x00\x00\x00\x01\x54" +
		"\x00\x10\x34\xfd\xff\xfb\xff\x01\x11\x34\xfd\xff\x03\x00\x02\x31\x00\x00\x10\x0a\x03\x00\x10\x0a\x47" +
		"\x03\x84\x6d\x02\x10\x04\xd3\xc6\x37\x0e\xb7\x0c\xeb\x0d\x81\x18",
	"padded.gz": "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\xad\x48\xcc\x2d\xc8\x49\xd5\x4b\xce\xcf\xe5\xaa\xcc\x2f" +
		"\xc8\x4d\xcc\xcc\x01\xb3\x01\xaf\xa7\xe7\x5c\x18\x00\x00\x00" + "\x00\x00\x00\x00",
	"two.utf16":  "t\x00w\x00o\x00\n\x00",
	"names.nul":  "./a\nb\x00./c\x00",
	"values.nul": "./a\nb\t7\x00./c\t9\x00",
	"counts.nul": "1\t./a\nb\x001\t./c\x00",

	"encrypted.parquet": "PAR1 nothing that can be read \x10\x00\x00\x00PARE",
	"short.guava":       "\x01\x07\x00\x00\x00\x03 two words of it",
}
