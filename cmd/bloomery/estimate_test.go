package main

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/bloomery/bloomery"
)

// TestEstimateJSON checks that infinite numbers are null.
func TestEstimateJSON(t *testing.T) {
	for want, e := range map[string]bloomery.Estimate{
		`{"keys":null,"low":42,"high":null}`:         {Keys: math.Inf(1), Low: 42, High: math.Inf(1)},
		`{"keys":7,"low":5,"high":9}`:                {Keys: 7, Low: 5, High: 9},
		`{"keys":7,"low":7,"high":7,"counted":true}`: {Keys: 7, Low: 7, High: 7, Counted: true},
		`{"keys":1.5,"low":0,"high":null}`:           {Keys: 1.5, High: math.Inf(1)},
	} {
		if got, err := json.Marshal(estimateJSON(e)); err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}
