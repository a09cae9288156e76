package exact_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/bloomery/bloomery/exact"
)

func Example() {
	var issued, revoked [][]byte
	for i := range 10_000 {
		serial := fmt.Appendf(nil, "%08x", i)
		if issued = append(issued, serial); i%100 == 7 {
			revoked = append(revoked, serial)
		}
	}
	set, err := exact.Build(context.Background(), slices.Values(revoked), slices.Values(issued), exact.Config{})
	if err != nil {
		log.Fatal(err)
	}
	wrong := 0
	for i, serial := range issued {
		if set.Contains(serial) != (i%100 == 7) {
			wrong++
		}
	}
	info := set.Info()
	fmt.Printf("%d members of %d keys, %d wrong answers\n", info.Members, info.Universe, wrong)
	fmt.Println("less than 9 bits a member:", info.BitsPerMember() < 9)
	// Output:
	// 100 members of 10000 keys, 0 wrong answers
	// less than 9 bits a member: true
}

func ExampleBuildPartitioned() {
	// Pairs of an issuer and a serial number. The same serial number of two issuers is two keys.
	type pairs = func(yield func(issuer, serial []byte) bool)
	list := func(of ...string) pairs {
		return func(yield func(issuer, serial []byte) bool) {
			for i := 0; i < len(of) && yield([]byte(of[i]), []byte(of[i+1])); i += 2 {
			}
		}
	}
	issued := list("A", "1", "A", "2", "A", "3", "B", "1", "B", "2")
	revoked := list("A", "2", "B", "1", "B", "2")
	set, err := exact.BuildPartitioned(context.Background(), revoked, issued, exact.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(set.ContainsIn([]byte("A"), []byte("1")), set.ContainsIn([]byte("B"), []byte("1")))
	// Output:
	// false true
}
