package exact_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
)

// must returns v, or panics if err is not nil.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// issued returns 10,000 serial numbers. revoked returns the numbers that end with 07.
func issued() (keys []string) {
	for i := range 10_000 {
		keys = append(keys, fmt.Sprintf("%08d", i))
	}
	return keys
}

func revoked() []string {
	return slices.DeleteFunc(issued(), func(serial string) bool { return !strings.HasSuffix(serial, "07") })
}

// Build a set and query every key of its universe.
func Example() {
	ctx := context.Background()
	set := must(exact.Build(ctx, slices.Values(revoked()), slices.Values(issued()), exact.Config{}))
	wrong := 0
	for _, serial := range issued() {
		if set.Contains([]byte(serial)) != strings.HasSuffix(serial, "07") {
			wrong++
		}
	}
	info := set.Info()
	fmt.Printf("%d members of %d keys, %d wrong answers\n", info.Members, info.Universe, wrong)
	fmt.Println("less than 9 bits per member:", info.BitsPerMember < 9)
	// Output:
	// 100 members of 10000 keys, 0 wrong answers
	// less than 9 bits per member: true
}

// If a list fails, the build returns its error.
func ExampleBuild() {
	list := func(end error, keys ...string) iter.Seq2[string, error] { // keys of a file or a database
		return func(yield func(string, error) bool) {
			for _, key := range keys {
				if !yield(key, nil) {
					return
				}
			}
			if end != nil {
				yield("", end)
			}
		}
	}
	members, universe := list(nil, "b.example"), list(io.ErrUnexpectedEOF, "a.example", "b.example")
	_, err := exact.Build(context.Background(), members, universe, exact.Config{})
	fmt.Println(err)
	// Output: unexpected EOF
}

// Keys in partitions: the same serial number of two issuers is two keys.
func ExampleBuild_partitions() {
	issued := maps.All(map[string]int{"A": 3, "B": 2}) // issuers, and how many serial numbers each has
	numbers := func(from int) iter.Seq2[[]byte, []byte] {
		return func(yield func(issuer, serial []byte) bool) {
			for issuer, n := range issued {
				for i := from; i <= n; i++ {
					if !yield([]byte(issuer), fmt.Append(nil, i)) {
						return
					}
				}
			}
		}
	}
	set := must(exact.Build(context.Background(), numbers(3), numbers(1), exact.Config{})) // all from 3 on are revoked
	fmt.Println(set.Contains([]byte("3"), []byte("A")), set.Contains([]byte("2"), []byte("B")))
	// Output: true false
}

// Many goroutines may feed a Builder. Partitions, if there are some, follow the keys.
func ExampleBuilder() {
	b := must(exact.NewBuilder(exact.Config{Partitioned: true}))
	defer b.Close()
	serials := [][]byte{[]byte("1"), []byte("2"), []byte("1")}
	issuers := [][]byte{[]byte("A"), []byte("A"), []byte("B")}
	if err := errors.Join(b.AddUniverse(serials, issuers...), b.AddMembers(serials[2:], issuers[2:]...)); err != nil {
		log.Fatal(err)
	}
	set := must(b.Build(context.Background()))
	got := make([]bool, 3)
	set.ContainsMany(got, serials, issuers...)
	fmt.Println(got)
	// Output: [false false true]
}

// Append today's changes to yesterday's set. Readers load only what was appended: see package delta.
func ExampleConfig_base() {
	ctx := context.Background()
	yesterday := must(exact.Build(ctx, slices.Values(revoked()), slices.Values(issued()), exact.Config{}))
	members := append(revoked(), "00000001", "00000002")
	today := must(exact.Build(ctx, slices.Values(members), slices.Values(issued()), exact.Config{Base: yesterday}))
	changed := today.Info().Changed
	fmt.Println(changed.Added, "added,", changed.Removed, "removed, less than 50 bytes:", changed.Bytes < 50)
	fmt.Println(yesterday.Contains([]byte("00000001")), today.Contains([]byte("00000001")))
	// Output:
	// 2 added, 0 removed, less than 50 bytes: true
	// false true
}

// Compare a set with the lists that it was built from.
func ExampleVerifier() {
	ctx := context.Background()
	set := must(exact.Build(ctx, slices.Values(revoked()), slices.Values(issued()), exact.Config{}))
	v := set.NewVerifier(exact.Config{Memory: 1 << 30})
	defer v.Close()
	for _, serial := range issued() {
		if err := v.AddUniverse([][]byte{[]byte(serial)}); err != nil {
			log.Fatal(err)
		}
	}
	if err := v.AddMembers([][]byte{[]byte("00000007"), []byte("00000008")}); err != nil {
		log.Fatal(err)
	}
	found := must(v.Commit(ctx))
	fmt.Println(found.Missing, "missing,", found.FalselyPresent, "falsely present")
	// Output: 1 missing, 99 falsely present
}

// Follow a file that is replaced.
func ExampleLive() {
	ctx := context.Background()
	file := filepath.Join(must(os.MkdirTemp("", "")), "revoked.exact")
	defer os.RemoveAll(filepath.Dir(file))
	save := func(members ...string) {
		set := must(exact.Build(ctx, slices.Values(members), slices.Values(issued()), exact.Config{}))
		must(0, set.Save(ctx, file))
	}
	save("00000001")
	live := must(exact.OpenLive(ctx, file))
	defer live.Close()
	before := live.Set().Contains([]byte("00000002"))
	save("00000002")
	fmt.Println(before, live.Reload(ctx), live.Set().Contains([]byte("00000002")))
	// Output: false <nil> true
}

// A keyed hash: the file does not contain the secret.
func ExampleWithSecret() {
	ctx, secret := context.Background(), filter.Secret{1, 2, 3} // from crypto/rand
	c := exact.Config{Secret: &secret}
	set := must(exact.Build(ctx, slices.Values(revoked()), slices.Values(issued()), c))
	var file bytes.Buffer
	must(set.WriteTo(&file))
	_, err := exact.FromBytes(file.Bytes())
	fmt.Println(err)
	set = must(exact.Read(&file, exact.WithSecret(&secret)))
	fmt.Println(set.Contains([]byte("00000007")))
	// Output:
	// check of the secret at byte 15: the filter was built with a secret, and none was given
	// true
}
