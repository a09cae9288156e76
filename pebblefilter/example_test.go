package pebblefilter_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/bloomery/bloomery/pebblefilter"
)

// Open a database whose tables have filters of Bloomery: a Get of an absent key seldom reads a table.
func Example() {
	p, err := pebblefilter.New("blockpartitioned(bits_per_key=10,effort=fast)")
	if err != nil {
		log.Fatal(err)
	}
	opts := &pebble.Options{FS: vfs.NewMem(), Logger: quiet{}} // without FS, the files are in the folder "db"
	pebblefilter.Use(opts, p)
	db, err := pebble.Open("db", opts)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	for i := range 1000 {
		if err := db.Set(fmt.Appendf(nil, "user %03d", i), []byte("active"), pebble.NoSync); err != nil {
			log.Fatal(err)
		}
	}
	if err := db.Flush(); err != nil { // writes a table with its filter
		log.Fatal(err)
	}

	for i := range 1000 {
		if _, _, err := db.Get(fmt.Appendf(nil, "user %03d?", i)); !errors.Is(err, pebble.ErrNotFound) {
			log.Fatal(err)
		}
	}
	skipped := db.Metrics().Filter.Hits // queries that a filter answered without a read of the table
	fmt.Println(p.Name())
	fmt.Println(skipped > 900)
	// Output:
	// bloomery.blockpartitioned(bits_per_key=10,effort=fast)
	// true
}

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(string, ...any) {}
