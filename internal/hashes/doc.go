// Package hashes keeps the hashes of keys, 16 bytes each, until a build needs them. Hashes stay in memory up to a
// limit; the others go to a temporary file, which only this user can read. The package has two stores:
//
//   - Sorted takes hashes from many goroutines and returns them in order of Hi and then of Lo, without duplicates unless
//     Config.Copies is set. The result does not depend on the order in which they were added.
//   - ByShard returns the hashes of each shard, in the order in which they were added. With one shard it keeps keys until
//     they are counted.
//
// A Raw keeps the keys themselves until they are counted, for families that take raw keys. A Writer writes the hashes
// of one task of a distributed build by shard to a run file.
//
// # Sorted
//
// The file of a Sorted has sorted runs, which are merged when they are read (external merge sort):
//
//	AddMany ──▶ array of pages ───────────────── sorted in place, compacted ───────────────▶ Each
//	                   └─ when full: sorted, compacted ─▶ file: run │ run │ run ─▶ merged ─▶ Each
//
// Compacting removes duplicates. If it empties at least half of the array, the array is not written, so that duplicates
// do not fill the disk.
//
// # Run file
//
// A run file holds the hashes of one range of the input of a sharded build. One task writes it, and the task of each
// shard reads its own part. It is a working file: it is removed when the set is finished, and no later version has to
// read it. All integers are little endian.
//
//	header   64 bytes: magic "BLMRUN\r\n", version 1, or 2 with values (4), shards (4), plan id (16), range (4), hash
//	         key check (8), 0s
//	groups   the hashes of shard 0, then of shard 1, ..., 16 bytes each: Hi, Lo; with values as WithValue
//	         returns them
//	index    for each group, for each shard: number of hashes (4), CRC-32C of their bytes (4)
//	trailer  16 bytes: number of groups (4), CRC-32C of header, index and number of groups (4), magic "BLMRUNIX"
//
// Every group except the last has GroupKeys hashes. So writing a range of any length needs bounded memory, and the file
// depends only on the keys, their order and the header. Within a shard of a group the hashes are in the order of the
// keys in the input.
//
// # Memory
//
// A Writer holds at most GroupKeys hashes (64 MiB), and 16 bytes and one chunk of at most 4 KiB per shard. A reader of
// one shard holds two buffers of 256 KiB, a reader of the index 8 bytes per group and shard.
//
// # Trust
//
// Readers do not trust a file: the header must be the expected one, the counts must add up to the size of the file
// before memory is allocated for them, and the hashes of a segment are valid only after its checksum was verified.
package hashes
