package patch

import (
	"fmt"
	"strconv"
)

// Rates of four digits are steps: rate m·10^(e-3), m from 1000 to 9999, is step 9000·(e + lowest) + m - 999. Step 0
// is the rate 0. Close rates have close steps.
const (
	stepsPerDecade = 9000
	lowest         = 400
)

// stepOf returns the step of a rate in [0, 1], rounded to four digits.
func stepOf(rate float64) int64 {
	if rate == 0 {
		return 0
	}
	text := strconv.FormatFloat(rate, 'e', 3, 64) // d.ddde-xx
	m, _ := strconv.ParseInt(text[:1]+text[2:5], 10, 64)
	e, _ := strconv.ParseInt(text[6:], 10, 64)
	return stepsPerDecade*(e+lowest) + m - 999
}

// rateOf returns the rate of a step, or -1, which no manifest takes, if there is none.
func rateOf(step int64) float64 {
	switch {
	case step == 0:
		return 0
	case step < 0 || step > stepsPerDecade*(lowest+1):
		return -1
	}
	m, e := (step-1)%stepsPerDecade+1000, (step-1)/stepsPerDecade-lowest
	rate, err := strconv.ParseFloat(fmt.Sprintf("%de%d", m, e-3), 64)
	if err != nil {
		return -1
	}
	return rate
}
