// Package filter defines the types that all packages of Bloomery share: the 128-bit Hash of a key and the Hasher that
// computes it, the Spec and the Info of a filter, and the errors.
//
// Most programs need only:
//
//   - the errors, such as [ErrNotFound] and [ErrChecksum], each with what to do;
//   - [Info], which bloomery.Set.Info returns, and [Spec];
//   - [NewSecret], for a keyed hash; [Hasher] and [Hash], to hash a key once and ask many sets.
//
// Symbols follow the literature: n keys, m bits, k probes (hash functions) per key, and the fill f, the share of bits
// that are set. Three false-positive rates have different names:
//
//   - prior p_b ("before"), predicted from n, m and k alone;
//   - posterior p_a ("after"), computed from the bits that are set;
//   - observed p_o, measured with keys that are known to be absent.
//
// # Specs
//
// A Spec names a family and its parameters. Every family takes one of these sizes:
//
//	bits_per_key=   bits of the filter for each key
//	fpr=            the false-positive rate to keep, such as 0.001 or 0.1%
//	bytes=          the size of the whole filter
//
// and these parameters:
//
//	standard                          plain Bloom filter: any size, keys at any time, union
//	    capacity=KEYS                 room for at least this many keys, those added later included
//	    k=1..64                       probes per key
//	    m=BITS                        number of bits, instead of a size
//	blocked                           one cache line per query; keys at any time, union
//	    capacity=KEYS                 room for at least this many keys, those added later included
//	    k=1..32                       probes per key (layout=line)
//	    blocks=N                      number of blocks, instead of a size
//	    layout=line|split             512-bit lines, or the 256-bit split blocks of Parquet
//	fuse                              static and fast to query; whole bits per fingerprint
//	    width=1..32                   bits per fingerprint, instead of a size
//	partitioned                       a search fits the hash functions to the keys: the smallest that takes keys
//	                                  after the build
//	    later=KEYS                    keys that are added after the build; the size counts them
//	    k=1..64                       bits of a key; fewer make a larger filter with smaller deltas
//	    target=RATE                   search until this rate is reached
//	    effort=fast|default|max       how long to search, by name
//	    passes=1..1000000             how long to search, in passes over all keys
//	    budget=TIME                   how long to search, such as 30s; the result then depends on the speed of
//	                                  the machine
//	    table=1                       version of the table that shapes come from, for the same bytes in later
//	                                  versions; default: the newest
//	blockpartitioned                  as partitioned, in one cache line per query
//	    later=KEYS                    keys that are added after the build; the size counts them
//	    k=1..64                       bits of a key; fewer make a larger filter with smaller deltas
//	    block=512|1024                bits per block
//	    effort=fast|default|max       how long to search, by name
//	    passes=1..1000000             how long to search, in passes over all keys
//	    budget=TIME                   how long to search, such as 30s; the result then depends on the speed of
//	                                  the machine
//	    table=1                       version of the table that shapes come from, for the same bytes in later
//	                                  versions; default: the newest
//	twochoice                         keys choose among groups of positions: small at low rates
//	    choices=2..16                 groups of positions a key chooses among
//	    k=1..64                       positions per group
//	    hashing=independent|double    how the positions follow from the hash
//	    search=anneal|greedy          with noise, or as the paper does
//	    effort=fast|default|max       how long to search, by name
//	    passes=1..1000000             how long to search, in passes over all keys
//	    budget=TIME                   how long to search, such as 30s; the result then depends on the speed of
//	                                  the machine
//	    table=1                       version of the table that shapes come from, for the same bytes in later
//	                                  versions; default: the newest
//	rankindexed                       keys come and go, are counted or have values, in few bits
//	    capacity=KEYS                 room for at least this many keys, those added later included
//	    counting=1                    count how often each key was added
//	    value_bits=1..32              bits of the value that each key has
//	    growth=1..24                  how often the filter may double when it is full
//	    bucket=BITS                   bits per bucket; 512 is one cache line
//	    fast=1                        short chains: faster queries for 20% to 50% more bits
//	    overflow=P                    probability of being full before the capacity, 1e-15 to 0.1
//	counting                          counting Bloom filter: keys are removed and counted, and it is never full
//	    capacity=KEYS                 room for at least this many keys, those added later included
//	    k=1..64                       probes per key
//	    m=N                           number of counters of 4 bits, instead of a size
//	ribbon                            static, smallest: 0.3% over the bound with many keys; fractional bits per
//	                                  fingerprint
//	    r=1..32                       bits per fingerprint, instead of a size; 0: values only
//	    w=64|128                      128: smaller and slower, the default for rates above 1/16
//	    value_bits=1..32              bits of a value that is stored with each key
//	    wide=1..1023                  share of the blocks, of 1024, with fingerprints of r+1 bits
//	guava                             filter of Guava (Java)
//	    capacity=KEYS                 room for at least this many keys, those added later included
//	    k=1..255                      probes per key
//	    words=N                       number of 64-bit words, instead of a size
//	    strategy=32|64                MURMUR128_MITZ_32 or MURMUR128_MITZ_64
//	bitsandblooms                     filter of bits-and-blooms (Go)
//	    capacity=KEYS                 room for at least this many keys, those added later included
//	    k=1..255                      probes per key
//	    m=BITS                        number of bits, instead of a size
//	    length=BITS                   length of the bit set, at least m
//	redisbloom                        chain of filters of RedisBloom
//	    capacity=KEYS                 capacity of the first filter of the chain
//	    expansion=N                   growth factor of the chain; 0: no growth
//	spark                             filter of Apache Spark
//	    capacity=KEYS                 room for at least this many keys, those added later included
//	    k=1..255                      probes per key
//	    words=N                       number of 64-bit words, instead of a size
//	    version=1|2                   of the format; Spark reads 2 from 4.1 on
package filter
