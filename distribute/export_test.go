package distribute

// Text returns the Format of a KeyFormat of keyio.
func Text(k KeyFormat) Format { return text{k} }

// ParsePlanOf is ParsePlan with other limits of objects and ranges.
func ParsePlanOf(b []byte, objects, ranges int) (*Plan, error) {
	return parsePlan(b, nil, objects, ranges)
}
