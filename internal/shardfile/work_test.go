package shardfile_test

import (
	"strings"
	"testing"

	"github.com/bloomery/bloomery/internal/shardfile"
)

func TestCutWork(t *testing.T) {
	id := strings.Repeat("0f", 16)
	for name, want := range map[string]string{
		"work-" + id: "", shardfile.WorkName(id, ""): "", shardfile.WorkName(id, "a/b"): "a/b",
		"work-": "-", "work-12": "-", id: "-", "work-" + id + "0": "-", "work-" + strings.Repeat("x", 32) + "/a": "-",
	} {
		got, file, ok := shardfile.CutWork(name)
		if ok != (want != "-") || ok && (got != id || file != want) {
			t.Errorf("%s: %s, %s, %v", name, got, file, ok)
		}
	}
}
