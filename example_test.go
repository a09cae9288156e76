package bloomery_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/bloomery/bloomery"
)

func Example() {
	blocklist := []string{"mailinator.com", "0-mail.com", "yopmail.com"}
	set, err := bloomery.Build(context.Background(), slices.Values(blocklist), bloomery.Config{Spec: "standard(fpr=0.001)"})
	if err != nil {
		panic(err)
	}
	fmt.Println(set.ContainsString("yopmail.com"), set.ContainsString("example.org"))
	fmt.Println(set.Info().Spec, set.Info().Bits, "bits")
	// Output:
	// true false
	// standard(k=10,m=44) 44 bits
}

// Keys that come and go, in a filter that counts them.
func ExampleSet_Remove() {
	set, err := bloomery.New(bloomery.Config{Keys: 1000, Spec: "rankindexed(counting=1)"})
	if err != nil {
		panic(err)
	}
	key := []byte("session 17")
	for range 2 {
		if err := set.Add(key); err != nil {
			panic(err)
		}
	}
	if err := set.Remove(key); err != nil { // only what was added
		panic(err)
	}
	n, _, err := set.Count(key)
	fmt.Println(n, err, set.Contains(key))
	// Output:
	// 1 <nil> true
}

// A small value with each key.
func ExampleSet_AddValue() {
	set, err := bloomery.New(bloomery.Config{Keys: 1000, Spec: "rankindexed(fpr=0.001,value_bits=4)"})
	if err != nil {
		panic(err)
	}
	if err := set.AddValue([]byte("192.0.2.7"), 3); err != nil {
		panic(err)
	}
	fmt.Println(set.Get([]byte("192.0.2.7")))
	fmt.Println(set.Get([]byte("192.0.2.8")))
	// Output:
	// 3 true <nil>
	// 0 false <nil>
}
