package stat_test

import (
	"testing"

	"github.com/bloomery/bloomery/internal/stat"
)

func TestPercent(t *testing.T) {
	for rate, want := range map[float64]string{
		0: "0%", 1: "100%", 0.5: "50%", 0.01: "1%", 0.001: "0.1%", 0.00099812: "0.0998%", 1.234e-5: "0.00123%",
		1e-6: "0.0001%", 9.98e-7: "9.98e-07", 1e-9: "1e-09", 5.8775e-39: "5.88e-39",
	} {
		if got := stat.Percent(rate); got != want {
			t.Errorf("%g: %s, want %s", rate, got, want)
		}
	}
}
