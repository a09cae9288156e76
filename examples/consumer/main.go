// Command consumer is a small program outside of Bloomery's module, as a user would write it. It builds a set of
// domains and reports which of its arguments may be in the set.
//
//	go -C examples run ./consumer yopmail.com example.org
//
// Its tests call every name of the public API from outside, check its behavior, and limit the number of packages of
// other modules that the API imports.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/bloomery/bloomery"
)

func main() {
	blocklist := []string{"mailinator.com", "0-mail.com", "yopmail.com"}
	config := bloomery.Config{Spec: "standard(fpr=0.001)"}
	set, err := bloomery.Build(context.Background(), slices.Values(blocklist), config)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, domain := range os.Args[1:] {
		fmt.Println(domain, set.ContainsString(domain))
	}
}
