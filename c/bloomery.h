/* bloomery.h: a reader of Bloomery filter files in one header. C11 and C++11; no dependency, no allocation. */

#ifndef BLOOMERY_H
#define BLOOMERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Numbers: loads of little-endian words at any address, rotations, products of 128 bits ---- */

#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BLOOMERY_COPY_LOADS 1
#define BLOOMERY_FROM_LITTLE32(v) (v)
#define BLOOMERY_FROM_LITTLE64(v) (v)
#elif defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BLOOMERY_COPY_LOADS 1
#define BLOOMERY_FROM_LITTLE32(v) __builtin_bswap32(v)
#define BLOOMERY_FROM_LITTLE64(v) __builtin_bswap64(v)
#endif

/* Returns the little-endian number in the 4 bytes at p, which may have any alignment. */
static inline uint32_t bloomery_load32(const uint8_t *p) {
#ifdef BLOOMERY_COPY_LOADS
  uint32_t v;
  __builtin_memcpy(&v, p, sizeof v);
  return BLOOMERY_FROM_LITTLE32(v);
#else
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
#endif
}

/* Returns the little-endian number in the 8 bytes at p, which may have any alignment. */
static inline uint64_t bloomery_load64(const uint8_t *p) {
#ifdef BLOOMERY_COPY_LOADS
  uint64_t v;
  __builtin_memcpy(&v, p, sizeof v);
  return BLOOMERY_FROM_LITTLE64(v);
#else
  return (uint64_t)bloomery_load32(p) | (uint64_t)bloomery_load32(p + 4) << 32;
#endif
}

/* Returns v with its 4 bytes in reverse order. */
static inline uint32_t bloomery_swap32(uint32_t v) {
  v = (v & 0x00FF00FFu) << 8 | (v >> 8 & 0x00FF00FFu);
  return v << 16 | v >> 16;
}

/* Returns v with its 8 bytes in reverse order. */
static inline uint64_t bloomery_swap64(uint64_t v) {
  return (uint64_t)bloomery_swap32((uint32_t)v) << 32 | bloomery_swap32((uint32_t)(v >> 32));
}

/* Returns v rotated left by n bits, n from 1 to 63. */
static inline uint64_t bloomery_rotate(uint64_t v, unsigned n) { return v << n | v >> (64 - n); }

/* Returns the low half of a·b and sets *high to the high half. */
static inline uint64_t bloomery_multiply(uint64_t a, uint64_t b, uint64_t *high) {
#if defined(__SIZEOF_INT128__) && !defined(__wasm__) && !defined(BLOOMERY_NO_INT128)
  __extension__ typedef unsigned __int128 wide;
  wide p = (wide)a * b;
  *high = (uint64_t)(p >> 64);
  return (uint64_t)p;
#else
  uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  uint64_t low = a0 * b0, mid = a1 * b0 + (low >> 32), mid2 = a0 * b1 + (uint32_t)mid;
  *high = a1 * b1 + (mid >> 32) + (mid2 >> 32);
  return mid2 << 32 | (uint32_t)low;
#endif
}

/* Returns the exclusive or of the two halves of a·b. */
static inline uint64_t bloomery_fold(uint64_t a, uint64_t b) {
  uint64_t high, low = bloomery_multiply(a, b, &high);
  return high ^ low;
}

/* Returns ⌊x·m / 2^64⌋, which is below m. */
static inline uint64_t bloomery_scale(uint64_t x, uint64_t m) {
#if defined(__SIZEOF_INT128__) && !defined(__wasm__) && !defined(BLOOMERY_NO_INT128)
  uint64_t high;
  bloomery_multiply(x, m, &high);
  return high;
#else
  uint64_t high;
  if (m >> 32 == 0) return ((x >> 32) * m + ((x & 0xFFFFFFFFu) * m >> 32)) >> 32;
  bloomery_multiply(x, m, &high);
  return high;
#endif
}

/* Returns 64 further bits that follow from lo; round is 1 or more. */
static inline uint64_t bloomery_remix(uint64_t lo, uint64_t round) {
  uint64_t x = bloomery_fold(lo + round * 0x9E3779B97F4A7C15u, 0x6A09E667F3BCC909u);
  return bloomery_fold(x, 0x9E3779B97F4A7C15u);
}

/* Returns bit i of p in bit 0; bits above it are undefined. */
static inline unsigned bloomery_bit(const uint8_t *p, uint64_t i) { return (unsigned)p[(size_t)(i >> 3)] >> (i & 7); }

/* Returns a word whose lowest 57 bits are bits [i, i+57) of p. Reads the 8 bytes from byte ⌊i/8⌋ on. */
static inline uint64_t bloomery_load57(const uint8_t *p, uint64_t i) {
  return bloomery_load64(p + (size_t)(i >> 3)) >> (i & 7);
}

/* ---- Hash of keys: XXH3-128 ---- */

/* The 128-bit hash of a key. */
typedef struct {
  uint64_t hi, lo;
} bloomery_key_hash;

#define BLOOMERY_PRIME32_1 0x9E3779B1u
#define BLOOMERY_PRIME32_2 0x85EBCA77u
#define BLOOMERY_PRIME32_3 0xC2B2AE3Du
#define BLOOMERY_PRIME64_1 0x9E3779B185EBCA87u
#define BLOOMERY_PRIME64_2 0xC2B2AE3D27D4EB4Fu
#define BLOOMERY_PRIME64_3 0x165667B19E3779F9u
#define BLOOMERY_PRIME64_4 0x85EBCA77C2B2AE63u
#define BLOOMERY_PRIME64_5 0x27D4EB2F165667C5u

/* The default secret of XXH3. */
static const uint8_t bloomery_xxh3_secret[192] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde, 0xd4,
    0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e,
    0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21, 0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43,
    0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb,
    0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19,
    0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8, 0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7,
    0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78,
    0x73, 0x64, 0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16,
    0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f,
    0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

/* Returns the 8 bytes of the default secret from byte at on, as a number. */
static inline uint64_t bloomery_secret64(size_t at) { return bloomery_load64(bloomery_xxh3_secret + at); }

static inline uint64_t bloomery_xxh64_mix(uint64_t h) {
  h = (h ^ h >> 33) * BLOOMERY_PRIME64_2;
  h = (h ^ h >> 29) * BLOOMERY_PRIME64_3;
  return h ^ h >> 32;
}

static inline uint64_t bloomery_xxh3_mix(uint64_t h) {
  h = (h ^ h >> 37) * 0x165667919E3779F9u;
  return h ^ h >> 32;
}

/* Mixes the 16 bytes at a and the 16 bytes at b with the 32 bytes of the default secret from byte at on. */
static inline void bloomery_xxh3_pair(bloomery_key_hash *acc, const uint8_t *a, const uint8_t *b, size_t at,
                                      uint64_t seed) {
  uint64_t a0 = bloomery_load64(a), a1 = bloomery_load64(a + 8);
  uint64_t b0 = bloomery_load64(b), b1 = bloomery_load64(b + 8);
  acc->lo += bloomery_fold(a0 ^ (bloomery_secret64(at) + seed), a1 ^ (bloomery_secret64(at + 8) - seed));
  acc->lo ^= b0 + b1;
  acc->hi += bloomery_fold(b0 ^ (bloomery_secret64(at + 16) + seed), b1 ^ (bloomery_secret64(at + 24) - seed));
  acc->hi ^= a0 + a1;
}

/* The last step for keys of 17 to 240 bytes. */
static inline bloomery_key_hash bloomery_xxh3_end(bloomery_key_hash acc, size_t length, uint64_t seed) {
  bloomery_key_hash h;
  h.lo = bloomery_xxh3_mix(acc.lo + acc.hi);
  h.hi = 0 - bloomery_xxh3_mix(acc.lo * BLOOMERY_PRIME64_1 + acc.hi * BLOOMERY_PRIME64_4 +
                               ((uint64_t)length - seed) * BLOOMERY_PRIME64_2);
  return h;
}

/* XXH3-128 for keys of 0 to 16 bytes. */
static inline bloomery_key_hash bloomery_xxh3_short(const uint8_t *key, size_t length, uint64_t seed) {
  bloomery_key_hash h;
  uint64_t n = length;
  if (length > 8) {
    uint64_t a = bloomery_load64(key), b = bloomery_load64(key + length - 8);
    uint64_t lo = bloomery_multiply(a ^ b ^ ((bloomery_secret64(32) ^ bloomery_secret64(40)) - seed),
                                    BLOOMERY_PRIME64_1, &h.hi);
    lo += (n - 1) << 54;
    b ^= (bloomery_secret64(48) ^ bloomery_secret64(56)) + seed;
    h.hi += b + (b & 0xFFFFFFFFu) * (BLOOMERY_PRIME32_2 - 1);
    b = h.hi * BLOOMERY_PRIME64_2;
    h.lo = bloomery_xxh3_mix(bloomery_multiply(lo ^ bloomery_swap64(h.hi), BLOOMERY_PRIME64_2, &h.hi));
    h.hi = bloomery_xxh3_mix(h.hi + b);
    return h;
  }
  if (length > 3) {
    uint64_t x = bloomery_load32(key) | (uint64_t)bloomery_load32(key + length - 4) << 32;
    seed ^= (uint64_t)bloomery_swap32((uint32_t)seed) << 32;
    x ^= (bloomery_secret64(16) ^ bloomery_secret64(24)) + seed;
    h.lo = bloomery_multiply(x, BLOOMERY_PRIME64_1 + (n << 2), &h.hi);
    h.hi += h.lo << 1;
    h.lo ^= h.hi >> 3;
    h.lo = (h.lo ^ h.lo >> 35) * 0x9FB21C651E98DF25u;
    h.lo ^= h.lo >> 28;
    h.hi = bloomery_xxh3_mix(h.hi);
    return h;
  }
  if (length > 0) {
    uint32_t c = (uint32_t)key[0] << 16 | (uint32_t)key[length >> 1] << 24 | key[length - 1] | (uint32_t)n << 8;
    uint32_t d = bloomery_swap32(c);
    d = d << 13 | d >> 19;
    h.lo = c ^ ((bloomery_load32(bloomery_xxh3_secret) ^ bloomery_load32(bloomery_xxh3_secret + 4)) + seed);
    h.hi = d ^ ((bloomery_load32(bloomery_xxh3_secret + 8) ^ bloomery_load32(bloomery_xxh3_secret + 12)) - seed);
  } else {
    h.lo = seed ^ bloomery_secret64(64) ^ bloomery_secret64(72);
    h.hi = seed ^ bloomery_secret64(80) ^ bloomery_secret64(88);
  }
  h.lo = bloomery_xxh64_mix(h.lo);
  h.hi = bloomery_xxh64_mix(h.hi);
  return h;
}

/* Adds a stripe of 64 bytes to the accumulators; secret has 64 bytes. */
static inline void bloomery_xxh3_stripe(uint64_t acc[8], const uint8_t *stripe, const uint8_t *secret) {
  for (size_t i = 0; i < 8; i++) {
    uint64_t v = bloomery_load64(stripe + 8 * i), x = v ^ bloomery_load64(secret + 8 * i);
    acc[i ^ 1] += v;
    acc[i] += (x & 0xFFFFFFFFu) * (x >> 32);
  }
}

/* Folds the accumulators with 64 bytes of the secret. */
static inline uint64_t bloomery_xxh3_merge(const uint64_t acc[8], const uint8_t *secret, uint64_t start) {
  for (size_t i = 0; i < 8; i += 2) {
    start += bloomery_fold(acc[i] ^ bloomery_load64(secret + 8 * i), acc[i + 1] ^ bloomery_load64(secret + 8 * i + 8));
  }
  return bloomery_xxh3_mix(start);
}

/* XXH3-128 for keys of more than 240 bytes. */
static inline bloomery_key_hash bloomery_xxh3_long(const uint8_t *key, size_t length, uint64_t seed) {
  uint64_t acc[8];
  uint8_t secret[192]; /* the default secret, its words plus or minus the seed in turn */
  bloomery_key_hash h;
  size_t left = length, at = 0;
  acc[0] = BLOOMERY_PRIME32_3, acc[1] = BLOOMERY_PRIME64_1, acc[2] = BLOOMERY_PRIME64_2, acc[3] = BLOOMERY_PRIME64_3;
  acc[4] = BLOOMERY_PRIME64_4, acc[5] = BLOOMERY_PRIME32_2, acc[6] = BLOOMERY_PRIME64_5, acc[7] = BLOOMERY_PRIME32_1;
  for (size_t i = 0; i < 192; i += 8) {
    uint64_t w = bloomery_secret64(i) + (i & 8 ? 0 - seed : seed);
    for (size_t j = 0; j < 8; j++) secret[i + j] = (uint8_t)(w >> 8 * j);
  }
  for (; left > 64; left -= 64, key += 64) { /* the last 1 to 64 bytes wait */
    bloomery_xxh3_stripe(acc, key, secret + at);
    at += 8;
    if (at == 128) { /* a block of 16 stripes ends, and bytes follow */
      for (size_t i = 0; i < 8; i++) {
        acc[i] = (acc[i] ^ acc[i] >> 47 ^ bloomery_load64(secret + 128 + 8 * i)) * BLOOMERY_PRIME32_1;
      }
      at = 0;
    }
  }
  bloomery_xxh3_stripe(acc, key + left - 64, secret + 121);
  h.lo = bloomery_xxh3_merge(acc, secret + 11, (uint64_t)length * BLOOMERY_PRIME64_1);
  h.hi = bloomery_xxh3_merge(acc, secret + 117, ~((uint64_t)length * BLOOMERY_PRIME64_2));
  return h;
}

/* Returns XXH3-128 of the length bytes at key. key may be NULL if length is 0. */
static inline bloomery_key_hash bloomery_xxh3(const uint8_t *key, size_t length, uint64_t seed) {
  bloomery_key_hash acc;
  size_t i;
  if (length <= 16) return bloomery_xxh3_short(key, length, seed);
  if (length > 240) return bloomery_xxh3_long(key, length, seed);
  acc.lo = (uint64_t)length * BLOOMERY_PRIME64_1;
  acc.hi = 0;
  if (length <= 128) {
    for (i = (length - 1) / 32 + 1; i-- > 0;) {
      bloomery_xxh3_pair(&acc, key + 16 * i, key + length - 16 * (i + 1), 32 * i, seed);
    }
    return bloomery_xxh3_end(acc, length, seed);
  }
  for (i = 0; i < length / 32; i++) {
    bloomery_xxh3_pair(&acc, key + 32 * i, key + 32 * i + 16, i < 4 ? 32 * i : 32 * (i - 4) + 3, seed);
    if (i == 3) {
      acc.lo = bloomery_xxh3_mix(acc.lo);
      acc.hi = bloomery_xxh3_mix(acc.hi);
    }
  }
  bloomery_xxh3_pair(&acc, key + length - 16, key + length - 32, 103, 0 - seed);
  return bloomery_xxh3_end(acc, length, seed);
}

/* Returns the shard of a key in a set of that many shards (routing 1). */
static inline uint64_t bloomery_route(bloomery_key_hash h, uint64_t shards) {
  uint64_t x = bloomery_fold(h.hi ^ 0xA54FF53A5F1D36F1u, h.lo ^ 0x510E527FADE682D1u);
  return bloomery_scale(bloomery_fold(x ^ 0xA54FF53A5F1D36F1u, 0x9B05688C2B3E6C1Fu), shards);
}

/* ---- Queries. Each reads a plain struct: integers of the geometry and pointers to the sections, which may have any
   alignment. The structs are not checked; bloomery_open fills and checks them. ---- */

/* standard: bit i of bits, i below m; k probes. counting: counter i of 4 bits. */
typedef struct {
  const uint8_t *bits;
  uint64_t m;
  uint32_t k;
} bloomery_standard;

static inline bool bloomery_standard_has(const bloomery_standard *f, bloomery_key_hash h) {
  const uint8_t *bits = f->bits;
  uint64_t x = h.lo, by = h.hi | 1, m = f->m;
  uint32_t k = f->k;
  unsigned all;
  for (; k > 3; k -= 3) { /* a branch after three probes is mispredicted less often than one after each */
    all = bloomery_bit(bits, bloomery_scale(x, m));
    x = bloomery_fold(x, by);
    all &= bloomery_bit(bits, bloomery_scale(x, m));
    x = bloomery_fold(x, by);
    all &= bloomery_bit(bits, bloomery_scale(x, m));
    x = bloomery_fold(x, by);
    if (!(all & 1)) return false;
  }
  all = bloomery_bit(bits, bloomery_scale(x, m));
  while (--k > 0) {
    x = bloomery_fold(x, by);
    all &= bloomery_bit(bits, bloomery_scale(x, m));
  }
  return (all & 1) != 0;
}

static inline unsigned bloomery_counter(const uint8_t *counters, uint64_t i) {
  return (unsigned)counters[(size_t)(i >> 1)] >> (i & 1) * 4 & 15;
}

static inline bool bloomery_counting_has(const bloomery_standard *f, bloomery_key_hash h) {
  uint64_t x = h.lo, by = h.hi | 1;
  for (uint32_t k = f->k; k > 0; k--) {
    if (bloomery_counter(f->bits, bloomery_scale(x, f->m)) == 0) return false;
    x = bloomery_fold(x, by);
  }
  return true;
}

/* Returns how often the key was added, or more: the smallest counter that is not 15, each divided by the number of
   probes that fall on it. Returns 15 if all are 15: the number is then not known. */
static inline uint64_t bloomery_counting_count(const bloomery_standard *f, bloomery_key_hash h) {
  uint64_t x = h.lo, by = h.hi | 1, at[64];
  unsigned least = 15;
  for (uint32_t i = 0; i < f->k; i++) {
    at[i] = bloomery_scale(x, f->m);
    x = bloomery_fold(x, by);
  }
  for (uint32_t i = 0; i < f->k; i++) {
    unsigned c = bloomery_counter(f->bits, at[i]), times = 0;
    if (c == 15) continue;
    for (uint32_t j = 0; j < f->k; j++) times += at[j] == at[i];
    if (c / times < least) least = c / times;
  }
  return least;
}

/* blocked: blocks of 64 bytes with k probes, or of 32 bytes if split. */
typedef struct {
  const uint8_t *blocks;
  uint64_t count;
  uint32_t k;
  bool split;
} bloomery_blocked;

/* Returns the odd multiplier of word i of a split block, i from 0 to 7. */
static inline uint32_t bloomery_salt(unsigned i) {
  static const uint32_t salts[8] = {0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du,
                                    0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u};
  return salts[i];
}

static inline bool bloomery_blocked_has(const bloomery_blocked *f, bloomery_key_hash h) {
  const uint8_t *block = f->blocks + (size_t)(bloomery_scale(h.hi, f->count) * (f->split ? 32 : 64));
  uint64_t x = h.lo;
  unsigned all = 1;
  if (f->split) {
    for (unsigned i = 0; i < 8; i++) {
      all &= bloomery_load32(block + 4 * i) >> ((uint32_t)x * bloomery_salt(i) >> 27);
    }
    return all != 0;
  }
  for (uint32_t i = 0, round = 0;;) {
    all &= (unsigned)block[x >> 61 << 3 | (x >> 3 & 7)] >> (x & 7);
    if (++i == f->k) return all != 0;
    if (i % 7 != 0) {
      x = bloomery_rotate(x, 9);
    } else {
      if (!all) return false;
      x = bloomery_remix(h.lo, ++round);
    }
  }
}

/* fuse: (segments+2)·segment slots of width bits; segment is a power of two. */
typedef struct {
  const uint8_t *slots;
  uint64_t seed, segment, segments;
  uint32_t width;
} bloomery_fuse;

static inline bool bloomery_fuse_has(const bloomery_fuse *f, bloomery_key_hash h) {
  uint64_t x = h.lo + f->seed, h0, h1, h2, mask = f->segment - 1, w = f->width, got;
  x = (x ^ x >> 33) * 0xFF51AFD7ED558CCDu;
  x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53u;
  x ^= x >> 33;
  h0 = bloomery_scale(x, f->segments * f->segment);
  h1 = (h0 + f->segment) ^ (x >> 18 & mask);
  h2 = (h0 + 2 * f->segment) ^ (x & mask);
  got = bloomery_load57(f->slots, h0 * w) ^ bloomery_load57(f->slots, h1 * w) ^ bloomery_load57(f->slots, h2 * w);
  return ((x ^ x >> 32 ^ got) & (((uint64_t)1 << w) - 1)) == 0;
}

/* partitioned: shards bitmaps of bits bits; shifts of width bits, k a group, groups a shard. */
typedef struct {
  const uint8_t *bitmap, *shifts;
  uint64_t shards, groups, bits;
  uint32_t k, width;
} bloomery_partitioned;

static inline bool bloomery_partitioned_has(const bloomery_partitioned *f, bloomery_key_hash h) {
  uint64_t rest, shard, side, start, base, mask = ((uint64_t)1 << f->width) - 1, x = h.lo, by = h.hi | 1;
  unsigned all = 1;
  rest = bloomery_multiply(h.hi, f->shards, &shard);
  side = (shard * f->groups + bloomery_scale(rest, f->groups)) * f->k * f->width;
  start = shard * f->bits;
  base = f->bits - mask;
  for (uint32_t l = 0;;) {
    uint64_t shift = bloomery_load57(f->shifts, side) & mask;
    all &= bloomery_bit(f->bitmap, start + bloomery_scale(x, base) + shift);
    if (++l == f->k) return all != 0;
    if (l % 3 == 0 && !all) return false;
    side += f->width;
    x = bloomery_fold(x, by);
  }
}

/* blockpartitioned: blocks of block bits (512 or 1024), each with groups·k shifts of width bits, then payload bits up
   to its end: payload is a multiple of 32, at least 64. */
typedef struct {
  const uint8_t *blocks;
  uint64_t count;
  uint32_t block, groups, k, width, payload;
} bloomery_blockpartitioned;

static inline bool bloomery_blockpartitioned_has(const bloomery_blockpartitioned *f, bloomery_key_hash h) {
  uint64_t rest, at, x = h.lo;
  const uint8_t *block, *payload;
  uint32_t mask = ((uint32_t)1 << f->width) - 1, side, all = 1;
  rest = bloomery_multiply(h.hi, f->count, &at);
  block = f->blocks + (size_t)(at * (f->block / 8));
  payload = block + (f->block - f->payload) / 8;
  side = (uint32_t)bloomery_scale(rest, f->groups) * f->k * f->width;
  for (uint32_t l = 0;;) {
    uint32_t u = ((uint32_t)x * bloomery_salt(l % 8) >> 16) * f->payload >> 16;
    all &= bloomery_load32(payload + u / 32 * 4) >> ((u + (uint32_t)(bloomery_load57(block, side) & mask)) & 31);
    if (++l == f->k) return all != 0;
    side += f->width;
    if (l % 8 == 0) { /* slots 8 to 15 use the high half of lo, later ones lo mixed anew */
      if (!all) return false;
      x = l / 8 % 2 ? x >> 32 : bloomery_remix(h.lo, l / 16);
    }
  }
}

#ifndef BLOOMERY_QUERIES_ONLY

#endif /* BLOOMERY_QUERIES_ONLY */

#ifdef __cplusplus
}
#endif

#endif /* BLOOMERY_H */
