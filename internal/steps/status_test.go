package steps_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/shard"
)

// TestStatusOfInterruptedFinish: a Finish was killed after it wrote the manifest and before it noted that. Status does
// not take that manifest for a change of somebody else, and Finish goes on.
func TestStatusOfInterruptedFinish(t *testing.T) {
	out := memoryOf()
	p := builtPlan(t, "one", out, 0, 1, 2)
	finished := &memory{objects: maps.Clone(out.objects)}
	if _, err := p.Finish(t.Context(), finished, steps.Options{}); err != nil {
		t.Fatal(err)
	}
	for name, content := range finished.objects { // the shards are installed, and the work is still there
		if name == shard.ManifestName || strings.HasSuffix(name, ".bloom") {
			out.objects[name] = content
		}
	}
	st, err := p.Status(t.Context(), out)
	if err != nil || st.SetChanged || len(st.MissingShards) > 0 {
		t.Errorf("%+v, %v", st, err)
	}
	changed := &memory{objects: maps.Clone(out.objects)}
	changed.objects[shard.ManifestName] += " "
	if st, err := p.Status(t.Context(), changed); err != nil || !st.SetChanged {
		t.Errorf("with another manifest: %+v, %v", st, err)
	}
	if _, err := p.Finish(t.Context(), out, steps.Options{}); err != nil {
		t.Error(err)
	}
	if !maps.Equal(out.objects, finished.objects) {
		t.Errorf("%s, want %s", out, finished)
	}
}
