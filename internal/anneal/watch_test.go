package anneal

import (
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// TestWatch requires that parts of a pace call the function of Watch, and that without it they call none.
func TestWatch(t *testing.T) {
	calls := 0
	ctx := Watch(t.Context(), func(*State) { calls++ })
	part := NewPace(ctx, nil, filter.Effort{Passes: 3}, time.Time{}, 1, 1).Take(1)
	if part.Each == nil {
		t.Fatal("a part does not have the function")
	}
	if part.Each(nil); calls != 1 {
		t.Errorf("%d calls", calls)
	}
	if NewPace(t.Context(), nil, filter.Effort{Passes: 3}, time.Time{}, 1, 1).Take(1).Each != nil || NewPart(3).Each != nil {
		t.Error("a part that is not watched has a function")
	}
}
