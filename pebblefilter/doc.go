// Package pebblefilter connects Bloomery's filters to Pebble v2: a filter policy for the tables of a database.
//
//	p, err := pebblefilter.New("blockpartitioned(bits_per_key=10,effort=fast)")
//	opts := &pebble.Options{}
//	pebblefilter.Use(opts, p)
//	db, err := pebble.Open(dir, opts)
//
// Package tablefilter has the format of a filter block and does the work. Module pebblefilter/next has the policy for
// the interfaces of Pebble's main branch.
package pebblefilter
