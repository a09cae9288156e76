package bloomery_test

import (
	"bytes"
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

// TestSetComeAndGo has keys come, carry values, and go, or be refused by families that cannot.
func TestSetComeAndGo(t *testing.T) {
	key := []byte("key")
	set, err := bloomery.New(100, bloomery.Config{Spec: "rankindexed(value_bits=4)"})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Put(key, 16); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("Put of five bits: %v", err)
	}
	if err := set.Put(key, 7); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("Put of an absent key: %v", err)
	}
	if err := errors.Join(set.AddValue(key, 5), set.Put(key, 7)); err != nil {
		t.Fatal(err)
	}
	trimmed, err := set.Trimmed()
	if err != nil {
		t.Fatal(err)
	}
	var full, sent bytes.Buffer
	if err := errors.Join(set.Write(&full), trimmed.Write(&sent)); err != nil || sent.Len() >= full.Len() {
		t.Errorf("%d bytes, trimmed %d: %v", full.Len(), sent.Len(), err)
	}
	back, err := bloomery.Read(&sent, 1<<20, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*bloomery.Set{set, back} {
		if v, ok, err := s.Get(key); v != 7 || !ok || err != nil {
			t.Errorf("Get: %d, %t, %v", v, ok, err)
		}
		if n, err := s.Count(key); n != 1 || err != nil {
			t.Errorf("Count: %d, %v", n, err)
		}
		if err := s.Remove(key); err != nil || s.Contains(key) {
			t.Errorf("Remove: %v", err)
		}
		if err := s.Remove(key); !errors.Is(err, filter.ErrNotFound) {
			t.Errorf("Remove of nothing: %v", err)
		}
		if _, ok, _ := s.Get(key); ok {
			t.Error("Get of nothing")
		}
	}
	plain, err := bloomery.New(100, bloomery.Config{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, get := plain.Get(key)
	_, count := plain.Count(key)
	_, trim := plain.Trimmed()
	for what, err := range map[string]error{"Put": plain.Put(key, 1), "Get": get, "Count": count, "Remove": plain.Remove(key), "Trimmed": trim} {
		if !errors.Is(err, filter.ErrUnsupported) || !strings.Contains(err.Error(), "family standard does not support ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
