// Package filter defines what all packages of Bloomery share: the errors to test for, the [Spec] that names a filter,
// the
// [Info] that describes one, and the hash functions of keys.
//
// Most programs need only:
//
//   - the errors, such as [ErrNotFound] and [ErrChecksum], each with what to do: test for them with errors.Is;
//   - [Info], which bloomery.Set.Info returns: the number of keys, the size and the false-positive rates;
//   - [NewSecret], for a keyed hash; [Hasher] and [Hash], to hash a key once and ask many sets.
//
// # Specs
//
// A Spec is a text that names a family and its parameters, such as ribbon, blocked(fpr=0.001) or
// standard(bits_per_key=10,k=7). Every family takes one of these sizes:
//
//	bits_per_key=   bits of the filter for each key
//	fpr=            the false-positive rate to keep, such as 0.001 or 0.1%
//	bytes=          the size of the whole filter
//
// The page on [specs] lists the other parameters, and another page [compares] the families:
//
//	standard          plain Bloom filter: any size, keys at any time, union
//	blocked           one cache line per query; keys at any time, union
//	fuse              static and fast to query; whole bits per fingerprint
//	partitioned       a search fits the hash functions to the keys: the smallest that takes keys
//	                  after the build
//	blockpartitioned  as partitioned, in one cache line per query
//	twochoice         keys choose among groups of positions: small at low rates
//	rankindexed       keys come and go, are counted or have values, in few bits
//	counting          counting Bloom filter: keys are removed and counted, and it is never full
//	ribbon            static, smallest: 0.3% over the bound at a rate of 0.1%, 1.5% at 1%
//	guava             filter of Guava (Java)
//	bitsandblooms     filter of bits-and-blooms (Go)
//	redisbloom        chain of filters of RedisBloom
//	spark             filter of Apache Spark
//	dcso              filter of DCSO's bloom (Go)
//
// # Rates
//
// Symbols follow the literature: n keys, m bits, k probes (hash functions) per key, and the fill f, the share of bits
// that are set. Three false-positive rates have different names:
//
//   - prior p_b ("before"), predicted from n, m and k alone;
//   - posterior p_a ("after"), computed from the bits that are set;
//   - observed p_o, measured with keys that are known to be absent.
//
// [specs]: https://github.com/bloomery/bloomery/blob/main/docs/reference/specs.md#parameters-of-a-family
// [compares]: https://github.com/bloomery/bloomery/blob/main/docs/families/README.md
package filter
