package bloomery_test

import (
	"fmt"
	"slices"

	"github.com/bloomery/bloomery"
)

func Example() {
	blocklist := []string{"mailinator.com", "0-mail.com", "yopmail.com"}
	set, err := bloomery.BuildStrings(slices.Values(blocklist), bloomery.Config{Spec: "standard(fpr=0.001)"})
	if err != nil {
		panic(err)
	}
	fmt.Println(set.ContainsString("yopmail.com"), set.ContainsString("example.org"))
	fmt.Println(set.Info().Spec, set.Info().Bits, "bits")
	// Output:
	// true false
	// standard(k=10,m=44) 44 bits
}
