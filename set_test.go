package bloomery_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// uncounted is a filter that must not be read for its name alone.
type uncounted struct{ filter.Filter }

func (uncounted) Info() filter.Info { panic("Info counts all bits") }

func (uncounted) Encode() filter.Encoded {
	return filter.Encoded{Spec: filter.NewSpec("uncounted", "m", 9)}
}

func TestErrorsDoNotCount(t *testing.T) {
	strange := bloomery.NewSet(uncounted{}, filter.NewHasher(0))
	if err := strange.Add([]byte("key")); !errors.Is(err, filter.ErrUnsupported) || !strings.Contains(err.Error(), "family uncounted does not") {
		t.Errorf("Add: %v", err)
	}
	for _, spec := range []string{"standard", "blocked"} {
		set, err := bloomery.New(10, bloomery.Config{Spec: spec})
		if err != nil {
			t.Fatal(err)
		}
		if err := set.Merge(strange); !errors.Is(err, filter.ErrMismatch) || !strings.Contains(err.Error(), "uncounted(m=9)") {
			t.Errorf("%s: Merge: %v", spec, err)
		}
	}
}
