package interop_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/interop"
)

// A filter for a Java program, read back as the program would read it.
func Example() {
	set, err := bloomery.Build(context.Background(), slices.Values([]string{"ada", "alan"}),
		bloomery.Config{Spec: "guava(fpr=0.001)"})
	if err != nil {
		panic(err)
	}
	var file bytes.Buffer
	if err := interop.Write(&file, set, interop.Guava); err != nil {
		panic(err)
	}
	fmt.Printf("% x\n", file.Bytes())

	again, err := interop.Read(&file, interop.Guava, 1<<20)
	if err != nil {
		panic(err)
	}
	fmt.Println(again.ContainsString("ada"), again.ContainsString("grace"), again.Info().Spec)
	// Output:
	// 01 0a 00 00 00 03 00 04 00 01 11 04 00 04 44 04 00 04 00 14 00 44 00 44 00 14 00 00 00 04
	// true false guava(k=10,strategy=64,words=3)
}
