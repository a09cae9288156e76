/* The builds of src/build as a WebAssembly module: hashes of keys, bits of Bloom filters, and the equations of fuse and
   ribbon. src/build is the specification: the results are the same, bit by bit.

   The first 64 kB of memory have the stack, constants, the state below, and from byte 32768 on the struct below. The
   arrays of a build follow; the caller makes room for them and passes their addresses. A call takes as many keys as the
   caller says, so that it can give the thread free. Words and keys are aligned; numbers of slots are below 2^32. */

#define BLOOMERY_QUERIES_ONLY
#include "../../c/bloomery.h"

#define EXPORT(name) __attribute__((export_name(#name)))

/* A hash, or in ribbon one whose hi is multiplied by the factor of a layer. */
typedef struct {
  uint64_t lo, hi;
} key_hash;

/* What the caller writes: keys one after the other. src/wasm/builder.ts has the addresses and lengths. */
struct page {
  uint64_t seed;        /* of XXH3-128 */
  uint8_t lengths[512]; /* of keys in bytes: at most 128 */
  uint8_t text[24576];
};
#define page (*(struct page *)32768)

/* Returns ⌊x·m / 2^64⌋. */
static inline uint32_t scale(uint64_t x, uint64_t m) { return ((x >> 32) * m + ((x & 0xFFFFFFFFu) * m >> 32)) >> 32; }

/* ---- Keys ---- */

/* Writes XXH3-128 of the first keys of page. */
EXPORT(hash) void hash(uint32_t keys, key_hash *to) {
  const uint8_t *key = page.text;
  uint64_t seed = page.seed;
  for (uint32_t k = 0; k < keys; k++) {
    uint32_t n = page.lengths[k];
    bloomery_key_hash h = {0, n * BLOOMERY_PRIME64_1};
    if (n <= 16) {
      h = bloomery_xxh3_short(key, n, seed);
    } else {
      for (uint32_t i = (n - 1) / 32 + 1; i-- > 0;) {
        bloomery_xxh3_pair(&h, key + 16 * i, key + n - 16 * (i + 1), 32 * i, seed);
      }
      h = bloomery_xxh3_end(h, n, seed);
    }
    to[k] = (key_hash){h.lo, h.hi};
    key += n;
  }
}

/* ---- Bloom filters ---- */

EXPORT(standard) void standard(const key_hash *k, const key_hash *end, uint32_t *words, uint32_t m, uint32_t probes) {
  for (; k < end; k++) {
    uint64_t x = k->lo;
    for (uint32_t left = probes;;) {
      uint32_t at = scale(x, m);
      words[at / 32] |= 1u << (at & 31);
      if (!--left) break;
      x = bloomery_next(x, k->hi);
    }
  }
}

EXPORT(blocked)
void blocked(const key_hash *k, const key_hash *end, uint64_t *words, uint32_t blocks, uint32_t probes) {
  for (; k < end; k++) {
    uint64_t *line = words + 8 * scale(k->hi, blocks), x = k->lo;
    for (uint32_t probe = 0; probe < probes;) {
      line[x >> 61] |= (uint64_t)1 << (x & 63);
      x = bloomery_rotate(x, 9);
      if (++probe % 7 == 0) x = bloomery_remix(k->lo, probe / 7);
    }
  }
}

#include "fuse.h"
#include "sort.h"
#include "ribbon.h"

/* The stack takes 8192 bytes and constants 192: what remains below the page must hold the state. */
_Static_assert(sizeof counts + sizeof behind + sizeof layer + sizeof system < 32768 - 8192 - 512, "state in the page");
