package hashes

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRaw checks that keys are returned in order, from memory, from the file and from both, and that no file remains.
func TestRaw(t *testing.T) {
	keys := [][]byte{{}, []byte("a"), bytes.Repeat([]byte("long"), BlockSize/3), {}, []byte("z")}
	for i := range 30_000 {
		keys = append(keys, []byte(strings.Repeat("x", i%90)+string(rune('a'+i%26))))
	}
	for _, memory := range []int64{0, 1, 1000, BlockSize, 2 * BlockSize} {
		dir := t.TempDir()
		r := NewRaw(memory, dir)
		var buf []byte
		for _, k := range keys {
			buf = append(buf[:0], k...)
			check(t, r.Add(buf))
			clear(buf) // the Raw must not keep it
		}
		if r.Len() != uint64(len(keys)) {
			t.Errorf("%d keys, want %d", r.Len(), len(keys))
		}
		if spilled := r.file != nil; spilled == (memory == 0) {
			t.Errorf("memory %d: a file: %v", memory, spilled)
		}
		for range 2 {
			i := 0
			err := r.Each(t.Context(), func(key []byte) error {
				if !bytes.Equal(key, keys[i]) {
					t.Fatalf("memory %d: key %d is %.20q, want %.20q", memory, i, key, keys[i])
				}
				i++
				return nil
			})
			if err != nil || i != len(keys) {
				t.Errorf("memory %d: %d keys, %v", memory, i, err)
			}
		}
		stop := errors.New("stop")
		if err := r.Each(t.Context(), func([]byte) error { return stop }); err != stop {
			t.Errorf("error %v", err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(stop)
		if err := r.Each(ctx, func([]byte) error { return nil }); err != stop {
			t.Errorf("error %v of a context", err)
		}
		if err := errors.Join(r.Close(), r.Close()); err != nil {
			t.Error(err)
		}
		if r.Add(nil) == nil || r.Each(t.Context(), nil) == nil {
			t.Error("no error after Close")
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%d files left", len(left))
		}
	}
	if err := NewRaw(1, filepath.Join(t.TempDir(), "none")).Add([]byte("k")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v without a folder", err)
	}
}
