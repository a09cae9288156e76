package container

import (
	"errors"
	"fmt"
	"os"
	"testing"
)

// TestFaultUnmapped checks that Fault passes a panic on if nothing is mapped, also when the Set whose goroutine
// panicked was replaced or closed meanwhile.
func TestFaultUnmapped(t *testing.T) {
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	closed := &Mapping{file: file}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}

	for name, m := range map[string]*Mapping{"nil": nil, "closed": closed} {
		if err := m.Fault(nil); err != nil {
			t.Errorf("%s: no panic: %v", name, err)
		}
		for _, p := range []any{errors.New("other"), outOfRange()} {
			got := func() (got any) {
				defer func() { got = recover() }()
				return fmt.Sprint("returned ", m.Fault(p))
			}()
			if got != p {
				t.Errorf("%s: %v, want the panic %v", name, got, p)
			}
		}
	}
}

// outOfRange returns the runtime.Error of an index out of range.
func outOfRange() (p any) {
	defer func() { p = recover() }()
	var empty []byte
	return empty[len(empty)]
}
