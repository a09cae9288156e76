// Package exact makes sets that answer without error for every key of a given universe: revoked among all issued
// certificates, blocked among all known domains, bots among all accounts seen. A set takes a little more than the
// entropy of the choice, log2 C(universe, members) bits: 8.6 bits per member if 1% of the universe are members.
//
// [Build] makes a [Set] of two lists, the members and the universe; [Builder] takes keys from many goroutines.
// [Set.Save] writes a file, [Open] reads it, [OpenLive] follows it, and [Set.Contains] asks. To change a set, build
// with Config.Base, which appends an update.
//
// # Construction
//
// Level 1 is a ribbon filter of the members with r bits of a fingerprint. It is true for all members, and for a share
// of about 2^-r of the other keys, its false positives. Level 2 is a ribbon without fingerprints that stores one bit
// for each key for which level 1 is true: member or not. With R members in a universe of U keys that is about
//
//	R·r + R + (U-R)·2^-r bits
//
// and the best r is about log2((U-R)/R). Level 2 hashes the hash of a key once more (rehash), because keys that are
// false positives of level 1 are not independent of its hash functions.
//
// # Partitions
//
// Often the density of members differs between groups of keys, such as the issuers of certificates, or days. If each
// key comes with the name of its partition, each partition gets its own r. Partitions in which more than half of the
// keys are members are inverted: level 1 then has the keys that are not members. Partitions without a member, or with
// members only, need no bits besides their class. All partitions with the same r share level 1, and all share level 2,
// so that small partitions cost no more per key than large ones. The class of a partition, r and inverted, is stored in
// a ribbon over the names of the partitions. Names are not stored.
//
//	partition ──► class function ──► r, inverted
//	                                    │
//	key ──► hash ──► level 1 for r ──► level 2 ──► member or not, flipped if inverted
//	                 false: it has none
//
// # Keys outside of the universe
//
// Query only keys of the universe. The answer for other keys is meaningless: it is true at the rate Info.OutsideRate on
// average, about 2^-(r+1), or 1 - 2^-(r+1) in an inverted partition.
//
// # Files
//
// The [format] describes the bytes. The same keys give the same bytes, in any order, on any machine. A file may
// have updates after its base; a key is a member if an odd number of records say so.
//
// [format]: https://github.com/bloomery/bloomery/blob/main/docs/format/exact.md
package exact
