package cli

import (
	"fmt"
	"strings"
)

// Short writes a number with three digits and a unit.
func Short(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= 0.9995*u.size { // not 1e+03k
			return fmt.Sprintf("%.3g%s", v/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g", v)
}

// Either joins names: "a, b or c".
func Either(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
