//go:build unix

package container

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestMapPipe maps a named pipe whose writer closes it at once. Map must open it only once: the second time there may
// be no writer, and the bytes are gone.
func TestMapPipe(t *testing.T) {
	s := samples(t)[0]
	for range 200 {
		path := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		written := make(chan error, 1)
		go func() {
			w, err := os.OpenFile(path, os.O_WRONLY, 0) // returns when Map opens it
			if err == nil {
				_, err = w.Write(s.file)
				err = errors.Join(err, w.Close(), os.Remove(path)) // a second Open fails instead of waiting
			}
			written <- err
		}()
		f, m, err := Map(path, Options{})
		if err := errors.Join(err, <-written); err != nil || f.Bytes != uint64(len(s.file)) || m != nil {
			t.Fatalf("%v, %v", f, err)
		}
	}
}
