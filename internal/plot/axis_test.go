package plot

import "testing"

// TestLogTicks counts the labels of short and long axes: 3 to 13 are enough to read values and do not overlap.
func TestLogTicks(t *testing.T) {
	for _, axis := range [][2]float64{{0.0125, 0.022}, {0.0081, 0.026}, {0.0091, 0.046}, {0.007, 0.022}, {0.01, 0.1},
		{0.2, 30}, {1, 1e4}, {1, 1e7}, {2e-9, 1}, {1e-30, 1}} {
		labels := 0
		for _, tick := range logTicks(axis[0], axis[1]) {
			if tick.Value < axis[0]*(1-1e-6) || tick.Value > axis[1]*(1+1e-6) {
				t.Errorf("%g: a mark at %g", axis, tick.Value)
			}
			if tick.Label != "" {
				labels++
			}
		}
		if labels < 3 || labels > 13 {
			t.Errorf("%g: %d labels", axis, labels)
		}
	}
}
