package shardset_test

import (
	"strings"
	"testing"

	"github.com/bloomery/bloomery/internal/shardset"
)

func TestIsUnfinished(t *testing.T) {
	for name, want := range map[string]bool{
		"00001-of-00004.bloom": true, "00001-of-00004.ab12.bloom": true,
		".00001-of-00004.bloom.tmp-0123456789abcdef": true, ".manifest.json.tmp-0123456789abcdef": true,
		"manifest.json": false, "": false, "list.txt": false, "00004-of-00004.bloom": false, "work-12": false,
		".00001-of-00004.bloom.tmp-0123": false, ".list.txt.tmp-0123456789abcdef": false,
	} {
		if got := shardset.IsUnfinished(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}

func TestCutWork(t *testing.T) {
	id := strings.Repeat("0f", 16)
	for name, want := range map[string]string{
		"work-" + id: "", shardset.WorkName(id, ""): "", shardset.WorkName(id, "a/b"): "a/b",
		"work-": "-", "work-12": "-", id: "-", "work-" + id + "0": "-", "work-" + strings.Repeat("x", 32) + "/a": "-",
	} {
		got, file, ok := shardset.CutWork(name)
		if ok != (want != "-") || ok && (got != id || file != want) {
			t.Errorf("%s: %s, %s, %v", name, got, file, ok)
		}
	}
}
