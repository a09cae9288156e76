package publish

import "time"

// horizons are the ages that a reader may have skipped: of each, a version stays as long as it is the newest so old.
var horizons = []time.Duration{7 * 24 * time.Hour, 30 * 24 * time.Hour}

// retain returns the releases to keep: the newest n, and for each horizon the newest one that is at least so old, and
// the oldest one that is younger, which is going to replace it. older is in descending order. With n = 0 it keeps none.
func retain(older History, n int, now time.Time) History {
	if n == 0 {
		return nil
	}
	keep := make([]bool, len(older))
	for i := range min(n, len(older)) {
		keep[i] = true
	}
	for _, age := range horizons {
		for i := range older {
			if now.Sub(older[i].Published) >= age {
				keep[i] = true
				if i > 0 {
					keep[i-1] = true
				}
				break
			}
			if i == len(older)-1 { // all are younger
				keep[i] = true
			}
		}
	}
	var kept History
	for i, s := range older {
		if keep[i] {
			kept = append(kept, s)
		}
	}
	return kept
}
