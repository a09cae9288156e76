// A program that asks a filter which it has in memory. TestWeightOfAsking holds its size.
package main

import (
	"fmt"
	"os"

	"github.com/bloomery/bloomery"
)

func main() {
	b, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	set, err := bloomery.FromBytes(b)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(set.Contains([]byte(os.Args[2])))
}
