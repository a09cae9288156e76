package untrusted

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestWhileBusy checks that only Windows waits for a file that is in use, and not for other errors.
func TestWhileBusy(t *testing.T) {
	for _, c := range []struct {
		err  error
		more int // further calls on Windows
	}{
		{nil, 0}, {fs.ErrNotExist, 0}, {&fs.PathError{Err: inUse}, 2}, {fs.ErrPermission, 2},
	} {
		calls := 0
		err := WhileBusy(func() error {
			if calls++; calls > c.more && c.more > 0 {
				return nil
			}
			return c.err
		})
		want, wantErr := 1, c.err
		if runtime.GOOS == "windows" && c.more > 0 {
			want, wantErr = 1+c.more, nil
		}
		if calls != want || !errors.Is(err, wantErr) {
			t.Errorf("%v: %d calls, %v", c.err, calls, err)
		}
	}
}

// TestOpenBusy opens a file while it is renamed again and again.
func TestOpenBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); {
			err := os.WriteFile(path+".new", []byte("text"), 0o600)
			if err == nil {
				err = WhileBusy(func() error { return os.Rename(path+".new", path) })
			}
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		if b, err := ReadFile(t.Context(), path, Limit{MaxBytes: 10}); string(b) != "text" || err != nil {
			t.Fatalf("%q, %v", b, err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
}
