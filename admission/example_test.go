package admission_test

import (
	"fmt"

	"github.com/bloomery/bloomery/admission"
	"github.com/bloomery/bloomery/filter"
)

// On a miss, a cache asks the Doorkeeper and stores the object if it is admitted. See examples/cdn for a whole cache.
func Example() {
	door, err := admission.New(admission.Config{Keys: 1_000_000}) // a small multiple of the objects in the cache
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, url := range []string{"/logo.svg", "/once.html", "/logo.svg"} {
		fmt.Println(url, "store:", door.AdmitString(url))
	}
	fmt.Printf("%.1f MB, at most %.1f%% stored by mistake\n", float64(door.Bytes())/1e6, 100*door.FPR())
	// Output:
	// /logo.svg store: false
	// /once.html store: false
	// /logo.svg store: true
	// 2.9 MB, at most 1.0% stored by mistake
}

// Requests may come from any number of goroutines. A few first requests are false positives and are admitted.
func ExampleDoorkeeper_Stats() {
	// Without outsiders that choose keys a hash without a secret will do.
	door, err := admission.New(admission.Config{Keys: 10_000, FPR: 0.01, Hasher: filter.NewHasher(1)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for object := range uint64(5000) {
		door.AdmitHash(door.Hasher().SumUint64(object))
	}
	s := door.Stats()
	fmt.Println(s.Requests, "requests,", float64(s.Admitted) <= 0.01*float64(s.Requests), s.Rotations, "rotations")
	fmt.Println(door)
	// Output:
	// 5000 requests, true 0 rotations
	// admission.Doorkeeper(shards=1, bytes=28992, keys=10000)
}
