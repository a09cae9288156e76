package admission_test

import (
	"fmt"

	"github.com/bloomery/bloomery/admission"
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
