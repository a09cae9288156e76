package steps

import "time"

// Text returns the Format of a KeyFormat of keyio.
func Text(k KeyFormat) Format { return text{k} }

// SetSaveWait sets the time for which Save waits for a lock. reset restores it.
func SetSaveWait(d time.Duration) (reset func()) {
	was := saveWait
	saveWait = d
	return func() { saveWait = was }
}

// ParsePlanOf is ParsePlan with another limit of objects and ranges.
func ParsePlanOf(b []byte, items int) (*Plan, error) {
	defer func(was int) { mostItems = was }(mostItems)
	mostItems = items
	return ParsePlan(b, nil)
}
