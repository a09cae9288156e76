package plan_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
)

// The smallest filters for a million keys that are added and removed.
func ExampleFor() {
	needs := plan.Needs{Keys: 1_000_000, FPR: 0.01, Remove: true, Unpatented: true}
	p, err := plan.For(context.Background(), needs)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range p.Choices[:2] {
		fmt.Printf("%s: %.1f bits per key\n", c.Spec, c.BitsPerKey)
	}
	// Output:
	// rankindexed(bucket=16384,fpr=0.01): 8.8 bits per key
	// rankindexed(fpr=0.01): 9.3 bits per key
}

// A list that grows keeps its family with the objective Lasting.
func ExampleFor_lasting() {
	for _, keys := range []uint64{1000, 1_000_000} {
		p, err := plan.For(context.Background(), plan.Needs{Keys: keys, FPR: 0.01, For: plan.Lasting})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(p.Choices[0].Spec)
	}
	// Output:
	// ribbon(fpr=0.01)
	// ribbon(fpr=0.01)
}

// If no filter is so small, the error gives the reason and names the nearest filters.
func ExampleImpossible() {
	_, err := plan.For(context.Background(), plan.Needs{Keys: 1_000_000, FPR: 0.001, BitsPerKey: 8})
	var impossible *plan.Impossible
	if errors.As(err, &impossible) {
		nearest := impossible.Nearest[0]
		fmt.Println(impossible.What)
		fmt.Println(nearest.Instead+":", nearest.Spec)
	}
	// Output:
	// no filter keeps a rate of 0.1% in less than log2(1/ε) = 9.97 bits per key, and 8 are allowed
	// without the limit of size: ribbon(fpr=0.001,w=128)
}

// The size and the rate of a filter, before it is built.
func ExampleForecast() {
	spec, err := filter.ParseSpec("standard(bits_per_key=10)")
	if err != nil {
		fmt.Println(err)
		return
	}
	row := plan.Forecast(spec, 1_000_000)
	fmt.Printf("%d bytes, %.2f%% of absent keys\n", row.Bits/8, 100*row.FPRPrior)
	// Output: 1250000 bytes, 0.82% of absent keys
}
