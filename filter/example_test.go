package filter_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// Parse a Spec, read its parameters and change one.
func ExampleParseSpec() {
	spec, err := filter.ParseSpec("standard(fpr=0.01, capacity=1000000)")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(spec.Family())
	for _, p := range spec.Params() {
		fmt.Println(p.Name, p.Value)
	}
	rate, given := spec.Param("fpr")
	fmt.Println(rate, given, spec.With("fpr", 0.001))
	// Output:
	// standard
	// capacity 1000000
	// fpr 0.01
	// 0.01 true standard(capacity=1000000,fpr=0.001)
}

// Hash a key once and ask several sets that have the same Hasher.
func ExampleHasher() {
	ctx := context.Background()
	blocked, err := bloomery.Build(ctx, slices.Values([]string{"spam.example", "ads.example"}),
		bloomery.Config{Hashing: bloomery.Hashing{Seed: 7}})
	if err != nil {
		fmt.Println(err)
		return
	}
	trusted, err := bloomery.Build(ctx, slices.Values([]string{"example.org"}),
		bloomery.Config{Hashing: bloomery.Hashing{Seed: 7}})
	if err != nil {
		fmt.Println(err)
		return
	}
	h := blocked.Hasher().SumString("ads.example")
	fmt.Println(blocked.Hasher() == trusted.Hasher(), blocked.ContainsHash(h), trusted.ContainsHash(h))
	// Output: true true false
}

// Without the secret of a keyed hash, nobody can choose keys that look present. A Hasher never shows its secret.
func ExampleNewKeyedHasher() {
	secret := filter.Secret([]byte("sixteen bytes !!")) // filter.NewSecret makes a random one
	hasher := filter.NewKeyedHasher(secret)
	fmt.Println(hasher, secret)

	other := filter.NewKeyedHasher(*filter.NewSecret())
	fmt.Println(hasher.SumString("key") == other.SumString("key"))
	// Output:
	// siphash-128(check=5e035c7104beb979) REDACTED
	// false
}

// Find out which parameter of a configuration is wrong.
func ExampleConfigError() {
	_, err := bloomery.New(bloomery.Config{Spec: "standard(capacity=1000,k=99)"})
	var wrong *filter.ConfigError
	if errors.As(err, &wrong) {
		fmt.Printf("%s is %v: %s\n", wrong.Field, wrong.Value, wrong.Reason)
	}
	fmt.Println(errors.Is(err, filter.ErrConfig))
	// Output:
	// k is 99: want 1 to 64
	// true
}

// Exceeded reports that keys added after the build have raised the false-positive rate above the planned one.
func ExampleInfo_Exceeded() {
	set, err := bloomery.New(bloomery.Config{Spec: "standard(capacity=1000,fpr=0.01)"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for key := range uint64(3000) {
		if err := bloomery.Keyed[uint64](set).Add(key); err != nil {
			fmt.Println(err)
			return
		}
		if i := set.Info(); key%1000 == 999 {
			fmt.Printf("%d keys, %.1f bits per key: %t\n", i.Keys, i.BitsPerKey(), i.Exceeded())
		}
	}
	// Output:
	// 1000 keys, 9.6 bits per key: false
	// 2000 keys, 4.8 bits per key: true
	// 3000 keys, 3.2 bits per key: true
}
