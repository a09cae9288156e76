package steps

import "time"

// Text returns the Format of a KeyFormat of keyio.
func Text(k KeyFormat) Format { return text{k} }

// SetSaveWait sets the time for which Save waits for a lock, until reset.
func SetSaveWait(d time.Duration) (reset func()) {
	was := saveWait
	saveWait = d
	return func() { saveWait = was }
}

// ParsePlanOf is ParsePlan with other limits of objects and ranges.
func ParsePlanOf(b []byte, objects, ranges int) (*Plan, error) {
	return parsePlan(b, nil, objects, ranges)
}
