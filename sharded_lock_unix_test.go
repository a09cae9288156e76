//go:build unix

package bloomery_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
)

// TestSaveBesideLocked: Save waits for the lock of the folder that it replaces, unless the Set is that of the Locked.
func TestSaveBesideLocked(t *testing.T) {
	dirs := []string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")}
	for i, dir := range dirs {
		c := bloomery.Config{Spec: "standard(capacity=2000)", Shards: 3}
		if _, err := bloomery.BuildShards(t.Context(), slices.Values(words(1000+i)), dir, c); err != nil {
			t.Fatal(err)
		}
	}
	l, err := bloomery.Lock(t.Context(), dirs[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := bloomery.Open(dirs[1])
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := other.Save(short, dirs[0]); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Save for 0.1 s: %v", err)
	}
	if err := other.Save(t.Context(), dirs[0]); !errors.Is(err, bloomery.ErrLocked) {
		t.Errorf("Save: %v", err)
	}
	if err := errors.Join(l.AddString("new"), l.Save(t.Context(), dirs[0])); err != nil {
		t.Errorf("Save of the Locked: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := other.Save(t.Context(), dirs[0]); err != nil {
		t.Error(err)
	}
}
