package shardset_test

import (
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
