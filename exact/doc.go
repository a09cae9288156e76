// Package exact makes sets that answer without error for every key of a given universe: revoked among all issued
// certificates, blocked among all known domains, bots among all accounts seen. A set takes a little more than the
// entropy of the choice, log2 C(universe, members) bits: 8.6 bits per member if 1% of the universe are members.
//
//	set, err := exact.Build(ctx, slices.Values(revoked), slices.Values(issued), exact.Config{})
//	err = set.Save(ctx, "revoked.exact")
//
//	set, err := exact.Open(ctx, "revoked.exact")
//	isRevoked := set.Contains(serial)
//
// Ask only for keys of the universe. The answer for other keys is meaningless: it is true at the rate Info.OutsideRate
// on average.
//
//   - [Build] makes a [Set] of two lists, the members and the universe; [Builder] takes keys from many goroutines.
//   - [Set.Save] writes a file, [Open] reads it, and [OpenLive] follows it.
//   - To change a set, build with Config.Base, which appends an update to the file.
//   - If the density of members differs between groups of keys, such as the issuers of certificates, a name of a
//     partition with each key makes the set smaller.
//
// The same keys give the same bytes, in any order, on any machine. The [guide] shows all of this with the command.
//
// # How it works
//
// Level 1 is a ribbon filter of the members with r bits of a fingerprint. It is true for all members, and for a share
// of about 2^-r of the other keys. Level 2 is a ribbon without fingerprints that stores one bit for each key for which
// level 1 is true: member or not. With R members in a universe of U keys that is about R·r + R + (U-R)·2^-r bits, and
// the best r is about log2((U-R)/R).
//
// Each partition has its own r. If more than half of its keys are members, it is inverted: level 1 then has the keys
// that are not members. A ribbon over the names of the partitions stores r and inverted; the names are not stored:
//
//	partition ──► class function ──► r, inverted
//	                                    │
//	key ──► hash ──► level 1 for r ──► level 2 ──► member or not, flipped if inverted
//	                 false: it has none
//
// The [format] describes the bytes.
//
// [guide]: https://github.com/bloomery/bloomery/blob/main/docs/guides/exact.md
// [format]: https://github.com/bloomery/bloomery/blob/main/docs/format/exact.md
package exact
