package main

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlanKeys checks that shard plan takes an approximate --keys only without --spec, where nothing would use it.
func TestPlanKeys(t *testing.T) {
	keys, out := filepath.Join(t.TempDir(), "keys"), filepath.Join(t.TempDir(), "set")
	mustWrite(t, keys, trialKeys("key", 100))
	args := []string{"shard", "plan", "-o", out, "--shards", "2", "--keys", "90", keys}
	mustRun(t, "", args...)
	mustRun(t, "", "shard", "range", out, "--all")
	mustRun(t, "", "shard", "build", out, "--all")

	var stderr bytes.Buffer
	code := run(t.Context(), append(args, "--spec", "ribbon"), strings.NewReader(""), io.Discard, &stderr)
	if text := stderr.String(); code != exitError || !strings.Contains(text, "--spec") || !strings.Contains(text, "--keys") {
		t.Errorf("with --spec: exit code %d, %s", code, text)
	}
}
