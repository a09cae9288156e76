// A program that only opens a filter and asks it. TestWeightOfAsking holds its size.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/bloomery/bloomery"
)

func main() {
	set, err := bloomery.Open(context.Background(), os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(set.Contains([]byte(os.Args[2])))
}
