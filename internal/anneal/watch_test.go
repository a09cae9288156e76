package anneal

import "testing"

// TestWatch requires the function of Watch from its context and nil from others. The lab tests that searches call it.
func TestWatch(t *testing.T) {
	calls := 0
	if each := watcher(Watch(t.Context(), func(*State) { calls++ })); each == nil {
		t.Error("the function is lost")
	} else if each(nil); calls != 1 {
		t.Errorf("%d calls", calls)
	}
	if watcher(t.Context()) != nil {
		t.Error("a function without Watch")
	}
}
