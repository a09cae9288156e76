//go:build unix

package publish

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/shard"
)

// TestAbandoned leaves what publishers that were killed at different moments leave behind, and checks that the next
// Publish removes it, with new content and with the same.
func TestAbandoned(t *testing.T) {
	src, dir := t.TempDir(), t.TempDir()
	file := build(t, src, 0, 0, bloomery.Config{})
	store := filepath.Join(dir, ObjectsName)
	for _, same := range []bool{false, true} {
		object := strings.Repeat("0a", len(shard.Sum{}))
		left := []string{
			filepath.Join(dir, "."+ReleaseName+".tmp-0123456789abcdef"),
			filepath.Join(store, ".object.tmp-0123456789abcdef"), // of the check that files can be created
			filepath.Join(store, "."+object+".tmp-0123456789abcdef"),
		}
		must(t, os.MkdirAll(store, 0o777))
		for _, path := range left {
			write(t, path, []byte("half"), 0o600)
		}
		if r := mustPublish(t, dir, file, Options{Name: "x", Now: start}); r.Same != same {
			t.Errorf("same content: %v, want %v", r.Same, same)
		}
		for _, path := range left {
			if _, err := os.Lstat(path); err == nil {
				t.Errorf("same content: %v: %s is still there", same, path)
			}
		}
	}
}
