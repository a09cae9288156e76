/* The queries of c/bloomery.h as a WebAssembly module, one instance a filter. The families of other systems are not
   among them, because of the module's size.

   The first 64 kB of memory have the stack, constants, and from byte 32768 on the struct below; the sections follow.
   The caller checks a file and writes all this: nothing is checked here. A query takes the number of bytes of the key
   in keys, or GIVEN if its hash is in lo and hi.

   The header is compiled for size; the functions of this file that most queries run, for speed. */

#define BLOOMERY_QUERIES_ONLY
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#include "../../c/bloomery.h"
#pragma clang attribute pop

#define EXPORT(name) __attribute__((export_name(#name)))
#define RARE __attribute__((noinline, minsize))

enum { GIVEN = -1 };

/* What the caller writes. src/wasm/engine.ts has the addresses of the fields and the length of keys. */
struct page {
  /* The seed of XXH3-128, or the two words of the secret of SipHash. */
  uint64_t secret[2];
  /* The hash of a key. */
  uint64_t lo, hi;
  /* The number of the family. */
  uint32_t family;
  /* The hash function: BLOOMERY_XXH3 or BLOOMERY_SIPHASH. With XXH64 all hashes are given. */
  uint32_t function;
  /* The filter: addresses of its sections, then integers of 64 bits, then of 32 bits. */
  union {
    bloomery_standard standard; /* counting too */
    bloomery_blocked blocked;
    bloomery_fuse fuse;
    bloomery_partitioned partitioned;
    bloomery_blockpartitioned blockpartitioned;
    bloomery_twochoice twochoice;
    bloomery_rankindexed rankindexed;
    bloomery_ribbon ribbon;
    uint8_t room[808];
  } filter;
  /* The bytes of a key. The caller hashes longer ones, so that the module has no XXH3-128 of more bytes. */
  uint8_t keys[240];
};
#define page (*(struct page *)32768)

static RARE bloomery_key_hash hash_rare(uint32_t n) {
  bloomery_key_hash h;
  if (n == (uint32_t)GIVEN) {
    h.lo = page.lo;
    h.hi = page.hi;
    return h;
  }
  if (n > sizeof page.keys) __builtin_unreachable();
  if (page.function == BLOOMERY_XXH3) return bloomery_xxh3(page.keys, n, page.secret[0]);
  return bloomery_siphash(page.keys, n, page.secret);
}

/* Returns the hash of the key. XXH3-128 of 17 to 128 bytes is written out, as in bloomery_xxh3. */
static inline bloomery_key_hash hash(uint32_t n) {
  const uint8_t *key = page.keys;
  bloomery_key_hash acc;
  uint64_t seed = page.secret[0];
  if (page.function != BLOOMERY_XXH3 || n - 17 > 111) return hash_rare(n);
  acc.lo = n * BLOOMERY_PRIME64_1;
  acc.hi = 0;
  for (uint32_t i = (n - 1) / 32 + 1; i-- > 0;) {
    bloomery_xxh3_pair(&acc, key + 16 * i, key + n - 16 * (i + 1), 32 * i, seed);
  }
  return bloomery_xxh3_end(acc, n, seed);
}

static RARE bool has_rare(uint64_t lo, uint64_t hi) {
  bloomery_key_hash h = {hi, lo};
  uint64_t value;
  switch (page.family) {
  case BLOOMERY_BLOCKPARTITIONED: return bloomery_blockpartitioned_has(&page.filter.blockpartitioned, h);
  case BLOOMERY_TWOCHOICE: return bloomery_twochoice_has(&page.filter.twochoice, h);
  case BLOOMERY_COUNTING: return bloomery_counting_has(&page.filter.standard, h);
  case BLOOMERY_RIBBON: return bloomery_ribbon_get(&page.filter.ribbon, h, &value);
  }
  return bloomery_rankindexed_get(&page.filter.rankindexed, h, &value);
}

/* Returns 1 if the key may be in the set, else 0. */
EXPORT(has) uint32_t has(uint32_t n) {
  bloomery_key_hash h = hash(n);
  switch (page.family) {
  case BLOOMERY_STANDARD: return bloomery_standard_has(&page.filter.standard, h);
  case BLOOMERY_BLOCKED: return bloomery_blocked_has(&page.filter.blocked, h);
  case BLOOMERY_FUSE: return bloomery_fuse_has(&page.filter.fuse, h);
  case BLOOMERY_PARTITIONED: return bloomery_partitioned_has(&page.filter.partitioned, h);

  }
  return has_rare(h.lo, h.hi);
}

/* Returns how often the key was added, or more: families that count. */
EXPORT(count) RARE double count(uint32_t n) {
  bloomery_key_hash h = hash_rare(n);
  if (page.family == BLOOMERY_COUNTING) return (double)bloomery_counting_count(&page.filter.standard, h);
  return (double)bloomery_rankindexed_count(&page.filter.rankindexed, h);
}

/* Returns the value of the key, at most 2^32-1, or -1 if the key is absent: rankindexed, ribbon. */
EXPORT(get) RARE double get(uint32_t n) {
  bloomery_key_hash h = hash_rare(n);
  uint64_t value;
  if (page.family == BLOOMERY_RIBBON ? bloomery_ribbon_get(&page.filter.ribbon, h, &value)
                                     : bloomery_rankindexed_get(&page.filter.rankindexed, h, &value)) {
    return (double)value;
  }
  return -1;
}
