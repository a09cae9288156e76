package publish

import "testing"

// is returns an event, and whether it is of a kind.
func (e Event) is(k EventKind) (Event, bool) { return e, e.Kind == k }

// must returns an event, which must be of a kind.
func (e Event) must(t *testing.T, k EventKind) Event {
	t.Helper()
	if e.Kind != k {
		t.Fatalf("%s, want %s: %v", e.Kind, k, e)
	}
	return e
}

// set sets the object of a release.
func (r *Release) set(o object) { r.SHA256, r.Bytes = o.SHA256, o.Bytes }
