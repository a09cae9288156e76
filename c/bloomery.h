/* SPDX-License-Identifier: MIT AND BSD-2-Clause

   MIT License

   Copyright (c) 2026 The Bloomery authors

   Permission is hereby granted, free of charge, to any person obtaining a copy
   of this software and associated documentation files (the "Software"), to deal
   in the Software without restriction, including without limitation the rights
   to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
   copies of the Software, and to permit persons to whom the Software is
   furnished to do so, subject to the following conditions:

   The above copyright notice and this permission notice shall be included in all
   copies or substantial portions of the Software.

   THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
   IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
   FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
   AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
   LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
   OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
   SOFTWARE.

   The constants of XXH3 and XXH64, and the default secret of XXH3, are from xxHash.

   xxHash: BSD 2-Clause License

   Copyright (C) 2012-2023 Yann Collet

   Redistribution and use in source and binary forms, with or without
   modification, are permitted provided that the following conditions are
   met:

      * Redistributions of source code must retain the above copyright
        notice, this list of conditions and the following disclaimer.
      * Redistributions in binary form must reproduce the above
        copyright notice, this list of conditions and the following disclaimer
        in the documentation and/or other materials provided with the
        distribution.

   THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS
   "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT
   LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR
   A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT
   OWNER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,
   SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT
   LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE,
   DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY
   THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT
   (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE
   OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE. */

/* bloomery.h: a reader of Bloomery filter files in one header.

   bloomery_filter f;
   int result = bloomery_open(&f, data, length, NULL);
   if (result != BLOOMERY_OK) {
     fprintf(stderr, "%s\n", bloomery_message(result));
     return 1;
   }
   if (bloomery_has(&f, "example.com", 11)) puts("may be in the set");
   if (bloomery_has_integer(&f, 255)) puts("255 may be in the set");
   printf("%.*s\n", (int)bloomery_info(&f)->spec_length, bloomery_info(&f)->spec);

   It needs C11 or C++11 and nothing else: no library, no allocation, no global state. All functions are static inline.
   data is the whole file, read or mapped, at any address. Opening checks all of it, so that queries need no checks:
   damaged and hostile files are refused. After that the filter is read only, by any number of threads. Hosts of either
   byte order and with 32 or 64 bits give the same answers.

   bloomery_open     opens a file in memory          bloomery_has       is the key in the set?
   bloomery_open_in  opens a trimmed file            bloomery_count     how often was it added?
   bloomery_memory   memory for bloomery_open_in     bloomery_get       the value of a key
   bloomery_info     spec, keys, hash of the file    bloomery_integer   bytes of an integer key
   bloomery_message  text of a result                bloomery_shard     the shard of a key in a sharded set
   bloomery_hash     hash of a key                   bloomery_has_hash  bloomery_has for a hash
   bloomery_has_integer  for an integer              bloomery_has_text  for a value such as 12.50 or 2026-11-29
   bloomery_integer_key  the key of an integer       bloomery_text_key  the key of such a value

   Batches of keys, two to three times as fast as single queries:

   bloomery_has_many            keys of one width     bloomery_has_many_integers    integers
   bloomery_has_many_offsets32  keys with offsets, as in Apache Arrow; bloomery_has_many_offsets64 with large offsets

   Exact sets, without false positives for the keys of a universe:

   bloomery_exact_open    opens a file in memory     bloomery_exact_has     is the key in the set?
   bloomery_exact_memory  memory that it needs       bloomery_exact_has_in  the same for a key of a partition
   bloomery_exact_info    counts of keys

   Keys are bytes; a text is its UTF-8 bytes, an integer its eight bytes, little endian. In a filter whose keys have a
   type, such as a column of a Parquet file, bloomery_has_integer and bloomery_has_text make the bytes of that type, and
   a value that the type does not have is absent; bloomery_has always takes bytes. docs/format.md describes the files. Names that are not in this table are internal and may change. With BLOOMERY_NO_INT128 defined, products of 64
   bits are computed in halves, as on machines without __int128. With BLOOMERY_QUERIES_ONLY the header has only the hash
   functions and the queries, which need no C library. GCC and Clang compile some functions for AVX2 and BMI2, too, and
   filters use them on x86-64 processors that have both: BLOOMERY_PORTABLE leaves them out. */

#ifndef BLOOMERY_H
#define BLOOMERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef BLOOMERY_QUERIES_ONLY

/* The version of this header, as a text and as 1,000,000 x major + 1,000 x minor + patch for #if. */
#define BLOOMERY_VERSION "1.0.0-dev"
#define BLOOMERY_VERSION_NUMBER 1000000

/* BLOOMERY_WIDE marks functions for x86-64 processors with AVX2 and BMI2. Filters remember at bloomery_open whether
   there is one. It is undefined with other compilers and processors, and with BLOOMERY_PORTABLE. */
#if defined(__x86_64__) && (defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 5)) && !defined(BLOOMERY_PORTABLE)
#include <immintrin.h>
#define BLOOMERY_WIDE __attribute__((target("avx2,bmi,bmi2,popcnt")))
#endif

#endif /* BLOOMERY_QUERIES_ONLY */

#ifdef __cplusplus
extern "C" {
#endif

/* BLOOMERY_APART is static inline for large functions, which are not worth a copy in each caller. */
#if defined(__GNUC__) && !defined(BLOOMERY_QUERIES_ONLY)
#define BLOOMERY_APART static __attribute__((noinline, unused))
#else
#define BLOOMERY_APART static inline
#endif

/* ---- Numbers: loads of little-endian words at any address, rotations, products of 128 bits ---- */

#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BLOOMERY_COPY_LOADS 1
#define BLOOMERY_LITTLE 1
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

/* Returns the 0 to 7 bytes at p as a little-endian number. */
static inline uint64_t bloomery_load_tail(const uint8_t *p, size_t n) {
  uint64_t v = 0;
  while (n-- > 0) v = v << 8 | p[n];
  return v;
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

/* Returns the high half of a·b. Apart on machines without products of 128 bits, so that bloomery_scale is small. */
#if defined(__GNUC__) && (!defined(__SIZEOF_INT128__) || defined(__wasm__) || defined(BLOOMERY_NO_INT128))
static __attribute__((noinline, unused))
#else
static inline
#endif
uint64_t bloomery_high(uint64_t a, uint64_t b) {
  uint64_t high;
  bloomery_multiply(a, b, &high);
  return high;
}

/* Returns ⌊x·m / 2^64⌋, which is below m. */
static inline uint64_t bloomery_scale(uint64_t x, uint64_t m) {
#if !defined(__SIZEOF_INT128__) || defined(__wasm__) || defined(BLOOMERY_NO_INT128)
  if (m >> 32 == 0) return ((x >> 32) * m + ((x & 0xFFFFFFFFu) * m >> 32)) >> 32;
#endif
  return bloomery_high(x, m);
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

/* A key in up to three parts, of length bytes in all. */
typedef struct {
  const uint8_t *part[3];
  size_t bytes[3], length;
} bloomery_joined;

/* Returns a key in one part. */
static inline bloomery_joined bloomery_whole(const uint8_t *key, size_t length) {
  bloomery_joined all;
  all.part[0] = all.part[1] = all.part[2] = key;
  all.bytes[0] = all.length = length;
  all.bytes[1] = all.bytes[2] = 0;
  return all;
}

/* Returns n bytes of a key from byte at on, 64 at most. They are copied to room unless one part has them all. */
static inline const uint8_t *bloomery_piece(const bloomery_joined *key, size_t at, size_t n, uint8_t *room) {
  size_t i = 0;
  while (i < 2 && at >= key->bytes[i]) at -= key->bytes[i++];
  if (n <= key->bytes[i] - at) return key->part[i] + at;
  for (size_t k = 0; k < n; k++, at++) {
    while (at == key->bytes[i]) {
      at = 0;
      i++;
    }
    room[k] = key->part[i][at];
  }
  return room;
}

/* XXH3-128 for keys of more than 240 bytes. */
BLOOMERY_APART bloomery_key_hash bloomery_xxh3_long(const bloomery_joined *key, uint64_t seed) {
  uint64_t acc[8];
  uint8_t secret[192], room[64]; /* secret: the default secret, its words plus or minus the seed in turn */
  bloomery_key_hash h;
  size_t from = 0, at = 0;
  acc[0] = BLOOMERY_PRIME32_3, acc[1] = BLOOMERY_PRIME64_1, acc[2] = BLOOMERY_PRIME64_2, acc[3] = BLOOMERY_PRIME64_3;
  acc[4] = BLOOMERY_PRIME64_4, acc[5] = BLOOMERY_PRIME32_2, acc[6] = BLOOMERY_PRIME64_5, acc[7] = BLOOMERY_PRIME32_1;
  for (size_t i = 0; i < 192; i += 8) {
    uint64_t w = bloomery_secret64(i) + (i & 8 ? 0 - seed : seed);
    for (size_t j = 0; j < 8; j++) secret[i + j] = (uint8_t)(w >> 8 * j);
  }
  for (; key->length - from > 64; from += 64) { /* the last 1 to 64 bytes wait */
    bloomery_xxh3_stripe(acc, bloomery_piece(key, from, 64, room), secret + at);
    at += 8;
    if (at == 128) { /* a block of 16 stripes ends, and bytes follow */
      for (size_t i = 0; i < 8; i++) {
        acc[i] = (acc[i] ^ acc[i] >> 47 ^ bloomery_load64(secret + 128 + 8 * i)) * BLOOMERY_PRIME32_1;
      }
      at = 0;
    }
  }
  bloomery_xxh3_stripe(acc, bloomery_piece(key, key->length - 64, 64, room), secret + 121);
  h.lo = bloomery_xxh3_merge(acc, secret + 11, (uint64_t)key->length * BLOOMERY_PRIME64_1);
  h.hi = bloomery_xxh3_merge(acc, secret + 117, ~((uint64_t)key->length * BLOOMERY_PRIME64_2));
  return h;
}

/* Returns XXH3-128 of the length bytes at key. key may be NULL if length is 0. */
static inline bloomery_key_hash bloomery_xxh3(const uint8_t *key, size_t length, uint64_t seed) {
  bloomery_key_hash acc;
  size_t i;
  if (length <= 16) return bloomery_xxh3_short(key, length, seed);
  if (length > 240) {
    bloomery_joined all = bloomery_whole(key, length);
    return bloomery_xxh3_long(&all, seed);
  }
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

/* Returns the word of the next probe of a key with that hi. The word of the first is lo. */
static inline uint64_t bloomery_next(uint64_t x, uint64_t hi) { return bloomery_rotate(9 * x, 25) + hi; }

static inline bool bloomery_standard_has(const bloomery_standard *f, bloomery_key_hash h) {
  uint64_t x = h.lo;
  unsigned all = 1;
  for (uint32_t k = f->k;; k -= 3) { /* a branch after three probes is mispredicted less often than one after each */
    for (uint32_t i = k < 3 ? k : 3; i > 0; i--) {
      all &= bloomery_bit(f->bits, bloomery_scale(x, f->m));
      x = bloomery_next(x, h.hi);
    }
    if (k <= 3 || !(all & 1)) return (all & 1) != 0;
  }
}

static inline unsigned bloomery_counter(const uint8_t *counters, uint64_t i) {
  return (unsigned)counters[(size_t)(i >> 1)] >> (i & 1) * 4 & 15;
}

static inline bool bloomery_counting_has(const bloomery_standard *f, bloomery_key_hash h) {
  uint64_t x = h.lo;
  unsigned all = 16; /* bit 4 of a counter + 15 is set unless the counter is 0 */
  for (uint32_t k = f->k;; k -= 3) {
    for (uint32_t l = 0; l < 3 && l < k; l++) {
      all &= bloomery_counter(f->bits, bloomery_scale(x, f->m)) + 15;
      x = bloomery_next(x, h.hi);
    }
    if (k <= 3 || !all) return all != 0;
  }
}

/* Returns how often the key was added, or more: the smallest counter that is not 15, each divided by the number of
   probes that fall on it. Returns 15 if all are 15: the number is then not known. */
BLOOMERY_APART uint64_t bloomery_counting_count(const bloomery_standard *f, bloomery_key_hash h) {
  uint64_t x = h.lo, at[64];
  unsigned least = 15;
  for (uint32_t i = 0; i < f->k; i++) {
    at[i] = bloomery_scale(x, f->m);
    x = bloomery_next(x, h.hi);
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

/* The odd multipliers of the words of a split block. */
static const uint32_t bloomery_salts[8] = {0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du,
                                           0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u};

static inline bool bloomery_blocked_has(const bloomery_blocked *f, bloomery_key_hash h) {
  const uint8_t *block = f->blocks + (size_t)(bloomery_scale(h.hi, f->count) * (f->split ? 32 : 64));
  uint64_t x = h.lo;
  unsigned all = 1;
  if (f->split) {
    for (unsigned i = 0; i < 8; i++) {
      all &= bloomery_load32(block + 4 * i) >> ((uint32_t)x * bloomery_salts[i] >> 27);
    }
    return all != 0;
  }
  for (uint32_t k = f->k, round = 1;; k -= 7, round++) { /* seven probes take all bits of x */
    for (uint32_t i = k < 7 ? k : 7; i > 0; i--) {
      all &= (unsigned)(bloomery_load64(block + (x >> 61 << 3)) >> (x & 63));
      x = bloomery_rotate(x, 9);
    }
    if (k <= 7 || !(all & 1)) return (all & 1) != 0;
    x = bloomery_remix(h.lo, round);
  }
}

/* fuse: (segments+2)·segment slots of width bits; segment is a power of two. */
typedef struct {
  const uint8_t *slots;
  uint64_t seed, segment, segments;
  uint32_t width;
} bloomery_fuse;

/* Returns lo + seed, mixed. */
static inline uint64_t bloomery_fuse_mix(uint64_t x) {
  x = (x ^ x >> 33) * 0xFF51AFD7ED558CCDu;
  x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53u;
  return x ^ x >> 33;
}

/* bloomery_fuse_has for a key whose hash is mixed. */
static inline bool bloomery_fuse_mixed(const bloomery_fuse *f, uint64_t x) {
  uint64_t h0, h1, h2, mask = f->segment - 1, w = f->width, got;
  h0 = bloomery_scale(x, f->segments * f->segment);
  h1 = (h0 + f->segment) ^ (x >> 18 & mask);
  h2 = (h0 + 2 * f->segment) ^ (x & mask);
  got = bloomery_load57(f->slots, h0 * w) ^ bloomery_load57(f->slots, h1 * w) ^ bloomery_load57(f->slots, h2 * w);
  return ((x ^ x >> 32 ^ got) & (((uint64_t)1 << w) - 1)) == 0;
}

static inline bool bloomery_fuse_has(const bloomery_fuse *f, bloomery_key_hash h) {
  return bloomery_fuse_mixed(f, bloomery_fuse_mix(h.lo + f->seed));
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
  for (uint32_t k = f->k;; k -= 3) { /* a branch after three slots, see standard */
    uint64_t shifts = bloomery_load57(f->shifts, side);
    for (uint32_t l = 0; l < 3 && l < k; l++) {
      all &= bloomery_bit(f->bitmap, start + bloomery_scale(x, base) + (shifts & mask));
      shifts >>= f->width;
      x = bloomery_fold(x, by);
    }
    if (k <= 3 || !(all & 1)) return (all & 1) != 0;
    side += 3 * f->width;
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
  for (uint32_t k = f->k, round = 1;; k -= 8, round++) { /* 32 bits of a hash give eight slots */
    uint64_t shifts = bloomery_load57(block, side);
    for (uint32_t l = 0; l < 8 && l < k; l++) {
      uint32_t u = ((uint32_t)x * bloomery_salts[l] >> 16) * f->payload >> 16;
      all &= bloomery_load32(payload + u / 32 * 4) >> ((u + ((uint32_t)shifts & mask)) & 31);
      shifts >>= f->width;
    }
    if (k <= 8 || !(all & 1)) return (all & 1) != 0;
    side += 8 * f->width;
    x = round % 2 ? x >> 32 : bloomery_remix(h.lo, round / 2); /* the high half, then lo mixed anew */
  }
}

/* Returns the number of set bits of v. */
static inline unsigned bloomery_ones64(uint64_t v) {
#if defined(__POPCNT__) || defined(__wasm__) || (defined(__GNUC__) && (defined(__aarch64__) || defined(__s390x__)))
  return (unsigned)__builtin_popcountll(v);
#else
  v -= v >> 1 & 0x5555555555555555u;
  v = (v & 0x3333333333333333u) + (v >> 2 & 0x3333333333333333u);
  return (unsigned)(((v + (v >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
#endif
}

/* Returns the number of set bits among the first n bits of p. Reads the whole words of 8 bytes that hold them. */
static inline uint64_t bloomery_ones_below(const uint8_t *p, uint64_t n) {
  uint64_t ones = 0;
  for (; n >= 64; n -= 64, p += 8) ones += bloomery_ones64(bloomery_load64(p));
  if (n > 0) ones += bloomery_ones64(bloomery_load64(p) << (64 - n));
  return ones;
}

/* Returns bits [at, at+width) of p, width from 1 to 63. Reads the whole words of 8 bytes that hold them. */
static inline uint64_t bloomery_field(const uint8_t *p, uint64_t at, unsigned width) {
  uint64_t low = bloomery_load64(p + (size_t)(at >> 6 << 3));
  uint64_t high = bloomery_load64(p + (size_t)((at + width - 1) >> 6 << 3)); /* low again if one word holds all */
  unsigned s = (unsigned)(at & 63);
  return (low >> s | high << 1 << (63 - s)) & (((uint64_t)1 << width) - 1);
}

/* twochoice: shards of bits bits; k windows of choices bits. Bit j of all windows is group j of the key. */
typedef struct {
  const uint8_t *words;
  uint64_t shards, bits;
  uint32_t choices, k;
} bloomery_twochoice;

static inline bool bloomery_twochoice_has(const bloomery_twochoice *f, bloomery_key_hash h) {
  uint64_t shard, by = bloomery_multiply(h.hi, f->shards, &shard), x = h.lo, all = ((uint64_t)1 << f->choices) - 1;
  uint64_t start = shard * f->bits, starts = f->bits - f->choices + 1;
  for (uint32_t k = f->k;; k -= 4) { /* a branch after four windows, see standard */
    for (uint32_t i = k < 4 ? k : 4; i > 0; i--) {
      all &= bloomery_load57(f->words, start + bloomery_scale(x, starts));
      x = bloomery_next(x, by);
    }
    if (k <= 4 || all == 0) return all != 0;
  }
}

/* rankindexed: level 0 has the buckets, levels 1 and 2 their extensions. Each record is stride[level] bytes. */
typedef struct {
  const uint8_t *level[3];
  uint64_t count[3];   /* number of records */
  uint32_t stride[3];  /* bytes of a record */
  uint32_t cells[3];   /* cells of a record */
  uint32_t pointer[3]; /* bits of the pointer to the next level in a record, or 0 */
  uint32_t chains, remainder, growth, payload, width;
  bool counting;
} bloomery_rankindexed;

/* A way along a chain: the bucket, the remainder of the key, the next bit of the index, and the last cell. */
typedef struct {
  const uint8_t *bucket;
  uint64_t remainder, at, cell;
} bloomery_walk;

static inline bloomery_walk bloomery_walk_begin(const bloomery_rankindexed *f, bloomery_key_hash h) {
  bloomery_walk w;
  uint64_t bucket, top = bloomery_multiply(h.hi, f->count[0], &bucket);
  uint64_t rest = bloomery_multiply(h.lo, f->chains, &w.at);
  w.bucket = f->level[0] + (size_t)(bucket * f->stride[0]);
  w.remainder = top >> 1 >> (63 - f->growth) << f->remainder | rest >> (64 - f->remainder);
  w.cell = 0;
  return w;
}

/* Returns the extension of a record of a level, or NULL. */
static inline const uint8_t *bloomery_extension(const bloomery_rankindexed *f, const uint8_t *record, unsigned level) {
  uint64_t to;
  if (level == 2 || f->pointer[level] == 0) return NULL;
  to = bloomery_field(record, level == 0 ? f->chains + f->cells[0] : 0, f->pointer[level]);
  return to == 0 ? NULL : f->level[level + 1] + (size_t)((to - 1) * f->stride[level + 1]);
}

/* Goes to the next cell of the chain. Returns false at the end of the chain. */
BLOOMERY_APART bool bloomery_walk_next(const bloomery_rankindexed *f, bloomery_walk *w) {
  const uint8_t *record = w->bucket;
  uint64_t at = w->at, first = 0, bits = f->chains + f->cells[0], cell = 0;
  unsigned level = 0;
  while (at >= bits) { /* the bit lies in an extension */
    cell += bloomery_ones_below(record, first + bits) - bloomery_ones_below(record, first);
    at -= bits;
    record = bloomery_extension(f, record, level);
    if (!record) return false;
    first = f->pointer[++level];
    bits = f->cells[level];
  }
  if (!(bloomery_bit(record, first + at) & 1)) return false;
  cell += bloomery_ones_below(record, first + at);
  if (first > 0) cell -= bloomery_ones_below(record, first);
  w->at = f->chains + cell;
  record = w->bucket;
  for (level = 0; cell >= f->cells[level]; level++) { /* the cell lies in an extension */
    cell -= f->cells[level];
    record = bloomery_extension(f, record, level);
    if (!record) return false;
  }
  first = f->pointer[level] + f->cells[level] + (level == 0 ? f->chains : 0);
  w->cell = bloomery_field(record, first + cell * f->width, f->width);
  return true;
}

BLOOMERY_APART bool bloomery_rankindexed_has(const bloomery_rankindexed *f, bloomery_key_hash h) {
  bloomery_walk w = bloomery_walk_begin(f, h);
  while (bloomery_walk_next(f, &w)) {
    if (w.cell >> f->payload >= w.remainder) return w.cell >> f->payload == w.remainder;
  }
  return false;
}

/* Returns how often the key was added, less how often it was removed. Keys that look alike count together. */
BLOOMERY_APART uint64_t bloomery_rankindexed_count(const bloomery_rankindexed *f, bloomery_key_hash h) {
  bloomery_walk w = bloomery_walk_begin(f, h);
  uint64_t n = 0;
  while (bloomery_walk_next(f, &w)) {
    uint64_t r = w.cell >> f->payload;
    if (r > w.remainder) return n;
    if (r == w.remainder) n += f->counting ? (w.cell & 3) + 1 : 1;
  }
  return n;
}

/* Sets *value to the value of the key, that of the first cell with its remainder. Returns false if it is absent. */
BLOOMERY_APART bool bloomery_rankindexed_get(const bloomery_rankindexed *f, bloomery_key_hash h, uint64_t *value) {
  bloomery_walk w = bloomery_walk_begin(f, h);
  *value = 0;
  while (bloomery_walk_next(f, &w)) {
    if (w.cell >> f->payload < w.remainder) continue;
    if (w.cell >> f->payload > w.remainder) return false;
    if (!f->counting) *value = w.cell & (((uint64_t)1 << f->payload) - 1);
    return true;
  }
  return false;
}

/* A layer of a ribbon filter: its start positions, the odd multiplier of Hi, its first word, the number of its wide
   blocks, its first bucket, and its shape. */
typedef struct {
  uint64_t starts, multiplier, word, wide, bucket;
  uint32_t shape;
} bloomery_layer;

/* The most layers of a ribbon filter. */
#define BLOOMERY_LAYERS 16

/* ribbon: layers, and a tail of tail slots. A block of 64 slots has a column of 64 bits for each of values bits of the
   value, then for each of remainder bits of the fingerprint, then one more if it is wide. A column of the tail has tail
   bits; extra is 1 if the tail has one column more. turn is the rotation of the coefficients in layer 0. */
typedef struct {
  const uint8_t *words, *classes, *slots;
  uint32_t layers, values, remainder, extra, tail, tail_seed, turn;
  bloomery_layer layer[BLOOMERY_LAYERS];
} bloomery_ribbon;

/* A shape of layers: the words of coefficients, the bits of a place in a bucket, and the places below which a bucket
   of each class gives its keys to the next layer. */
typedef struct {
  uint16_t words, bits, below[4];
} bloomery_shape;

static const bloomery_shape bloomery_shapes[4] = {
    {1, 5, {0, 6, 13, 32}}, {1, 7, {0, 17, 38, 128}}, {2, 8, {0, 20, 51, 256}}, {2, 9, {0, 41, 102, 512}}};

/* A key in a layer or the tail: in each of the words of a column, which begin at first in a layer, its coefficients;
   and the bits of its fingerprint. */
typedef struct {
  const uint8_t *first[3];
  uint64_t take[4], fingerprint;
  uint32_t words, bits; /* words: 2 or 3; in the tail 0 */
} bloomery_row;

/* Returns a word whose lowest bit is the parity of v. */
static inline unsigned bloomery_parity(uint64_t v) {
#if defined(__GNUC__) && !defined(__POPCNT__) && (defined(__x86_64__) || defined(__i386__))
  return (unsigned)__builtin_parityll(v);
#else
  return bloomery_ones64(v);
#endif
}

/* Sets the row of a key that no layer holds. */
BLOOMERY_APART void bloomery_ribbon_tail(const bloomery_ribbon *f, bloomery_key_hash h, bloomery_row *row) {
  for (uint32_t k = 0; 64 * k < f->tail; k++) {
    uint64_t x = (h.hi ^ h.lo) ^ (4 * f->tail_seed + k + 1) * 0x9E3779B97F4A7C15u;
    uint32_t bits = f->tail - 64 * k;
    x = bloomery_fold(bloomery_fold(x, 0x7EA8B4433010CD85u) ^ h.hi, 0x80B5AC432CBDF5C9u);
    row->take[k] = bits < 64 ? x & (((uint64_t)1 << bits) - 1) : x;
  }
  row->words = 0;
  row->bits = f->remainder + f->extra;
}

/* Returns the word of the first column for a key that is at a place of a layer. words is that of the shape. */
static inline uint64_t bloomery_ribbon_word(const bloomery_layer *l, uint32_t words, uint64_t columns, uint64_t at) {
  uint64_t block = (at >> 6) + (at >> 18) * words;
  return l->word + block * columns + (block < l->wide ? block : l->wide);
}

/* Sets the row of a key. */
static inline void bloomery_ribbon_row(const bloomery_ribbon *f, bloomery_key_hash h, bloomery_row *row) {
  uint64_t x = h.hi ^ h.lo;
  row->fingerprint = bloomery_fold(x, 0x50A89A3BE7770CBFu);
  for (uint32_t i = 0; i < f->layers; i++) {
    const bloomery_layer *l = f->layer + i;
    const bloomery_shape *shape = bloomery_shapes + l->shape;
    uint64_t at = bloomery_scale(h.hi * l->multiplier, l->starts), bucket = l->bucket + (at >> shape->bits);
    uint64_t block, word, columns = f->values + f->remainder, c, d;
    unsigned kind = (unsigned)f->classes[(size_t)(bucket >> 2)] >> (bucket & 3) * 2 & 3, q = at & 63;
    unsigned turn = (f->turn + 11 * i) & 63, back = (64 - turn) & 63;
    if ((at & (((uint64_t)1 << shape->bits) - 1)) < shape->below[kind]) continue;
    block = (at >> 6) + (at >> 18) * shape->words;
    word = bloomery_ribbon_word(l, shape->words, columns, at);
    c = bloomery_fold(x, 0x71BF41D65460B8E9u);
    c = (c << turn | c >> back) | 1;
    row->first[0] = f->words + (size_t)(8 * word);
    row->first[1] = row->first[0] + 8 * (columns + (block < l->wide));
    row->take[0] = c << q;
    row->take[1] = c >> 1 >> (63 - q);
    row->words = 2;
    if (shape->words == 2) {
      d = bloomery_fold(x, 0x04666D532545AE33u);
      d = d << turn | d >> back;
      row->first[2] = row->first[1] + 8 * (columns + (block + 1 < l->wide));
      row->take[1] |= d << q;
      row->take[2] = d >> 1 >> (63 - q);
      row->words = 3;
    }
    row->bits = f->remainder + (block + shape->words < l->wide);
    return;
  }
  bloomery_ribbon_tail(f, h, row);
}

/* Returns n bits: those of the columns from a column on, for a key in a layer. words is row->words. */
static inline unsigned bloomery_ribbon_few(const bloomery_row *row, uint32_t words, uint32_t column, uint32_t n) {
  unsigned bits = 0;
  for (uint32_t i = n; i-- > 0;) {
    uint64_t v = 0;
    for (uint32_t k = 0; k < words; k++) v ^= row->take[k] & bloomery_load64(row->first[k] + 8 * (column + i));
    bits = bits << 1 | (bloomery_parity(v) & 1);
  }
  return bits;
}

#if defined(__GNUC__) && (defined(__SSE2__) || defined(__aarch64__)) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BLOOMERY_GROUP 8 /* columns that are read together */
#define BLOOMERY_FORCED static inline __attribute__((always_inline)) /* compiled for constant numbers of columns */

/* Two words. */
typedef uint64_t bloomery_two __attribute__((vector_size(16)));

/* Returns two columns for a key, of which n exist: words of the same parity, 0 for others. */
BLOOMERY_FORCED bloomery_two bloomery_ribbon_two(const bloomery_row *row, uint32_t words, uint32_t column,
                                                 uint32_t n) {
  bloomery_two sum = {0, 0};
  if (n == 0 || n > 8) return sum;
  for (uint32_t k = 0; k < words; k++) {
    if (n > 1) {
      bloomery_two v;
      __builtin_memcpy(&v, row->first[k] + 8 * column, sizeof v);
      sum ^= row->take[k] & v;
    } else {
      bloomery_two v = {row->take[k] & bloomery_load64(row->first[k] + 8 * column), 0};
      sum ^= v;
    }
  }
  return sum;
}

/* Returns words whose lanes of s bits have the parities of those of 2·s bits of a and b in turn: those of a are in the
   lanes of mask m. */
static inline bloomery_two bloomery_merge(bloomery_two a, bloomery_two b, int s, uint64_t m) {
  return ((a ^ a >> s) & m) | ((b ^ b << s) & ~m);
}

/* bloomery_ribbon_few for n from 1 to BLOOMERY_GROUP. */
BLOOMERY_FORCED unsigned bloomery_ribbon_group(const bloomery_row *row, uint32_t words, uint32_t column, uint32_t n) {
  bloomery_two a = bloomery_ribbon_two(row, words, column, n), b = bloomery_ribbon_two(row, words, column + 2, n - 2);
  a = bloomery_merge(a, bloomery_ribbon_two(row, words, column + 4, n - 4), 32, 0xFFFFFFFFu);
  b = bloomery_merge(b, bloomery_ribbon_two(row, words, column + 6, n - 6), 32, 0xFFFFFFFFu);
  a = bloomery_merge(a, b, 16, 0x0000FFFF0000FFFFu); /* columns 0, 2, 4, 6 and 1, 3, 5, 7 */
  a ^= a >> 8;
  a ^= a >> 4;
  a ^= a >> 2;
  a = (a ^ a >> 1) & 0x0001000100010001u;
  return (unsigned)((a[0] | a[1] << 1) * 0x0001000400100040u >> 48) & 255;
}

#else
#define BLOOMERY_GROUP 4 /* a branch after four columns is mispredicted less often than one after each */
#define BLOOMERY_FORCED static inline
#define bloomery_ribbon_group bloomery_ribbon_few
#endif

/* bloomery_ribbon_group for a key in the tail. */
BLOOMERY_APART unsigned bloomery_ribbon_slots(const bloomery_ribbon *f, const bloomery_row *row, uint32_t column,
                                             uint32_t n) {
  uint32_t bytes = (f->tail * (f->values + f->remainder + f->extra) + 7) / 8;
  unsigned bits = 0;
  for (uint32_t k = n; k-- > 0;) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < f->tail; i += 32) {
      uint32_t from = (column + k) * f->tail + i, left = bytes - from / 8; /* no byte behind the tail is read */
      uint64_t v = left < 8 ? bloomery_load_tail(f->slots + from / 8, left) : bloomery_load64(f->slots + from / 8);
      sum ^= v >> from % 8 & (uint32_t)(row->take[i / 64] >> i % 64);
    }
    bits = bits << 1 | (bloomery_parity(sum) & 1);
  }
  return bits;
}

/* Returns whether count columns from a column on have the lowest bits of want for a key. If value is not NULL, sets it
   to the bits of the columns instead, and returns true. */
BLOOMERY_FORCED bool bloomery_ribbon_columns(const bloomery_ribbon *f, const bloomery_row *row, uint32_t words,
                                             uint32_t column, uint32_t count, uint64_t want, uint64_t *value) {
  for (uint32_t k = 0; k < count; k += BLOOMERY_GROUP) {
    uint32_t n = count - k < BLOOMERY_GROUP ? count - k : BLOOMERY_GROUP;
    uint64_t bits;
    if (words == 0) {
      bits = bloomery_ribbon_slots(f, row, column + k, n);
    } else if (n == BLOOMERY_GROUP) { /* compiled for that number */
      bits = bloomery_ribbon_group(row, words, column + k, BLOOMERY_GROUP);
    } else if (n < BLOOMERY_GROUP / 2) {
      bits = bloomery_ribbon_few(row, words, column + k, n);
    } else {
      bits = bloomery_ribbon_group(row, words, column + k, n);
    }
    if (value) *value |= (bits & (((uint64_t)1 << n) - 1)) << k;
    if (!value && ((bits ^ want >> k) & (((uint64_t)1 << n) - 1)) != 0) return false;
  }
  return true;
}

/* Returns the hash of a key without the bits that the builder has for the value. */
static inline bloomery_key_hash bloomery_ribbon_hash(const bloomery_ribbon *f, bloomery_key_hash h) {
  if (f->values > 0) h.lo = h.lo >> 32 << 32;
  return h;
}

static inline bool bloomery_ribbon_has(const bloomery_ribbon *f, bloomery_key_hash h) {
  bloomery_row row;
  uint64_t want;
  if (f->layers + f->tail == 0) return f->remainder == 0; /* no keys */
  bloomery_ribbon_row(f, bloomery_ribbon_hash(f, h), &row);
  want = row.fingerprint;
  switch (row.words) {
  case 2: return bloomery_ribbon_columns(f, &row, 2, f->values, row.bits, want, NULL);
  case 3: return bloomery_ribbon_columns(f, &row, 3, f->values, row.bits, want, NULL);
  }
  return bloomery_ribbon_columns(f, &row, 0, f->values, row.bits, want, NULL);
}

/* Sets *value to the value of the key, 0 if it is absent. Returns bloomery_ribbon_has. */
BLOOMERY_APART bool bloomery_ribbon_get(const bloomery_ribbon *f, bloomery_key_hash h, uint64_t *value) {
  bloomery_row row;
  *value = 0;
  if (f->layers + f->tail == 0) return f->remainder == 0;
  bloomery_ribbon_row(f, bloomery_ribbon_hash(f, h), &row);
  return bloomery_ribbon_columns(f, &row, row.words, f->values, row.bits, row.fingerprint, NULL) &&
         bloomery_ribbon_columns(f, &row, row.words, 0, f->values, 0, value);
}

/* guava: m bits, k probes; strategy is 32 or 64. */
typedef struct {
  const uint8_t *words;
  uint64_t m;
  uint32_t k, strategy;
} bloomery_guava;

static inline bool bloomery_guava_has(const bloomery_guava *f, bloomery_key_hash h) {
  uint64_t x = h.lo, by = h.hi;
  if (f->strategy == 32) {
    by = h.lo >> 32;
    x += by;
  }
  for (uint32_t i = 0; i < f->k; i++, x += by) {
    uint64_t at = x & 0x7FFFFFFFFFFFFFFFu;
    if (f->strategy == 32) at = (uint32_t)x >> 31 ? ~(uint32_t)x : (uint32_t)x;
    if (!(bloomery_bit(f->words, at % f->m) & 1)) return false;
  }
  return true;
}

/* spark: m bits, k probes; version is 1 or 2. */
typedef struct {
  const uint8_t *words;
  uint64_t m;
  uint32_t k, version;
} bloomery_spark;

/* Returns the lower half of x with its sign. */
static inline uint64_t bloomery_signed32(uint64_t x) { return ((x & 0xFFFFFFFFu) ^ 0x80000000u) - 0x80000000u; }

static inline bool bloomery_spark_has(const bloomery_spark *f, bloomery_key_hash h) {
  uint64_t x = bloomery_signed32(h.lo) * (f->version == 1 ? 1 : 0x7FFFFFFFu), by = bloomery_signed32(h.lo >> 32);
  for (uint32_t i = 0; i < f->k; i++) {
    uint64_t at = x += by;
    if (f->version == 1) at = bloomery_signed32(at);
    if (at >> 63) at = ~at;
    if (!(bloomery_bit(f->words, at % f->m) & 1)) return false;
  }
  return true;
}

/* bitsandblooms: m bits, k probes. four are the two words of murmur3-x64-128 of the key, then those of the key followed
   by a byte 1. */
static inline bool bloomery_bitsandblooms_has(const bloomery_standard *f, const uint64_t four[4]) {
  for (uint32_t i = 0; i < f->k; i++) {
    uint64_t at = four[i % 2] + i * four[2 + (i + i % 2) % 4 / 2];
    if (!(bloomery_bit(f->bits, at % f->m) & 1)) return false;
  }
  return true;
}

/* dcso: m bits, k probes. */
static inline bool bloomery_dcso_has(const bloomery_standard *f, bloomery_key_hash h) {
  const uint64_t prime = 0xFFFFFFFFFFFFFFC5u;
  uint64_t x = h.lo % prime;
  for (uint32_t i = 0; i < f->k; i++) {
    x = x * 0xFFFFFFFFFFFFFA43u % prime;
    if (!(bloomery_bit(f->bits, x % f->m) & 1)) return false;
  }
  return true;
}

/* redisbloom: the header of the chain with links links, and the bits of all links, bytes bytes in all. */
typedef struct {
  const uint8_t *header, *bits;
  uint64_t bytes;
  uint32_t links;
} bloomery_redisbloom;

static inline bool bloomery_redisbloom_has(const bloomery_redisbloom *f, bloomery_key_hash h) {
  const uint8_t *bits = f->bits + (size_t)f->bytes;
  for (uint32_t i = f->links; i-- > 0;) { /* the last link is the largest */
    const uint8_t *link = f->header + 20 + 53 * (size_t)i;
    uint64_t m = bloomery_load64(link + 8), x = h.lo;
    uint32_t k = bloomery_load32(link + 40);
    bits -= (size_t)(m / 8);
    while (k > 0 && (bloomery_bit(bits, x % m) & 1)) {
      x += h.hi;
      k--;
    }
    if (k == 0) return true;
  }
  return false;
}

/* ---- Other hashes of keys ---- */

static inline void bloomery_sip_round(uint64_t v[4]) {
  v[0] += v[1];
  v[2] += v[3];
  v[1] = bloomery_rotate(v[1], 13) ^ v[0];
  v[3] = bloomery_rotate(v[3], 16) ^ v[2];
  v[0] = bloomery_rotate(v[0], 32);
  v[2] += v[1];
  v[0] += v[3];
  v[1] = bloomery_rotate(v[1], 17) ^ v[2];
  v[3] = bloomery_rotate(v[3], 21) ^ v[0];
  v[2] = bloomery_rotate(v[2], 32);
}

static inline void bloomery_sip_begin(uint64_t v[4], const uint64_t secret[2]) {
  v[0] = secret[0] ^ 0x736F6D6570736575u;
  v[1] = secret[1] ^ 0x646F72616E646F6Du ^ 0xEE;
  v[2] = secret[0] ^ 0x6C7967656E657261u;
  v[3] = secret[1] ^ 0x7465646279746573u;
}

static inline void bloomery_sip_word(uint64_t v[4], uint64_t m) {
  v[3] ^= m;
  bloomery_sip_round(v);
  bloomery_sip_round(v);
  v[0] ^= m;
}

/* Returns the hash of a key of length bytes, the last 0 to 7 of which are in tail. */
static inline bloomery_key_hash bloomery_sip_end(uint64_t v[4], size_t length, uint64_t tail) {
  bloomery_key_hash h;
  size_t i;
  bloomery_sip_word(v, (uint64_t)length << 56 | tail);
  v[2] ^= 0xEE;
  for (i = 0; i < 4; i++) bloomery_sip_round(v);
  h.lo = v[0] ^ v[1] ^ v[2] ^ v[3];
  v[1] ^= 0xDD;
  for (i = 0; i < 4; i++) bloomery_sip_round(v);
  h.hi = v[0] ^ v[1] ^ v[2] ^ v[3];
  return h;
}

/* Returns SipHash-2-4 with 128 bits of output; lo is the first word. secret has its two little-endian words. */
BLOOMERY_APART bloomery_key_hash bloomery_siphash(const uint8_t *key, size_t length, const uint64_t secret[2]) {
  uint64_t v[4];
  size_t i = 0;
  bloomery_sip_begin(v, secret);
  for (; length - i >= 8; i += 8) bloomery_sip_word(v, bloomery_load64(key + i));
  return bloomery_sip_end(v, length, bloomery_load_tail(key + i, length - i));
}

static inline uint64_t bloomery_xxh64_round(uint64_t acc, uint64_t v) {
  return bloomery_rotate(acc + v * BLOOMERY_PRIME64_2, 31) * BLOOMERY_PRIME64_1;
}

/* Returns XXH64 with seed 0. */
BLOOMERY_APART uint64_t bloomery_xxh64(const uint8_t *key, size_t length) {
  uint64_t h = BLOOMERY_PRIME64_5;
  size_t left = length;
  if (left >= 32) {
    uint64_t v[4];
    v[0] = BLOOMERY_PRIME64_1 + BLOOMERY_PRIME64_2;
    v[1] = BLOOMERY_PRIME64_2;
    v[2] = 0;
    v[3] = 0 - BLOOMERY_PRIME64_1;
    for (; left >= 32; left -= 32, key += 32) {
      for (size_t i = 0; i < 4; i++) v[i] = bloomery_xxh64_round(v[i], bloomery_load64(key + 8 * i));
    }
    h = bloomery_rotate(v[0], 1) + bloomery_rotate(v[1], 7) + bloomery_rotate(v[2], 12) + bloomery_rotate(v[3], 18);
    for (size_t i = 0; i < 4; i++) {
      h = (h ^ bloomery_xxh64_round(0, v[i])) * BLOOMERY_PRIME64_1 + BLOOMERY_PRIME64_4;
    }
  }
  h += length;
  for (; left >= 8; left -= 8, key += 8) {
    h = bloomery_rotate(h ^ bloomery_xxh64_round(0, bloomery_load64(key)), 27) * BLOOMERY_PRIME64_1 +
        BLOOMERY_PRIME64_4;
  }
  if (left >= 4) {
    h ^= bloomery_load32(key) * BLOOMERY_PRIME64_1;
    h = bloomery_rotate(h, 23) * BLOOMERY_PRIME64_2 + BLOOMERY_PRIME64_3;
    left -= 4;
    key += 4;
  }
  for (; left > 0; left--, key++) h = bloomery_rotate(h ^ (uint64_t)*key * BLOOMERY_PRIME64_5, 11) * BLOOMERY_PRIME64_1;
  return bloomery_xxh64_mix(h);
}

static inline uint64_t bloomery_murmur3_mix(uint64_t k) {
  k = (k ^ k >> 33) * 0xFF51AFD7ED558CCDu;
  k = (k ^ k >> 33) * 0xC4CEB9FE1A85EC53u;
  return k ^ k >> 33;
}

static inline uint64_t bloomery_murmur3_low(uint64_t k) {
  return bloomery_rotate(k * 0x87C37B91114253D5u, 31) * 0x4CF5AD432745937Fu;
}

static inline uint64_t bloomery_murmur3_high(uint64_t k) {
  return bloomery_rotate(k * 0x4CF5AD432745937Fu, 33) * 0x87C37B91114253D5u;
}

/* Mixes 16 bytes into the state h. */
static inline void bloomery_murmur3_block(uint64_t h[2], const uint8_t *p) {
  h[0] ^= bloomery_murmur3_low(bloomery_load64(p));
  h[0] = (bloomery_rotate(h[0], 27) + h[1]) * 5 + 0x52DCE729;
  h[1] ^= bloomery_murmur3_high(bloomery_load64(p + 8));
  h[1] = (bloomery_rotate(h[1], 31) + h[0]) * 5 + 0x38495AB5;
}

/* Ends the hash of a key of length bytes with its last n bytes, 0 to 15. */
static inline void bloomery_murmur3_end(uint64_t h[2], const uint8_t *tail, size_t n, uint64_t length) {
  uint64_t a = h[0], b = h[1];
  a ^= bloomery_murmur3_low(bloomery_load_tail(tail, n < 8 ? n : 8)) ^ length;
  b ^= bloomery_murmur3_high(n > 8 ? bloomery_load_tail(tail + 8, n - 8) : 0) ^ length;
  a += b;
  b += a;
  a = bloomery_murmur3_mix(a);
  b = bloomery_murmur3_mix(b);
  h[0] = a + b;
  h[1] = b + h[0];
}

/* Sets four to the two words of murmur3-x64-128 of the key with seed 0, then to those of the key followed by a byte
   1. */
BLOOMERY_APART void bloomery_murmur3(const uint8_t *key, size_t length, uint64_t four[4]) {
  uint8_t tail[16];
  uint64_t h[2];
  size_t n = length % 16;
  h[0] = h[1] = 0;
  for (size_t i = 0; i + 16 <= length; i += 16) bloomery_murmur3_block(h, key + i);
  for (size_t i = 0; i < n; i++) tail[i] = key[length - n + i];
  tail[n] = 1;
  four[0] = four[2] = h[0];
  four[1] = four[3] = h[1];
  bloomery_murmur3_end(four, tail, n, length);
  if (n == 15) bloomery_murmur3_block(four + 2, tail);
  bloomery_murmur3_end(four + 2, tail, n == 15 ? 0 : n + 1, (uint64_t)length + 1);
}

static inline uint32_t bloomery_murmur32_word(uint32_t h, uint32_t k) {
  k *= 0xCC9E2D51u;
  h ^= (k << 15 | k >> 17) * 0x1B873593u;
  return (h << 13 | h >> 19) * 5 + 0xE6546B64u;
}

/* Returns MurmurHash3 x86 32 as Spark has it: each of the last 1 to 3 bytes is a word of its own, with its sign. */
BLOOMERY_APART uint32_t bloomery_murmur32(const uint8_t *key, size_t length, uint32_t seed) {
  uint32_t h = seed;
  size_t i = 0;
  for (; length - i >= 4; i += 4) h = bloomery_murmur32_word(h, bloomery_load32(key + i));
  for (; i < length; i++) h = bloomery_murmur32_word(h, (key[i] ^ 0x80u) - 0x80u);
  h ^= (uint32_t)length;
  h = (h ^ h >> 16) * 0x85EBCA6Bu;
  h = (h ^ h >> 13) * 0xC2B2AE35u;
  return h ^ h >> 16;
}

/* Returns MurmurHash64A. */
BLOOMERY_APART uint64_t bloomery_murmur64a(const uint8_t *key, size_t length, uint64_t seed) {
  const uint64_t m = 0xC6A4A7935BD1E995u;
  uint64_t h = seed ^ (uint64_t)length * m;
  for (; length >= 8; length -= 8, key += 8) {
    uint64_t k = bloomery_load64(key) * m;
    h = (h ^ (k ^ k >> 47) * m) * m;
  }
  if (length > 0) h = (h ^ bloomery_load_tail(key, length)) * m;
  h = (h ^ h >> 47) * m;
  return h ^ h >> 47;
}

/* The families, by their numbers in files. */
enum {
  BLOOMERY_STANDARD = 1,
  BLOOMERY_BLOCKED = 2,
  BLOOMERY_FUSE = 3,
  BLOOMERY_PARTITIONED = 4,
  BLOOMERY_BLOCKPARTITIONED = 5,
  BLOOMERY_TWOCHOICE = 6,
  BLOOMERY_RANKINDEXED = 7,
  BLOOMERY_COUNTING = 8,
  BLOOMERY_RIBBON = 10,
  BLOOMERY_GUAVA = 20,
  BLOOMERY_BITSANDBLOOMS = 21,
  BLOOMERY_REDISBLOOM = 22,
  BLOOMERY_SPARK = 23,
  BLOOMERY_DCSO = 24
};

/* The hash functions of keys, by their numbers in files. */
enum {
  BLOOMERY_XXH3 = 1,          /* XXH3-128 with a seed */
  BLOOMERY_SIPHASH = 2,       /* SipHash-2-4-128 with a secret that is not in the file */
  BLOOMERY_XXH64 = 3,         /* XXH64 */
  BLOOMERY_MURMUR3 = 4,       /* MurmurHash3 x64 128 */
  BLOOMERY_MURMUR3_TWICE = 5, /* the same of the key, then of the key followed by a byte 1 */
  BLOOMERY_MURMUR64A = 6,     /* MurmurHash64A, twice */
  BLOOMERY_MURMUR3_X86 = 7,   /* MurmurHash3 x86 32 of Spark, twice */
  BLOOMERY_UINT64 = 8,        /* none: the key is a number of 8 bytes; XXH64 of keys of other lengths */
  BLOOMERY_FNV1 = 9           /* FNV-1 of 64 bits */
};

#ifndef BLOOMERY_QUERIES_ONLY

/* ---- Files ---- */

/* Results of bloomery_open. */
enum {
  BLOOMERY_OK = 0,
  BLOOMERY_BAD_MAGIC,
  BLOOMERY_BAD_VERSION,
  BLOOMERY_BAD_FAMILY,
  BLOOMERY_BAD_HASH,
  BLOOMERY_BAD_CHECKSUM,
  BLOOMERY_CORRUPT,
  BLOOMERY_TRUNCATED,
  BLOOMERY_TOO_LARGE,
  BLOOMERY_NO_SECRET,
  BLOOMERY_WRONG_SECRET,
  BLOOMERY_NEEDS_MEMORY,
  BLOOMERY_BAD_OFFSETS /* of bloomery_has_many_offsets32 and 64 */
};

/* Returns the message of a result of bloomery_open, in English. The text is constant. */
BLOOMERY_APART const char *bloomery_message(int result) {
  switch (result) {
  case BLOOMERY_OK: return "no error";
  case BLOOMERY_BAD_MAGIC: return "not a Bloomery file";
  case BLOOMERY_BAD_VERSION: return "a newer version of Bloomery wrote the file: use a newer bloomery.h";
  case BLOOMERY_BAD_FAMILY:
    return "the filter has an unknown family: use a newer bloomery.h, or Go for one whose keys expire";
  case BLOOMERY_BAD_HASH: return "the filter has an unknown hash function: use a newer bloomery.h";
  case BLOOMERY_BAD_CHECKSUM: return "a checksum does not match, the file is damaged: copy it again";
  case BLOOMERY_CORRUPT: return "the file contradicts itself: build it again";
  case BLOOMERY_TRUNCATED: return "the file ends too early: copy it again";
  case BLOOMERY_TOO_LARGE: return "the filter is too large";
  case BLOOMERY_NO_SECRET: return "the filter was built with a secret: give its 16 bytes";
  case BLOOMERY_WRONG_SECRET: return "the secret is not the one that the filter was built with";
  case BLOOMERY_NEEDS_MEMORY: return "the filter needs memory: give as many bytes as bloomery_memory returns";
  case BLOOMERY_BAD_OFFSETS: return "an offset is negative, less than the one before it, or behind the last byte";
  }
  return "unknown result";
}

/* The bytes of the stack that opening a rankindexed filter has for a bit for each extension. */
#ifndef BLOOMERY_TAKEN
#define BLOOMERY_TAKEN 8192
#endif

/* The types of the values that became keys. */
enum {
  BLOOMERY_KEY_BYTES,
  BLOOMERY_KEY_TEXT,
  BLOOMERY_KEY_INT32,
  BLOOMERY_KEY_UINT32,
  BLOOMERY_KEY_INT64,
  BLOOMERY_KEY_UINT64,
  BLOOMERY_KEY_DATE,
  BLOOMERY_KEY_DECIMAL32,
  BLOOMERY_KEY_DECIMAL64,
  BLOOMERY_KEY_DECIMAL,
  BLOOMERY_KEY_FIXED
};

/* How values became keys: docs/format.md, "Form of the keys". */
typedef struct {
  uint8_t type;  /* BLOOMERY_KEY_BYTES and so on */
  uint8_t scale; /* of a decimal */
  uint8_t width; /* of BLOOMERY_KEY_DECIMAL and BLOOMERY_KEY_FIXED */
  bool trimmed;  /* blanks around keys were removed before the build */
  bool lowered;  /* A to Z were lowered before the build */
} bloomery_form;

/* What the header of a file says. */
typedef struct {
  const char *spec;      /* canonical text in the file, without a zero at the end */
  uint64_t spec_length;  /* bytes, 1 to 512 */
  uint64_t bytes;        /* length of the file */
  uint64_t keys;         /* number of keys */
  uint64_t seed;         /* of BLOOMERY_XXH3, else 0 */
  uint64_t key_check;    /* of BLOOMERY_SIPHASH, else 0 */
  uint64_t allowed;      /* number of keys for which the filter was made exact: it answers false for all of them */
  uint64_t exceptions;   /* how many of these keys would be false positives */
  double fpr_planned;    /* false-positive rate that was planned, above 0 and below 1; 0 if none was */
  uint32_t family;       /* BLOOMERY_STANDARD and so on */
  uint32_t hash;         /* BLOOMERY_XXH3 and so on */
  uint32_t value_bits;   /* bits of the value of a key, 0 without values: see bloomery_get */
  bool counts;           /* the filter counts keys: see bloomery_count */
  bool trimmed;          /* the file is a trimmed filter, which lies in the caller's memory */
  bloomery_form form;    /* of the keys */
} bloomery_header;

/* An open filter. Its fields are private. It points into the file and holds the secret. */
typedef struct {
  bloomery_header header;
  uint64_t secret[2];
  const uint8_t *exceptions; /* the section of exceptions, NULL without */
  bool wide;                 /* the functions with BLOOMERY_WIDE answer */
  union {
    bloomery_standard standard; /* counting, bitsandblooms, dcso too */
    bloomery_blocked blocked;
    bloomery_fuse fuse;
    bloomery_partitioned partitioned;
    bloomery_blockpartitioned blockpartitioned;
    bloomery_twochoice twochoice;
    bloomery_rankindexed rankindexed;
    bloomery_ribbon ribbon;
    bloomery_guava guava;
    bloomery_spark spark;
    bloomery_redisbloom redisbloom;
  } as;
} bloomery_filter;

/* A file while it is opened. */
typedef struct {
  const uint8_t *data;
  uint64_t length;                     /* as the header says */
  uint32_t sections;                   /* 1 to 8, that of the exceptions not counted */
  uint64_t data_at;                    /* offset of the first section */
  uint64_t offset[8], words[8];        /* of each section */
  uint64_t want[3];                    /* words of each section that the spec gives */
  uint32_t wanted;                     /* number of these sections */
  bool exceptions;                     /* one more section follows */
  uint64_t memory;                     /* bytes of memory that the filter needs */
  uint64_t cells;                      /* of a trimmed rankindexed: cells in use */
} bloomery_file;

/* Returns whether the length bytes at p are zero. */
BLOOMERY_APART bool bloomery_zeros(const uint8_t *p, uint64_t length) {
  for (uint64_t i = 0; i < length; i++) {
    if (p[(size_t)i] != 0) return false;
  }
  return true;
}

/* Returns whether bits [from, 8·bytes) of p are zero. */
static inline bool bloomery_zero_end(const uint8_t *p, uint64_t from, uint64_t bytes) {
  uint64_t byte = from / 8;
  if (from % 8 != 0 && p[(size_t)byte++] >> (from % 8) != 0) return false;
  return bloomery_zeros(p + (size_t)byte, bytes - byte);
}

/* Returns whether bits [from, 64·words) of p are zero. */
static inline bool bloomery_zero_bits(const uint8_t *p, uint64_t from, uint64_t words) {
  return bloomery_zero_end(p, from, 8 * words);
}

/* The tables of CRC-32C. Only the first is filled for short files. */
typedef struct {
  uint32_t at[8][256];
  bool all; /* 8 bytes at a time */
} bloomery_crc_tables;

/* Fills the tables for about length bytes. */
static inline void bloomery_crc_begin(bloomery_crc_tables *t, uint64_t length) {
  uint32_t c = 1;
  t->at[0][0] = 0;
  for (uint32_t bit = 128; bit > 0; bit >>= 1) { /* the table is linear: an entry is the sum of those of its bits */
    c = c & 1 ? c >> 1 ^ 0x82F63B78u : c >> 1;
    for (uint32_t i = 0; i < 256; i += 2 * bit) t->at[0][i + bit] = c ^ t->at[0][i];
  }
  t->all = length >= 4096;
  for (uint32_t i = 0; t->all && i < 256; i++) {
    for (uint32_t j = 1; j < 8; j++) t->at[j][i] = t->at[j - 1][i] >> 8 ^ t->at[0][t->at[j - 1][i] & 255];
  }
}

/* Returns the CRC-32C of bytes whose first ones have the checksum crc, followed by length bytes at p. */
BLOOMERY_APART uint32_t bloomery_crc(const bloomery_crc_tables *t, uint32_t crc, const uint8_t *p, uint64_t length) {
  crc = ~crc;
  for (; t->all && length >= 8; length -= 8, p += 8) {
    uint32_t a = crc ^ bloomery_load32(p), b = bloomery_load32(p + 4);
    crc = t->at[7][a & 255] ^ t->at[6][a >> 8 & 255] ^ t->at[5][a >> 16 & 255] ^ t->at[4][a >> 24] ^
          t->at[3][b & 255] ^ t->at[2][b >> 8 & 255] ^ t->at[1][b >> 16 & 255] ^ t->at[0][b >> 24];
  }
  for (; length > 0; length--, p++) crc = crc >> 8 ^ t->at[0][(crc ^ *p) & 255];
  return ~crc;
}

/* ---- Specs: family(name=value,...), names in order ---- */

static inline bool bloomery_is_letter(char c) { return c >= 'a' && c <= 'z'; }

static inline bool bloomery_is_name(const char *s, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (!bloomery_is_letter(s[i]) && (i == 0 || (s[i] != '_' && (s[i] < '0' || s[i] > '9')))) return false;
  }
  return n > 0;
}

static inline bool bloomery_is_value(const char *s, size_t n) {
  for (size_t i = 0; i < n; i++) {
    char c = s[i];
    if (!bloomery_is_letter(c) && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '_' && c != '.' &&
        c != '+' && c != '-') {
      return false;
    }
  }
  return n > 0;
}

/* Returns the number of bytes of s before the first c, or n. */
static inline size_t bloomery_cut(const char *s, size_t n, char c) {
  size_t i = 0;
  while (i < n && s[i] != c) i++;
  return i;
}

/* Compares two texts as bytes: below, equal to or above 0. */
static inline int bloomery_compare(const char *a, size_t a_length, const char *b, size_t b_length) {
  for (size_t i = 0; i < a_length && i < b_length; i++) {
    if (a[i] != b[i]) return (unsigned char)a[i] < (unsigned char)b[i] ? -1 : 1;
  }
  return a_length == b_length ? 0 : a_length < b_length ? -1 : 1;
}

/* A parameter of a spec, and the place of the next one. */
typedef struct {
  const char *name, *value, *next;
  size_t name_length, value_length, left;
} bloomery_parameter;

/* Reads the parameter at p->next, of which p->left bytes are left, with the comma or parenthesis behind it. Returns
   false if none is left. The spec must be valid. */
static inline bool bloomery_next_parameter(bloomery_parameter *p) {
  size_t n;
  if (p->left == 0) return false;
  n = bloomery_cut(p->next, p->left - 1, ',');
  p->name = p->next;
  p->name_length = bloomery_cut(p->name, n, '=');
  p->value = p->name + p->name_length + (p->name_length < n);
  p->value_length = n - p->name_length - (p->name_length < n);
  p->next += n + 1;
  p->left -= n + 1;
  return true;
}

/* Returns the iterator of the parameters of a spec that has some. */
static inline bloomery_parameter bloomery_parameters(const bloomery_header *h) {
  bloomery_parameter p;
  size_t head = bloomery_cut(h->spec, (size_t)h->spec_length, '(');
  p.name = p.value = NULL;
  p.name_length = p.value_length = 0;
  p.left = head < h->spec_length ? (size_t)h->spec_length - head - 1 : 0;
  p.next = h->spec + h->spec_length - p.left;
  return p;
}

/* Returns whether the spec of h is canonical. A spec without parameters is not: no family has such a filter. */
static inline bool bloomery_spec_valid(const bloomery_header *h) {
  bloomery_parameter p = bloomery_parameters(h);
  const char *last = NULL;
  size_t last_length = 0;
  if (p.left == 0 || p.next[p.left - 1] != ')') return false;
  if (!bloomery_is_name(h->spec, (size_t)(p.next - h->spec) - 1)) return false;
  while (bloomery_next_parameter(&p)) {
    if (!bloomery_is_name(p.name, p.name_length) || !bloomery_is_value(p.value, p.value_length)) return false;
    if (last && bloomery_compare(last, last_length, p.name, p.name_length) >= 0) return false;
    last = p.name;
    last_length = p.name_length;
  }
  return last && p.next == h->spec + h->spec_length;
}

static inline size_t bloomery_text_length(const char *text) {
  size_t n = 0;
  while (text[n]) n++;
  return n;
}

static inline bool bloomery_is_text(const char *s, size_t n, const char *text) {
  return bloomery_compare(s, n, text, bloomery_text_length(text)) == 0;
}

/* A reader of the parameters of a spec. */
typedef struct {
  const bloomery_header *header;
  uint32_t read; /* number of parameters that were found */
  bool bad;      /* one of them has a wrong value */
} bloomery_spec;

static inline bloomery_spec bloomery_spec_begin(const bloomery_header *h) {
  bloomery_spec s;
  s.header = h;
  s.read = 0;
  s.bad = false;
  return s;
}

/* Sets *p to a parameter. Returns false if the spec does not have it. Ask for each name once. */
BLOOMERY_APART bool bloomery_spec_find(bloomery_spec *s, const char *name, bloomery_parameter *p) {
  *p = bloomery_parameters(s->header);
  while (bloomery_next_parameter(p)) {
    if (bloomery_is_text(p->name, p->name_length, name)) {
      s->read++;
      return true;
    }
  }
  return false;
}

/* Returns the decimal number in n characters, without a sign or leading zeros. */
static inline uint64_t bloomery_spec_digits(bloomery_spec *s, const char *text, size_t n) {
  uint64_t v = 0;
  if (n == 0 || (n > 1 && text[0] == '0')) s->bad = true;
  for (size_t i = 0; i < n; i++) {
    unsigned digit = (unsigned)((unsigned char)text[i] - '0');
    if (text[i] < '0' || digit > 9 || v > (~(uint64_t)0 - digit) / 10) {
      s->bad = true;
      return 0;
    }
    v = 10 * v + digit;
  }
  return v;
}

/* Returns a parameter, a decimal number without a sign or leading zeros; 0 if the spec does not have it. */
BLOOMERY_APART uint64_t bloomery_spec_number(bloomery_spec *s, const char *name, bool *has) {
  bloomery_parameter p;
  *has = bloomery_spec_find(s, name, &p);
  return *has ? bloomery_spec_digits(s, p.value, p.value_length) : 0;
}

/* Returns a parameter that the spec must have, from least to most. */
static inline uint64_t bloomery_spec_must(bloomery_spec *s, const char *name, uint64_t least, uint64_t most) {
  bool has;
  uint64_t v = bloomery_spec_number(s, name, &has);
  if (!has || v < least || v > most) s->bad = true;
  return v;
}

/* Returns a parameter that the spec may have, from 1 to most; 0 if it does not have it. */
static inline uint64_t bloomery_spec_may(bloomery_spec *s, const char *name, uint64_t most) {
  bool has;
  uint64_t v = bloomery_spec_number(s, name, &has);
  if (has && (v < 1 || v > most)) s->bad = true;
  return v;
}

/* Returns which of two texts a parameter is: 0 or 1. */
static inline uint32_t bloomery_spec_either(bloomery_spec *s, const char *name, const char *zero, const char *one) {
  bloomery_parameter p;
  if (bloomery_spec_find(s, name, &p)) {
    if (bloomery_is_text(p.value, p.value_length, zero)) return 0;
    if (bloomery_is_text(p.value, p.value_length, one)) return 1;
  }
  s->bad = true;
  return 0;
}

/* Returns whether all parameters were read and are good. */
static inline bool bloomery_spec_good(const bloomery_spec *s) {
  bloomery_parameter p = bloomery_parameters(s->header);
  uint32_t n = 0;
  while (bloomery_next_parameter(&p)) n++;
  return !s->bad && n == s->read;
}

/* ---- Geometry: the sizes that follow from the spec. Each function sets those of f, and the words of each section.
   ---- */

#define BLOOMERY_ANY (~(uint64_t)0)

static inline int bloomery_plan_standard(bloomery_filter *f, bloomery_file *file, uint32_t width) {
  bloomery_spec s = bloomery_spec_begin(&f->header);
  bloomery_standard *g = &f->as.standard;
  g->m = bloomery_spec_must(&s, "m", 1, BLOOMERY_ANY);
  g->k = (uint32_t)bloomery_spec_must(&s, "k", 1, 64);
  if (!bloomery_spec_good(&s)) return BLOOMERY_CORRUPT;
  if (g->m >= ((uint64_t)1 << 62) / width) return BLOOMERY_TOO_LARGE;
  file->wanted = 1;
  file->want[0] = (g->m - 1) / (64 / width) + 1;
  return BLOOMERY_OK;
}

static inline int bloomery_plan_blocked(bloomery_filter *f, bloomery_file *file) {
  bloomery_spec s = bloomery_spec_begin(&f->header);
  bloomery_blocked *g = &f->as.blocked;
  g->split = bloomery_spec_either(&s, "layout", "line", "split") != 0;
  g->count = bloomery_spec_must(&s, "blocks", 1, BLOOMERY_ANY);
  g->k = (uint32_t)bloomery_spec_must(&s, "k", g->split ? 8 : 1, g->split ? 8 : 32);
  if (!bloomery_spec_good(&s)) return BLOOMERY_CORRUPT;
  if (g->count >= (uint64_t)1 << 53) return BLOOMERY_TOO_LARGE;
  file->wanted = 1;
  file->want[0] = g->count * (g->split ? 4 : 8);
  return BLOOMERY_OK;
}

static inline int bloomery_plan_fuse(bloomery_filter *f, bloomery_file *file) {
  bloomery_spec s = bloomery_spec_begin(&f->header);
  bloomery_fuse *g = &f->as.fuse;
  g->seed = bloomery_spec_must(&s, "seed", 0, BLOOMERY_ANY);
  g->segment = bloomery_spec_must(&s, "segment", 1, (uint64_t)1 << 18);
  g->segments = bloomery_spec_must(&s, "segments", g->segment > 1 ? 1 : 0, (uint64_t)1 << 32);
  g->width = (uint32_t)bloomery_spec_must(&s, "width", 1, 32);
  if (!bloomery_spec_good(&s) || (g->segment & (g->segment - 1)) != 0 ||
      g->segments > ((uint64_t)1 << 32) / g->segment || (g->segments == 0 && f->header.keys != 0)) {
    return BLOOMERY_CORRUPT;
  }
  file->wanted = 1;
  file->want[0] = (g->segments + 2) * g->segment * g->width / 64 + 2;
  return BLOOMERY_OK;
}

static inline int bloomery_plan_partitioned(bloomery_filter *f, bloomery_file *file) {
  bloomery_spec s = bloomery_spec_begin(&f->header);
  bloomery_partitioned *g = &f->as.partitioned;
  const uint64_t most = (uint64_t)1 << 31;
  g->bits = bloomery_spec_must(&s, "bits", 1, most);
  g->groups = bloomery_spec_must(&s, "groups", 1, most);
  g->k = (uint32_t)bloomery_spec_must(&s, "k", 1, 64);
  g->shards = bloomery_spec_must(&s, "shards", 1, most);
  g->width = (uint32_t)bloomery_spec_must(&s, "width", 0, 5);
  if (!bloomery_spec_good(&s) || g->bits < (uint64_t)1 << g->width || (g->shards > 1 && g->bits < 4096) ||
      (g->width == 0 && g->groups > 1)) {
    return BLOOMERY_CORRUPT;
  }
  if (g->shards * g->groups >= (uint64_t)1 << 50 || g->shards * g->bits >= (uint64_t)1 << 60) return BLOOMERY_TOO_LARGE;
  file->wanted = 3;
  file->want[0] = (g->shards * g->bits + 63) / 64 + 1;
  file->want[1] = (g->shards * g->groups * g->k * g->width + 63) / 64 + 1;
  file->want[2] = 2;
  return BLOOMERY_OK;
}

static inline int bloomery_plan_blockpartitioned(bloomery_filter *f, bloomery_file *file) {
  bloomery_spec s = bloomery_spec_begin(&f->header);
  bloomery_blockpartitioned *g = &f->as.blockpartitioned;
  uint32_t head;
  g->block = (uint32_t)bloomery_spec_must(&s, "block", 512, 1024);
  g->count = bloomery_spec_must(&s, "blocks", 1, BLOOMERY_ANY);
  g->groups = (uint32_t)bloomery_spec_must(&s, "groups", 1, 1024);
  g->k = (uint32_t)bloomery_spec_must(&s, "k", 1, 64);
  g->width = (uint32_t)bloomery_spec_must(&s, "width", 1, 5);
  if (!bloomery_spec_good(&s) || (g->block != 512 && g->block != 1024)) return BLOOMERY_CORRUPT;
  head = g->groups * g->k * g->width;
  if (head > g->block) return BLOOMERY_CORRUPT;
  g->payload = (g->block - head) / 32 * 32;
  if (g->payload < 64) return BLOOMERY_CORRUPT;
  if (g->count >= (uint64_t)1 << 52) return BLOOMERY_TOO_LARGE;
  file->wanted = 2;
  file->want[0] = g->count * (g->block / 64);
  file->want[1] = 2;
  return BLOOMERY_OK;
}

static inline int bloomery_plan_twochoice(bloomery_filter *f, bloomery_file *file) {
  bloomery_spec s = bloomery_spec_begin(&f->header);
  bloomery_twochoice *g = &f->as.twochoice;
  g->choices = (uint32_t)bloomery_spec_must(&s, "choices", 2, 16);
  g->k = (uint32_t)bloomery_spec_must(&s, "k", 1, 64);
  g->shards = bloomery_spec_must(&s, "shards", 1, (uint64_t)1 << 32);
  g->bits = bloomery_spec_must(&s, "bits", g->shards > 1 ? 4096 : g->choices, (uint64_t)1 << 28);
  if (!bloomery_spec_good(&s)) return BLOOMERY_CORRUPT;
  file->wanted = 2;
  file->want[0] = (g->shards * g->bits + 63) / 64 + 1; /* windows are loads of 8 bytes */
  file->want[1] = 2;
  return BLOOMERY_OK;
}

/* Returns the number of bits of v without leading zeros. */
static inline uint32_t bloomery_bit_length(uint64_t v) {
  uint32_t n = 0;
  for (; v > 0; v >>= 1) n++;
  return n;
}

static inline int bloomery_plan_rankindexed(bloomery_filter *f, bloomery_file *file) {
  bloomery_spec s = bloomery_spec_begin(&f->header);
  bloomery_rankindexed *g = &f->as.rankindexed;
  const uint64_t most_keys = (uint64_t)1 << 50, most_records = (uint64_t)1 << 48;
  uint64_t capacity, words = 0, most = 0;
  uint32_t value_bits;
  bool too_many, trimmed;
  g->count[0] = bloomery_spec_must(&s, "buckets", 1, BLOOMERY_ANY);
  capacity = bloomery_spec_must(&s, "capacity", 0, BLOOMERY_ANY);
  g->cells[0] = (uint32_t)bloomery_spec_must(&s, "cells", 1, 1 << 13);
  g->cells[1] = (uint32_t)bloomery_spec_may(&s, "cells2", 1 << 13);
  g->cells[2] = (uint32_t)bloomery_spec_may(&s, "cells3", 1 << 13);
  g->chains = (uint32_t)bloomery_spec_must(&s, "chains", 1, 1 << 14);
  g->counting = bloomery_spec_may(&s, "counting", 1) != 0;
  g->growth = (uint32_t)bloomery_spec_may(&s, "growth", 24);
  g->count[1] = bloomery_spec_may(&s, "pool2", BLOOMERY_ANY);
  g->count[2] = bloomery_spec_may(&s, "pool3", BLOOMERY_ANY);
  g->remainder = (uint32_t)bloomery_spec_must(&s, "remainder", 1, 48);
  file->cells = bloomery_spec_number(&s, "trimmed", &trimmed);
  value_bits = (uint32_t)bloomery_spec_may(&s, "value_bits", 32);
  if (!bloomery_spec_good(&s)) return BLOOMERY_CORRUPT;
  if (g->count[0] > most_records) return BLOOMERY_TOO_LARGE;
  g->payload = g->counting ? 2 : value_bits;
  g->width = g->growth + g->remainder + g->payload;
  too_many = g->growth > 0 && (capacity == 0 || capacity > most_keys >> g->growth);
  if (too_many || g->growth + g->remainder > 48 || (g->counting && value_bits > 0) || g->width > 63) {
    return BLOOMERY_CORRUPT;
  }
  for (uint32_t i = 1; i < 3; i++) {
    if ((g->cells[i] == 0) != (g->count[i] == 0) || g->count[i] > most_records ||
        (i == 2 && g->count[2] > g->count[1])) {
      return BLOOMERY_CORRUPT;
    }
    g->pointer[i - 1] = g->count[i] == 0 ? 0 : bloomery_bit_length(g->count[i]) + g->growth;
    if (g->pointer[i - 1] > 63) return BLOOMERY_CORRUPT;
  }
  g->pointer[2] = 0;
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t bits = (i == 0 ? g->chains : 0) + g->pointer[i] + g->cells[i] * (1 + g->width);
    uint64_t high, low;
    g->stride[i] = g->cells[i] == 0 ? 0 : (bits + 63) / 64 * 8;
    low = bloomery_multiply(g->count[i], g->stride[i] / 8, &high);
    if (high != 0 || low > (uint64_t)1 << 54) return BLOOMERY_TOO_LARGE;
    words += low;
    most += g->count[i] * g->cells[i];
    file->want[i] = low;
  }
  file->wanted = 3;
  f->header.counts = true;
  f->header.value_bits = value_bits;
  f->header.trimmed = trimmed;
  if (!trimmed) { /* a bit for each extension, see bloomery_check_rankindexed */
    uint64_t bytes = (g->count[1] + 7) / 8 + (g->count[2] + 7) / 8;
    file->memory = bytes > BLOOMERY_TAKEN ? bytes : 0;
    return BLOOMERY_OK;
  }
  if (file->cells > most_keys || file->cells > most) return BLOOMERY_CORRUPT;
  file->wanted = 1;
  file->want[0] = (g->count[0] * g->chains + file->cells * (1 + g->width) + 63) / 64;
  file->memory = 8 * words;
  return words > 64 * file->want[0] + ((uint64_t)1 << 17) ? BLOOMERY_TOO_LARGE : BLOOMERY_OK;
}

/* Begins a ribbon filter without layers. */
static inline void bloomery_plan_turn(bloomery_ribbon *g, uint64_t seed) {
  g->layers = 0;
  g->turn = (uint32_t)(11 * BLOOMERY_LAYERS * seed) & 63;
}

/* Adds a layer with the given starts to a ribbon filter whose spec states w, wide and seed. size has the words of the
   solution and the number of buckets, to which those of the layer are added. */
static inline bool bloomery_plan_layer(bloomery_ribbon *g, uint64_t size[2], uint64_t starts, uint64_t w, uint64_t wide,
                                       uint64_t seed) {
  bloomery_layer *l = g->layer + g->layers;
  uint64_t number = g->layers + BLOOMERY_LAYERS * seed, x = number * 0x9E3779B97F4A7C15u, blocks;
  if (g->layers == BLOOMERY_LAYERS || starts == 0 || starts % 64 != 0 || starts > (uint64_t)1 << 48) return false;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  l->multiplier = (x ^ x >> 31) | 1;
  l->starts = starts;
  l->shape = starts < 2048 ? 0 : w == 64 ? 1 : starts < 49152 ? 2 : 3;
  l->word = size[0];
  l->bucket = size[1];
  blocks = starts / 64 + (((starts - 1) >> 18) + 1) * bloomery_shapes[l->shape].words;
  l->wide = (blocks * wide + 1023) / 1024;
  size[0] += blocks * (g->values + g->remainder) + l->wide;
  size[1] += ((starts - 1) >> bloomery_shapes[l->shape].bits) + 1;
  g->layers++;
  return true;
}

static inline int bloomery_plan_ribbon(bloomery_filter *f, bloomery_file *file) {
  bloomery_spec s = bloomery_spec_begin(&f->header);
  bloomery_ribbon *g = &f->as.ribbon;
  bloomery_parameter starts;
  uint64_t w, wide, seed;
  bool layers;
  g->remainder = (uint32_t)bloomery_spec_must(&s, "r", 0, 32);
  seed = bloomery_spec_may(&s, "seed", 65535);
  layers = bloomery_spec_find(&s, "starts", &starts);
  g->tail = (uint32_t)bloomery_spec_may(&s, "tail", 256);
  g->tail_seed = (uint32_t)bloomery_spec_may(&s, "tail_seed", 65535);
  g->values = (uint32_t)bloomery_spec_may(&s, "value_bits", 32);
  w = bloomery_spec_must(&s, "w", 64, 128);
  wide = bloomery_spec_may(&s, "wide", 1023);
  if (!bloomery_spec_good(&s) || g->remainder + g->values == 0 || (wide > 0 && g->remainder == 32) || w % 64 != 0 ||
      (g->tail == 0 && g->tail_seed > 0) || (!layers && seed > 0)) {
    return BLOOMERY_CORRUPT;
  }
  g->extra = wide > 0;
  bloomery_plan_turn(g, seed);
  file->wanted = 3;
  file->want[0] = file->want[1] = 0;
  while (layers) {
    size_t n = bloomery_cut(starts.value, starts.value_length, '-');
    uint64_t count = bloomery_spec_digits(&s, starts.value, n);
    if (s.bad || !bloomery_plan_layer(g, file->want, count, w, wide, seed)) return BLOOMERY_CORRUPT;
    layers = n < starts.value_length;
    starts.value += n + layers;
    starts.value_length -= n + layers;
  }
  file->cells = 2 * file->want[1]; /* bits of the classes */
  file->want[1] = (file->cells + 63) / 64;
  file->want[2] = ((uint64_t)g->tail * (g->values + g->remainder + g->extra) + 63) / 64;
  f->header.value_bits = g->values;
  return BLOOMERY_OK;
}

static inline int bloomery_plan_guava(bloomery_filter *f, bloomery_file *file) {
  bloomery_spec s = bloomery_spec_begin(&f->header);
  bloomery_guava *g = &f->as.guava;
  uint64_t words;
  g->k = (uint32_t)bloomery_spec_must(&s, "k", 1, 255);
  g->strategy = bloomery_spec_either(&s, "strategy", "32", "64") == 0 ? 32 : 64;
  words = bloomery_spec_must(&s, "words", 1, BLOOMERY_ANY);
  if (!bloomery_spec_good(&s)) return BLOOMERY_CORRUPT;
  if (words > 0x7FFFFFFF) return BLOOMERY_TOO_LARGE;
  g->m = 64 * words;
  file->wanted = 1;
  file->want[0] = words;
  return BLOOMERY_OK;
}

static inline int bloomery_plan_spark(bloomery_filter *f, bloomery_file *file) {
  bloomery_spec s = bloomery_spec_begin(&f->header);
  bloomery_spark *g = &f->as.spark;
  uint64_t words;
  g->k = (uint32_t)bloomery_spec_must(&s, "k", 1, 255);
  g->version = (uint32_t)bloomery_spec_must(&s, "version", 1, 2);
  words = bloomery_spec_must(&s, "words", 1, BLOOMERY_ANY);
  if (!bloomery_spec_good(&s)) return BLOOMERY_CORRUPT;
  if (words > 0x7FFFFFFF) return BLOOMERY_TOO_LARGE;
  g->m = 64 * words;
  file->wanted = 1;
  file->want[0] = words;
  return BLOOMERY_OK;
}

/* For dcso, too. */
static inline int bloomery_plan_bitsandblooms(bloomery_filter *f, bloomery_file *file) {
  bloomery_spec s = bloomery_spec_begin(&f->header);
  bloomery_standard *g = &f->as.standard;
  uint64_t length, most = (uint64_t)1 << 62;
  g->m = bloomery_spec_must(&s, "m", 1, BLOOMERY_ANY);
  g->k = (uint32_t)bloomery_spec_must(&s, "k", 1, 255);
  length = f->header.family == BLOOMERY_DCSO ? 0 : bloomery_spec_may(&s, "length", BLOOMERY_ANY);
  if (f->header.family == BLOOMERY_DCSO) bloomery_spec_must(&s, "n", 1, BLOOMERY_ANY);
  if (!bloomery_spec_good(&s) || (length != 0 && length <= g->m)) return BLOOMERY_CORRUPT;
  if (length == 0) length = g->m;
  if (length >= most) return BLOOMERY_TOO_LARGE;
  file->wanted = 1;
  file->want[0] = (length - 1) / 64 + 1;
  file->cells = length;
  return BLOOMERY_OK;
}

static inline int bloomery_plan_redisbloom(bloomery_filter *f, bloomery_file *file) {
  bloomery_spec s = bloomery_spec_begin(&f->header);
  bloomery_redisbloom *g = &f->as.redisbloom;
  uint64_t words;
  g->links = (uint32_t)bloomery_spec_must(&s, "links", 1, 1 << 20);
  words = bloomery_spec_must(&s, "words", 1, ((uint64_t)1 << 56) - 1);
  if (!bloomery_spec_good(&s)) return BLOOMERY_CORRUPT;
  g->bytes = 8 * words;
  file->wanted = 2;
  file->want[0] = (20 + 53 * (uint64_t)g->links + 7) / 8;
  file->want[1] = words;
  return BLOOMERY_OK;
}

/* A family: its name, its number, and the hash function that it needs, 0 for xxh3-128 or siphash-128. */
typedef struct {
  const char *name;
  uint32_t family, hash;
} bloomery_family;

/* Returns a family by its number in files; its name is NULL if there is none. */
static inline bloomery_family bloomery_family_of(uint32_t number) {
  static const bloomery_family list[] = {
      {"standard", BLOOMERY_STANDARD, 0},       {"blocked", BLOOMERY_BLOCKED, 0},
      {"fuse", BLOOMERY_FUSE, 0},               {"partitioned", BLOOMERY_PARTITIONED, 0},
      {"twochoice", BLOOMERY_TWOCHOICE, 0},     {"blockpartitioned", BLOOMERY_BLOCKPARTITIONED, 0},
      {"rankindexed", BLOOMERY_RANKINDEXED, 0}, {"counting", BLOOMERY_COUNTING, 0},
      {"ribbon", BLOOMERY_RIBBON, 0},           {"guava", BLOOMERY_GUAVA, BLOOMERY_MURMUR3},
      {"bitsandblooms", BLOOMERY_BITSANDBLOOMS, BLOOMERY_MURMUR3_TWICE},
      {"redisbloom", BLOOMERY_REDISBLOOM, BLOOMERY_MURMUR64A},
      {"spark", BLOOMERY_SPARK, BLOOMERY_MURMUR3_X86},
      {"dcso", BLOOMERY_DCSO, BLOOMERY_FNV1},
  };
  bloomery_family none = {NULL, 0, 0};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    if (list[i].family == number) return list[i];
  }
  return none;
}

/* Sets the geometry of f, and the sections and the memory that it has. */
BLOOMERY_APART int bloomery_plan(bloomery_filter *f, bloomery_file *file) {
  bloomery_header *h = &f->header;
  bloomery_family family = bloomery_family_of(h->family);
  int result = BLOOMERY_OK;
  bool other = false;
  if (!family.name) return BLOOMERY_BAD_FAMILY;
  if (!bloomery_is_text(h->spec, bloomery_cut(h->spec, (size_t)h->spec_length, '('), family.name)) {
    return BLOOMERY_CORRUPT;
  }
  file->memory = 0;
  file->cells = 0;
  switch (h->family) {
  case BLOOMERY_STANDARD: result = bloomery_plan_standard(f, file, 1); break;
  case BLOOMERY_BLOCKED: result = bloomery_plan_blocked(f, file); break;
  case BLOOMERY_FUSE: result = bloomery_plan_fuse(f, file); break;
  case BLOOMERY_PARTITIONED: result = bloomery_plan_partitioned(f, file); break;
  case BLOOMERY_BLOCKPARTITIONED: result = bloomery_plan_blockpartitioned(f, file); break;
  case BLOOMERY_TWOCHOICE: result = bloomery_plan_twochoice(f, file); break;
  case BLOOMERY_RANKINDEXED: result = bloomery_plan_rankindexed(f, file); break;
  case BLOOMERY_COUNTING: result = bloomery_plan_standard(f, file, 4); break;
  case BLOOMERY_RIBBON: result = bloomery_plan_ribbon(f, file); break;
  case BLOOMERY_GUAVA: result = bloomery_plan_guava(f, file); break;
  case BLOOMERY_DCSO:
  case BLOOMERY_BITSANDBLOOMS: result = bloomery_plan_bitsandblooms(f, file); break;
  case BLOOMERY_REDISBLOOM: result = bloomery_plan_redisbloom(f, file); break;
  case BLOOMERY_SPARK: result = bloomery_plan_spark(f, file); break;
  }
  if (result != BLOOMERY_OK) return result;
  if (h->family == BLOOMERY_COUNTING) h->counts = true;
  if (h->hash == BLOOMERY_XXH64) other = h->family == BLOOMERY_BLOCKED && f->as.blocked.split; /* of Parquet */
  if (h->hash == BLOOMERY_UINT64) other = h->family == BLOOMERY_FUSE;                          /* of FastFilter */
  if (family.hash != 0 ? h->hash != family.hash : h->hash > BLOOMERY_SIPHASH && !other) return BLOOMERY_CORRUPT;
  if (file->sections != file->wanted) return BLOOMERY_CORRUPT;
  for (uint32_t i = 0; i < file->sections; i++) {
    if (file->words[i] != file->want[i]) return BLOOMERY_CORRUPT;
  }
  return BLOOMERY_OK;
}

/* ---- Content: each function sets the pointers of f to the sections and checks what they hold ---- */

static inline const uint8_t *bloomery_section(const bloomery_file *file, uint32_t i) {
  return file->data + (size_t)file->offset[i];
}

static inline bool bloomery_check_counting(const bloomery_filter *f, const bloomery_file *file) {
  const bloomery_standard *g = &f->as.standard;
  uint64_t high, want = bloomery_multiply(f->header.keys, g->k, &high), sum = 0;
  bool stuck = false;
  for (uint64_t i = 0; i < file->words[0]; i++) {
    uint64_t w = bloomery_load64(g->bits + (size_t)(8 * i));
    uint64_t pairs = (w & 0x0F0F0F0F0F0F0F0Fu) + (w >> 4 & 0x0F0F0F0F0F0F0F0Fu);
    sum += pairs * 0x0101010101010101u >> 56;
    stuck |= (w & w >> 1 & w >> 2 & w >> 3 & 0x1111111111111111u) != 0;
  }
  return bloomery_zero_bits(g->bits, 4 * g->m, file->words[0]) && (stuck || (high == 0 && sum == want));
}

/* Checks the counts of a searched filter, which has the given size in bits: later keys, and bits that were set. */
static inline bool bloomery_check_counts(const bloomery_filter *f, const uint8_t *counts, uint64_t bits) {
  uint64_t keys = f->header.keys;
  bool few = f->header.family == BLOOMERY_TWOCHOICE || keys < ((uint64_t)1 << 44) * 1001;
  return few && bloomery_load64(counts) <= keys && bloomery_load64(counts + 8) <= bits;
}

/* Returns whether the bits between the head and the payload of all blocks are 0. */
static inline bool bloomery_check_heads(const bloomery_blockpartitioned *g) {
  uint32_t head = g->groups * g->k * g->width, unused = g->block - g->payload - head;
  for (uint64_t i = 0; unused > 0 && i < g->count; i++) {
    if (bloomery_field(g->blocks + (size_t)(i * (g->block / 8)), head, unused) != 0) return false;
  }
  return true;
}

/* Returns whether bits is the rate of a filter: a float64 above 0 and below 1. */
static inline bool bloomery_is_rate(uint64_t bits) { return bits - 1 < 0x3FF0000000000000u - 1; }

/* Returns whether k is ⌈ln 2 · bits per key⌉. */
static inline bool bloomery_is_probes(uint32_t k, uint64_t bits_per_key) {
  union {
    uint64_t bits;
    double value;
  } v;
  volatile double probes; /* rounded to 64 bits on every machine */
  v.bits = bits_per_key;
  probes = 0.693147180559945 * v.value;
  return k >= 1 && k <= 1075 && probes > (double)(k - 1) && probes <= (double)k;
}

static inline bool bloomery_check_redisbloom(const bloomery_filter *f, const bloomery_file *file) {
  const bloomery_redisbloom *g = &f->as.redisbloom;
  const uint8_t *p = g->header;
  uint64_t end = 20 + 53 * (uint64_t)g->links, keys = 0, bytes = 0;
  uint32_t options = bloomery_load32(p + 12);
  if (bloomery_load32(p + 8) != g->links || (options & ~8u) != 5) return false;
  if (!bloomery_zeros(p + (size_t)end, 8 * file->words[0] - end)) return false;
  for (uint32_t i = 0; i < g->links; i++) {
    const uint8_t *link = p + 20 + 53 * (size_t)i;
    uint64_t m = bloomery_load64(link + 8), added = bloomery_load64(link + 16);
    if (link[52] != 0 || m == 0 || m % 64 != 0 || m / 8 != bloomery_load64(link) || m >= (uint64_t)1 << 62 ||
        !bloomery_is_rate(bloomery_load64(link + 24)) ||
        !bloomery_is_probes(bloomery_load32(link + 40), bloomery_load64(link + 32)) ||
        added > ((uint64_t)1 << 62) - keys || bloomery_load64(link + 44) == 0) {
      return false;
    }
    keys += added;
    bytes += m / 8; /* a sum that is too large does not come back: at most g->bytes + 2^59 */
    if (bytes > g->bytes) return false;
  }
  return bytes == g->bytes && keys == bloomery_load64(p) && keys == f->header.keys;
}

/* Takes extension number of level 1 or 2. taken has a bit for each. Returns false if it does not exist or is taken. */
static inline bool bloomery_claim(const bloomery_rankindexed *g, uint8_t *taken, uint32_t level, uint64_t number) {
  uint8_t *at = taken + (size_t)((level == 1 ? 0 : (g->count[1] + 7) / 8) + number / 8);
  if (number >= g->count[level] || *at >> (number % 8) & 1) return false;
  *at = (uint8_t)(*at | 1u << (number % 8));
  return true;
}

/* A bucket of a rankindexed filter and its extensions. */
typedef struct {
  const uint8_t *record[3];
  uint32_t index[3]; /* first bit of the index in each record */
  uint32_t bits[3];  /* bits of the index */
  uint32_t first[3]; /* first bit of the cells */
  uint32_t levels;   /* 1 to 3 */
} bloomery_bucket;

/* Adds a record to a bucket. */
static inline void bloomery_lengthen(const bloomery_rankindexed *g, bloomery_bucket *b, const uint8_t *record) {
  uint32_t i = b->levels++;
  b->record[i] = record;
  b->index[i] = i == 0 ? 0 : g->pointer[i];
  b->bits[i] = i == 0 ? g->chains + g->cells[0] : g->cells[i];
  b->first[i] = b->bits[i] + g->pointer[i];
}

/* Returns cell c of a bucket that has it. */
static inline uint64_t bloomery_cell(const bloomery_rankindexed *g, const bloomery_bucket *b, uint64_t c) {
  uint32_t i = 0;
  for (; c >= g->cells[i]; i++) c -= g->cells[i];
  return bloomery_field(b->record[i], b->first[i] + c * g->width, g->width);
}

/* Checks that each of the used cells of a bucket is in a chain, and that no cell has a smaller remainder than the one
   before it in its chain. The bucket has as many cells, and used bits of its index are set. */
static inline bool bloomery_check_chains(const bloomery_rankindexed *g, const bloomery_bucket *b, uint64_t used) {
  uint64_t reached = bloomery_ones_below(b->record[0], g->chains); /* cells of the chains up to that of cell c */
  for (uint64_t c = 0; c < reached; c++) {
    uint64_t at = g->chains + c;
    uint32_t i = 0;
    for (; at >= b->bits[i]; i++) at -= b->bits[i];
    if (!(bloomery_bit(b->record[i], b->index[i] + at) & 1)) continue;
    if (bloomery_cell(g, b, reached) >> g->payload < bloomery_cell(g, b, c) >> g->payload) return false;
    reached++;
  }
  return reached == used;
}

/* Checks one bucket: its pointers, its index, its chains and that all unused bits are 0. Adds the additions that its
   cells stand for to *keys. */
static inline bool bloomery_check_bucket(const bloomery_rankindexed *g, uint8_t *taken, const uint8_t *bucket,
                                         uint64_t *keys) {
  bloomery_bucket b;
  uint64_t used = 0, room = 0, before, at, in;
  b.levels = 0;
  bloomery_lengthen(g, &b, bucket);
  for (;;) {
    uint32_t i = b.levels - 1;
    uint64_t to;
    used += bloomery_ones_below(b.record[i], b.index[i] + b.bits[i]) - bloomery_ones_below(b.record[i], b.index[i]);
    before = room;
    room += g->cells[i];
    if (i == 2 || g->pointer[i] == 0) break;
    to = bloomery_field(b.record[i], i == 0 ? b.bits[0] : 0, g->pointer[i]);
    if (to == 0) break;
    if (!bloomery_claim(g, taken, i + 1, to - 1)) return false;
    bloomery_lengthen(g, &b, g->level[i + 1] + (size_t)((to - 1) * g->stride[i + 1]));
  }
  if (used > room || (b.levels > 1 && used <= before)) return false;
  at = g->chains + used; /* no bit of the index from here on is set */
  in = used;             /* no bit behind this number of cells is set */
  for (uint32_t i = 0; i < b.levels; i++) {
    uint64_t bits = at < b.bits[i] ? at : b.bits[i], cells = in < g->cells[i] ? in : g->cells[i];
    if (bloomery_ones_below(b.record[i], b.index[i] + b.bits[i]) !=
            bloomery_ones_below(b.record[i], b.index[i] + bits) ||
        !bloomery_zero_bits(b.record[i], b.first[i] + cells * g->width, g->stride[i] / 8)) {
      return false;
    }
    at -= bits;
    in -= cells;
  }
  if (!bloomery_check_chains(g, &b, used)) return false;
  *keys += used;
  for (uint64_t c = 0; g->counting && c < used; c++) *keys += bloomery_cell(g, &b, c) & 3;
  return true;
}

static inline bool bloomery_check_rankindexed(const bloomery_filter *f, const bloomery_file *file, uint8_t *memory) {
  const bloomery_rankindexed *g = &f->as.rankindexed;
  uint8_t few[BLOOMERY_TAKEN], *taken = file->memory > 0 ? memory : few; /* a bit for each extension: a bucket has it */
  uint64_t keys = 0;
  for (uint64_t i = 0; i < (g->count[1] + 7) / 8 + (g->count[2] + 7) / 8; i++) taken[(size_t)i] = 0;
  for (uint64_t i = 0; i < g->count[0]; i++) {
    if (!bloomery_check_bucket(g, taken, g->level[0] + (size_t)(i * g->stride[0]), &keys)) return false;
  }
  for (uint32_t level = 1; level < 3; level++) { /* free extensions are 0 */
    for (uint64_t i = 0; i < g->count[level]; i++) {
      if (bloomery_claim(g, taken, level, i) &&
          !bloomery_zeros(g->level[level] + (size_t)(i * g->stride[level]), g->stride[level])) {
        return false;
      }
    }
  }
  return keys == f->header.keys;
}

/* Sets bits [at, at+width) of p, which are 0, to v; width is at most 63. */
static inline void bloomery_put(uint8_t *p, uint64_t at, uint32_t width, uint64_t v) {
  for (uint32_t i = 0; i < width; i++) {
    if (v >> i & 1) p[(size_t)((at + i) / 8)] = (uint8_t)(p[(size_t)((at + i) / 8)] | 1u << ((at + i) % 8));
  }
}

/* Expands a trimmed filter into memory, which is 0 and where level points to. The stream has, for each bucket, its base
   index, its higher index and its cells. Buckets take extensions in order. */
static inline bool bloomery_expand(const bloomery_filter *f, const bloomery_file *file, uint8_t *memory) {
  const bloomery_rankindexed *g = &f->as.rankindexed;
  const uint8_t *stream = bloomery_section(file, 0);
  uint64_t at = 0, end = g->count[0] * g->chains + file->cells * (1 + g->width), keys = 0, next[3];
  next[1] = next[2] = 0;
  for (uint64_t number = 0; number < g->count[0]; number++) {
    bloomery_bucket b;
    uint64_t used = 0, room = g->cells[0], index = at, i, left;
    uint32_t r;
    b.levels = 0;
    bloomery_lengthen(g, &b, g->level[0] + (size_t)(number * g->stride[0]));
    if (end - at < g->chains) return false;
    for (i = 0; i < g->chains; i++, at++) used += bloomery_bit(stream, at) & 1;
    for (i = 0; i < used; i++, at++) {
      if (at == end) return false;
      used += bloomery_bit(stream, at) & 1;
    }
    if ((end - at) / g->width < used) return false;
    while (room < used) {
      uint32_t level = b.levels, last = level - 1;
      if (level == 3 || next[level] == g->count[level]) return false;
      bloomery_put(memory + (b.record[last] - memory), last == 0 ? b.bits[0] : 0, g->pointer[last], ++next[level]);
      bloomery_lengthen(g, &b, g->level[level] + (size_t)((next[level] - 1) * g->stride[level]));
      room += g->cells[level];
    }
    for (i = left = 0, r = 0; i < g->chains + used; i++, left++) {
      if (left == b.bits[r]) {
        left = 0;
        r++;
      }
      bloomery_put(memory + (b.record[r] - memory), b.index[r] + left, 1, bloomery_bit(stream, index + i) & 1);
    }
    for (i = left = 0, r = 0; i < used; i++, left++, at += g->width) {
      uint64_t cell = bloomery_field(stream, at, g->width);
      if (left == g->cells[r]) {
        left = 0;
        r++;
      }
      bloomery_put(memory + (b.record[r] - memory), b.first[r] + left * g->width, g->width, cell);
      keys += g->counting ? (cell & 3) + 1 : 1;
    }
    if (!bloomery_check_chains(g, &b, used)) return false;
  }
  return at == end && bloomery_zero_bits(stream, end, file->words[0]) && keys == f->header.keys;
}

static inline bool bloomery_attach_rankindexed(bloomery_filter *f, const bloomery_file *file, uint8_t *memory) {
  bloomery_rankindexed *g = &f->as.rankindexed;
  const uint8_t *at = memory;
  if (!f->header.trimmed) {
    for (uint32_t i = 0; i < 3; i++) g->level[i] = bloomery_section(file, i);
    return bloomery_check_rankindexed(f, file, memory);
  }
  for (uint32_t i = 0; i < 3; i++) {
    g->level[i] = at;
    at += (size_t)(g->count[i] * g->stride[i]);
  }
  for (uint64_t i = 0; i < file->memory; i++) memory[(size_t)i] = 0;
  return bloomery_expand(f, file, memory);
}

/* Sets the exceptions of f to the section behind those of the family, and checks it. */
static inline bool bloomery_attach_exceptions(bloomery_filter *f, const bloomery_file *file) {
  const uint8_t *s = bloomery_section(file, file->sections);
  uint64_t words = file->words[file->sections], levels, left;
  if (words < 3) return false;
  levels = bloomery_load64(s);
  if (levels > 64 || words < 3 + levels) return false;
  f->header.allowed = bloomery_load64(s + 8);
  f->header.exceptions = bloomery_load64(s + 16);
  left = words - 3 - levels;
  for (uint64_t i = 0; i < levels; i++) {
    uint64_t level = bloomery_load64(s + 24 + 8 * (size_t)i), length = level & (((uint64_t)1 << 56) - 1);
    if (length == 0 || length > left || level >> 56 == 0 || level >> 56 > 64) return false;
    left -= length;
  }
  f->exceptions = s;
  return left == 0;
}

/* Returns whether a key that the filter has is absent because of the exceptions: the first level without the key
   decides. */
static inline bool bloomery_excepts(const bloomery_filter *f, bloomery_key_hash h) {
  const uint8_t *s = f->exceptions, *bits;
  uint64_t levels, i = 0;
  if (!s) return false;
  levels = bloomery_load64(s);
  bits = s + 24 + 8 * (size_t)levels;
  for (; i < levels; i++) {
    uint64_t level = bloomery_load64(s + 24 + 8 * (size_t)i), words = level & (((uint64_t)1 << 56) - 1);
    for (uint64_t j = 0; j < level >> 56; j++) {
      uint64_t x = bloomery_fold(h.lo ^ (256 * (i + 3) + j), h.hi ^ BLOOMERY_PRIME64_1);
      x = bloomery_scale(bloomery_fold(x, BLOOMERY_PRIME64_1), 64 * words);
      if (!(bloomery_bit(bits, x) & 1)) return i & 1;
    }
    bits += (size_t)(8 * words);
  }
  return i & 1;
}

/* Sets the pointers of f to the sections of the file and checks their content. */
BLOOMERY_APART bool bloomery_attach(bloomery_filter *f, const bloomery_file *file, uint8_t *memory) {
  const uint8_t *s = bloomery_section(file, 0);
  uint64_t words = file->words[0];
  switch (f->header.family) {
  case BLOOMERY_STANDARD:
    f->as.standard.bits = s;
    return bloomery_zero_bits(s, f->as.standard.m, words);
  case BLOOMERY_BLOCKED:
    f->as.blocked.blocks = s;
    return true;
  case BLOOMERY_FUSE: {
    const bloomery_fuse *g = &f->as.fuse;
    f->as.fuse.slots = s;
    return bloomery_zero_bits(s, (g->segments + 2) * g->segment * g->width, words);
  }
  case BLOOMERY_PARTITIONED: {
    bloomery_partitioned *g = &f->as.partitioned;
    g->bitmap = s;
    g->shifts = bloomery_section(file, 1);
    return bloomery_zero_bits(s, g->shards * g->bits, words) &&
           bloomery_zero_bits(g->shifts, g->shards * g->groups * g->k * g->width, file->words[1]) &&
           bloomery_check_counts(f, bloomery_section(file, 2), g->shards * g->bits);
  }
  case BLOOMERY_BLOCKPARTITIONED:
    f->as.blockpartitioned.blocks = s;
    return bloomery_check_heads(&f->as.blockpartitioned) &&
           bloomery_check_counts(f, bloomery_section(file, 1),
                                 f->as.blockpartitioned.count * f->as.blockpartitioned.payload);
  case BLOOMERY_TWOCHOICE: {
    bloomery_twochoice *g = &f->as.twochoice;
    g->words = s;
    return bloomery_zero_bits(s, g->shards * g->bits, words) &&
           bloomery_check_counts(f, bloomery_section(file, 1), g->shards * g->bits);
  }
  case BLOOMERY_RANKINDEXED: return bloomery_attach_rankindexed(f, file, memory);
  case BLOOMERY_COUNTING: f->as.standard.bits = s; return bloomery_check_counting(f, file);
  case BLOOMERY_RIBBON: {
    bloomery_ribbon *g = &f->as.ribbon;
    g->words = s;
    g->classes = bloomery_section(file, 1);
    g->slots = bloomery_section(file, 2);
    return (f->header.keys == 0) == (g->layers + g->tail == 0) &&
           bloomery_zero_bits(g->classes, file->cells, file->words[1]) &&
           bloomery_zero_bits(g->slots, (uint64_t)g->tail * (g->values + g->remainder + g->extra), file->words[2]);
  }
  case BLOOMERY_GUAVA: f->as.guava.words = s; return true;
  case BLOOMERY_SPARK: f->as.spark.words = s; return true;
  case BLOOMERY_DCSO:
  case BLOOMERY_BITSANDBLOOMS:
    f->as.standard.bits = s;
    return bloomery_zero_bits(s, file->cells, words); /* bits from length on */
  case BLOOMERY_REDISBLOOM:
    f->as.redisbloom.header = s;
    f->as.redisbloom.bits = bloomery_section(file, 1);
    return bloomery_check_redisbloom(f, file);
  }
  return false;
}

/* ---- Opening ---- */

#ifdef __GNUC__
#define BLOOMERY_BODY static inline __attribute__((always_inline))
#define BLOOMERY_FLAT BLOOMERY_APART __attribute__((flatten)) /* with copies of all functions that it calls */
#else
#define BLOOMERY_BODY static inline
#define BLOOMERY_FLAT static inline
#endif

/* Returns whether the processor and the operating system support BLOOMERY_WIDE. */
static inline bool bloomery_wide(void) {
#ifdef BLOOMERY_WIDE
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

static inline uint32_t bloomery_load16(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }

/* Reads the section table. Sections lie one after the other, each at a multiple of 64. */
static inline bool bloomery_read_table(bloomery_file *file, uint64_t length) {
  uint64_t end = file->data_at;
  for (uint32_t i = 0; i < file->sections + file->exceptions; i++) {
    const uint8_t *p = file->data + 64 + 24 * i;
    uint64_t at = bloomery_load64(p), bytes = bloomery_load64(p + 8);
    if (bytes % 8 != 0 || bytes / 8 > (uint64_t)1 << 56 || at != (end + 63) / 64 * 64 || bloomery_load32(p + 20)) {
      return false;
    }
    file->offset[i] = at;
    file->words[i] = bytes / 8;
    end = at + bytes;
  }
  return end == length;
}

/* Reads the form of keys. Returns false if a later program wrote it. */
static inline bool bloomery_read_form(bloomery_form *form, const uint8_t *p) {
  bool decimal = p[1] >= BLOOMERY_KEY_DECIMAL32 && p[1] <= BLOOMERY_KEY_DECIMAL;
  form->trimmed = (p[0] & 1) != 0;
  form->lowered = (p[0] & 2) != 0;
  form->type = p[1];
  form->scale = p[2];
  form->width = p[3];
  return p[0] < 4 && p[1] <= BLOOMERY_KEY_FIXED && (decimal || !p[2]) && bloomery_load32(p + 4) == 0 &&
         (p[3] ? p[1] >= BLOOMERY_KEY_DECIMAL : p[1] != BLOOMERY_KEY_FIXED);
}

/* Reads and checks the header of a file, of which length bytes are there, and its spec. */
BLOOMERY_APART int bloomery_read_header(bloomery_filter *f, bloomery_file *file, const uint8_t *data, uint64_t length,
                                       const bloomery_crc_tables *tables) {
  static const uint8_t magic[8] = {0x89, 'B', 'L', 'M', 'R', 'Y', '\r', '\n'};
  bloomery_header *h = &f->header;
  uint64_t spec_at, spec_end, field;
  uint32_t version;
  union {
    uint64_t bits;
    double value;
  } fpr;
  for (size_t i = 0; i < 8 && i < length; i++) {
    if (data[i] != magic[i]) return BLOOMERY_BAD_MAGIC;
  }
  if (length < 64) return BLOOMERY_TRUNCATED;
  version = bloomery_load16(data + 8);
  if (version == 0) return BLOOMERY_CORRUPT;
  if (version > 1) return BLOOMERY_BAD_VERSION;
  file->data = data;
  file->sections = data[14];
  h->spec_length = bloomery_load32(data + 56);
  if (file->sections < 1 || file->sections > 8 || h->spec_length < 1 || h->spec_length > 512) return BLOOMERY_CORRUPT;
  spec_at = 64 + 24 * (uint64_t)file->sections;
  spec_end = spec_at + h->spec_length;
  file->data_at = (spec_end + 63) / 64 * 64;
  if (length < file->data_at) return BLOOMERY_TRUNCATED;
  if (bloomery_crc(tables, bloomery_crc(tables, 0, data, 60), data + 64, spec_end - 64) != bloomery_load32(data + 60)) {
    return BLOOMERY_BAD_CHECKSUM;
  }
  /* After the checksum, so that damage of these bytes is not taken for a newer version. */
  if (data[15] > 1 || !bloomery_read_form(&h->form, data + 24)) return BLOOMERY_BAD_VERSION;
  file->exceptions = data[15] == 1;
  if (file->exceptions && file->sections == 1) return BLOOMERY_CORRUPT;
  file->sections -= file->exceptions;
  h->family = bloomery_load16(data + 10);
  h->hash = bloomery_load16(data + 12);
  field = bloomery_load64(data + 16);
  h->seed = h->hash == BLOOMERY_XXH3 ? field : 0;
  h->key_check = h->hash == BLOOMERY_SIPHASH ? field : 0;
  h->keys = bloomery_load64(data + 32);
  h->bytes = file->length = bloomery_load64(data + 40);
  h->spec = (const char *)data + spec_at;
  h->allowed = h->exceptions = 0;
  f->exceptions = NULL;
  h->value_bits = 0;
  h->counts = h->trimmed = false;
  fpr.bits = bloomery_load64(data + 48);
  h->fpr_planned = fpr.value;
  if (h->hash < BLOOMERY_XXH3 || h->hash > BLOOMERY_FNV1) return BLOOMERY_BAD_HASH;
  if ((h->hash != BLOOMERY_XXH3 && (h->hash == BLOOMERY_SIPHASH) != (field != 0)) ||
      (fpr.bits != 0 && !bloomery_is_rate(fpr.bits)) ||
      (file->exceptions && h->hash > BLOOMERY_SIPHASH) ||
      !bloomery_zeros(data + (size_t)spec_end, file->data_at - spec_end) || !bloomery_spec_valid(h) ||
      !bloomery_read_table(file, file->length)) {
    return BLOOMERY_CORRUPT;
  }
  return BLOOMERY_OK;
}

/* Sets the two words of the secret of a keyed hash function, and checks them. */
BLOOMERY_APART int bloomery_take_secret(uint64_t words[2], uint32_t hash, uint64_t key_check, const uint8_t *secret) {
  static const char label[] = "bloomery: this sentence is hashed to recognise the secret of a keyed filter, format 1";
  words[0] = words[1] = 0;
  if (hash != BLOOMERY_SIPHASH) return BLOOMERY_OK;
  if (!secret) return BLOOMERY_NO_SECRET;
  words[0] = bloomery_load64(secret);
  words[1] = bloomery_load64(secret + 8);
  if ((bloomery_siphash((const uint8_t *)label, sizeof label - 1, words).hi | 1) != key_check) {
    return BLOOMERY_WRONG_SECRET;
  }
  return BLOOMERY_OK;
}

/* Returns the number of bytes of memory that bloomery_open_in needs for the file: 0 for most, or if its header is
   damaged. A trimmed rankindexed filter needs memory for the whole filter, at most 64 times the file + 1 MiB. Another
   rankindexed filter needs memory if it has more than about 65,000 extensions, as one of 20 million keys may: a bit for
   each extension, and only while it is opened. Returns SIZE_MAX if the number is larger. */
BLOOMERY_APART size_t bloomery_memory(const void *data, size_t length) {
  bloomery_filter f;
  bloomery_file file;
  bloomery_crc_tables tables;
  bloomery_crc_begin(&tables, 0);
  if (bloomery_read_header(&f, &file, (const uint8_t *)data, length, &tables) != BLOOMERY_OK) return 0;
  if (bloomery_plan(&f, &file) != BLOOMERY_OK) return 0;
  return file.memory < SIZE_MAX ? (size_t)file.memory : SIZE_MAX;
}

/* Opens the filter file in the length bytes at data, which must be the whole file. Checks everything: header, spec,
   sizes, checksums, padding and the content of all sections, so that no query reads beyond them. secret has 16 bytes,
   or is NULL; it is used only if the hash is BLOOMERY_SIPHASH. memory has memory_length bytes, at least
   bloomery_memory(data, length), of any alignment; it may be NULL if that is 0.

   Returns BLOOMERY_OK or another result, with which f must not be used. data, and for a trimmed filter memory, must not
   change or move while f is in use. Allocates nothing; the stack needs 20 KiB. */
BLOOMERY_APART int bloomery_open_in(bloomery_filter *f, const void *data, size_t length, const uint8_t *secret,
                                   void *memory, size_t memory_length) {
  bloomery_file file;
  bloomery_crc_tables tables;
  const uint8_t *p = (const uint8_t *)data;
  uint64_t end;
  int result;
  bloomery_crc_begin(&tables, length);
  result = bloomery_read_header(f, &file, p, length, &tables);
  if (result == BLOOMERY_OK) result = bloomery_plan(f, &file);
  if (result == BLOOMERY_OK) result = bloomery_take_secret(f->secret, f->header.hash, f->header.key_check, secret);
  if (result != BLOOMERY_OK) return result;
  if (file.length > length) return BLOOMERY_TRUNCATED;
  if (file.length < length) return BLOOMERY_CORRUPT;
  if (file.memory > memory_length) return BLOOMERY_NEEDS_MEMORY;
  end = file.data_at;
  for (uint32_t i = 0; i < file.sections + file.exceptions; i++) {
    const uint8_t *section = bloomery_section(&file, i);
    if (!bloomery_zeros(p + (size_t)end, file.offset[i] - end)) return BLOOMERY_CORRUPT;
    if (bloomery_crc(&tables, 0, section, 8 * file.words[i]) != bloomery_load32(p + 64 + 24 * i + 16)) {
      return BLOOMERY_BAD_CHECKSUM;
    }
    end = file.offset[i] + 8 * file.words[i];
  }
  if (file.exceptions && !bloomery_attach_exceptions(f, &file)) return BLOOMERY_CORRUPT;
  f->wide = bloomery_wide() && f->header.family != BLOOMERY_BITSANDBLOOMS &&
            (f->header.family != BLOOMERY_FUSE || f->as.fuse.segments > 0); /* else bloomery_family_has says no */
  return bloomery_attach(f, &file, (uint8_t *)memory) ? BLOOMERY_OK : BLOOMERY_CORRUPT;
}

/* bloomery_open_in without memory, for all filters for which bloomery_memory is 0. */
static inline int bloomery_open(bloomery_filter *f, const void *data, size_t length, const uint8_t *secret) {
  return bloomery_open_in(f, data, length, secret, NULL, 0);
}

/* ---- Keys. All functions read f only, so that any number of threads may call them at once. ---- */

/* Returns what the header of the file says. */
static inline const bloomery_header *bloomery_info(const bloomery_filter *f) { return &f->header; }

/* Returns the hash of a key of length bytes. key may be NULL if length is 0. */
BLOOMERY_FLAT bloomery_key_hash bloomery_hash(const bloomery_filter *f, const void *key, size_t length) {
  static const uint8_t none[1] = {0};
  const uint8_t *p = length > 0 ? (const uint8_t *)key : none;
  bloomery_key_hash h;
  uint64_t four[4];
  switch (f->header.hash) {
  case BLOOMERY_SIPHASH: return bloomery_siphash(p, length, f->secret);
  case BLOOMERY_XXH64:
  case BLOOMERY_UINT64:
    h.lo = f->header.hash == BLOOMERY_UINT64 && length == 8 ? bloomery_load64(p) : bloomery_xxh64(p, length);
    h.hi = h.lo >> 32 << 32;
    return h;
  case BLOOMERY_MURMUR3:
  case BLOOMERY_MURMUR3_TWICE:
    bloomery_murmur3(p, length, four);
    h.lo = four[0];
    h.hi = f->header.hash == BLOOMERY_MURMUR3 ? four[1] : four[3];
    return h;
  case BLOOMERY_MURMUR64A:
    h.lo = bloomery_murmur64a(p, length, 0xC6A4A7935BD1E995u);
    h.hi = bloomery_murmur64a(p, length, h.lo);
    return h;
  case BLOOMERY_MURMUR3_X86:
    h.lo = bloomery_murmur32(p, length, 0);
    h.hi = (uint64_t)bloomery_murmur32(p, length, (uint32_t)h.lo) << 32;
    h.lo |= h.hi;
    return h;
  case BLOOMERY_FNV1:
    h.lo = 0xCBF29CE484222325u;
    for (size_t i = 0; i < length; i++) h.lo = h.lo * 0x100000001B3u ^ p[i];
    h.hi = h.lo >> 32 << 32;
    return h;
  }
  return bloomery_xxh3(p, length, f->header.seed);
}

/* Returns whether the filter has a key, without its exceptions. Within bloomery_has_hash, GCC 12 would store the two
   words of the hash and load them as one vector, which waits for all queries before. */
BLOOMERY_APART bool bloomery_family_has(const bloomery_filter *f, bloomery_key_hash h) {
  switch (f->header.family) {
  case BLOOMERY_STANDARD: return bloomery_standard_has(&f->as.standard, h);
  case BLOOMERY_BLOCKED: return bloomery_blocked_has(&f->as.blocked, h);
  case BLOOMERY_FUSE: return f->as.fuse.segments != 0 && bloomery_fuse_has(&f->as.fuse, h);
  case BLOOMERY_PARTITIONED: return bloomery_partitioned_has(&f->as.partitioned, h);
  case BLOOMERY_BLOCKPARTITIONED: return bloomery_blockpartitioned_has(&f->as.blockpartitioned, h);
  case BLOOMERY_TWOCHOICE: return bloomery_twochoice_has(&f->as.twochoice, h);
  case BLOOMERY_RANKINDEXED: return bloomery_rankindexed_has(&f->as.rankindexed, h);
  case BLOOMERY_COUNTING: return bloomery_counting_has(&f->as.standard, h);
  case BLOOMERY_RIBBON: return bloomery_ribbon_has(&f->as.ribbon, h);
  case BLOOMERY_GUAVA: return bloomery_guava_has(&f->as.guava, h);
  case BLOOMERY_SPARK: return bloomery_spark_has(&f->as.spark, h);
  case BLOOMERY_REDISBLOOM: return bloomery_redisbloom_has(&f->as.redisbloom, h);
  case BLOOMERY_DCSO: return bloomery_dcso_has(&f->as.standard, h);
  case BLOOMERY_BITSANDBLOOMS: {
    const bloomery_standard *g = &f->as.standard;
    for (uint32_t i = 0; i < g->k; i += 2 + (i & 2)) { /* probes of the first and the last word: 0, 2, 6, 10, ... */
      if (!(bloomery_bit(g->bits, (h.lo + i * h.hi) % g->m) & 1)) return false;
    }
    return true;
  }
  }
  return false;
}

/* bloomery_has for the result of bloomery_hash. Do not use it for BLOOMERY_BITSANDBLOOMS, whose filters need the key:
   it tests only half of its probes there. */
BLOOMERY_APART bool bloomery_has_hash(const bloomery_filter *f, bloomery_key_hash h) {
  return bloomery_family_has(f, h) && !bloomery_excepts(f, h);
}

/* ---- Single queries with AVX2 and BMI2. The functions above are the specification. ---- */

#ifdef BLOOMERY_WIDE

/* bloomery_blocked_has for a block of 32 bytes. */
BLOOMERY_BODY BLOOMERY_WIDE bool bloomery_wide_split(const uint8_t *block, uint64_t lo) {
  __m256i salts = _mm256_loadu_si256((const __m256i *)(const void *)bloomery_salts);
  __m256i at = _mm256_srli_epi32(_mm256_mullo_epi32(_mm256_set1_epi32((int)(uint32_t)lo), salts), 27);
  __m256i bits = _mm256_sllv_epi32(_mm256_set1_epi32(1), at);
  return _mm256_testc_si256(_mm256_loadu_si256((const __m256i *)(const void *)block), bits) != 0;
}

/* bloomery_has for standard, blocked and fuse. Others gain nothing from it. */
BLOOMERY_FLAT BLOOMERY_WIDE bool bloomery_wide_has(const bloomery_filter *f, const uint8_t *key, size_t length) {
  bloomery_key_hash h;
  if (f->header.hash == BLOOMERY_XXH3) {
    h = bloomery_xxh3(key, length, f->header.seed);
  } else {
    h = bloomery_hash(f, key, length);
  }
  if (f->exceptions) return bloomery_has_hash(f, h);
  switch (f->header.family) {
  case BLOOMERY_BLOCKED: {
    const bloomery_blocked *g = &f->as.blocked;
    if (g->split) return bloomery_wide_split(g->blocks + bloomery_scale(h.hi, g->count) * 32, h.lo);
    return bloomery_blocked_has(g, h);
  }
  case BLOOMERY_STANDARD: return bloomery_standard_has(&f->as.standard, h);
  }
  return bloomery_fuse_has(&f->as.fuse, h);
}

#endif

/* Returns whether the key of length bytes may be in the filter: always true for a key that is, and for others with the
   false-positive rate of the filter. */
static inline bool bloomery_has(const bloomery_filter *f, const void *key, size_t length) {
  static const uint8_t none[1] = {0};
  uint64_t four[4];
#ifdef BLOOMERY_WIDE
  if (f->wide && f->header.family <= BLOOMERY_FUSE) {
    return bloomery_wide_has(f, length > 0 ? (const uint8_t *)key : none, length);
  }
#endif
  if (f->header.family != BLOOMERY_BITSANDBLOOMS) return bloomery_has_hash(f, bloomery_hash(f, key, length));
  bloomery_murmur3(length > 0 ? (const uint8_t *)key : none, length, four);
  return bloomery_bitsandblooms_has(&f->as.standard, four);
}

/* Returns how often the key was added, or more. 0 if it is absent or the filter does not count. A counting filter
   returns 15 if it no longer knows the number. */
static inline uint64_t bloomery_count(const bloomery_filter *f, const void *key, size_t length) {
  bloomery_key_hash h = bloomery_hash(f, key, length);
  if (bloomery_excepts(f, h)) return 0;
  switch (f->header.family) {
  case BLOOMERY_RANKINDEXED: return bloomery_rankindexed_count(&f->as.rankindexed, h);
  case BLOOMERY_COUNTING: return bloomery_counting_count(&f->as.standard, h);
  }
  return 0;
}

/* Sets *value to the value of the key, 0 if it was added without one. Returns false, and sets 0, if the key is absent
   or the filter has no values. A ribbon filter with r=0 takes each key for present, with some value. */
static inline bool bloomery_get(const bloomery_filter *f, const void *key, size_t length, uint64_t *value) {
  bloomery_key_hash h = bloomery_hash(f, key, length);
  *value = 0;
  if (f->header.value_bits == 0 || bloomery_excepts(f, h)) return false;
  if (f->header.family == BLOOMERY_RIBBON) return bloomery_ribbon_get(&f->as.ribbon, h, value);
  return bloomery_rankindexed_get(&f->as.rankindexed, h, value);
}

/* Writes the key of an integer to key: its eight bytes, little endian. A negative integer is its two's complement. */
static inline void bloomery_integer(uint8_t key[8], uint64_t n) {
#ifdef BLOOMERY_COPY_LOADS
  n = BLOOMERY_FROM_LITTLE64(n);
  __builtin_memcpy(key, &n, 8); /* one store: a load of words that follows waits for several */
#else
  for (int i = 0; i < 8; i++) key[i] = (uint8_t)(n >> 8 * i);
#endif
}

/* The bytes of the key of a value: n bytes at bytes, which are the text itself or room. */
typedef struct {
  const uint8_t *bytes;
  size_t n;
  uint8_t room[256];
} bloomery_key;

/* Makes key of a number of digits times 10^scale, in width bytes, or with width 0 in the fewest. A decimal may have a
   point. big: big endian; with_sign: in two's complement. Returns false if there is no such key. */
BLOOMERY_APART bool bloomery_number_key(bloomery_key *key, const char *text, size_t length, uint8_t scale, size_t width,
                                       bool decimal, bool big, bool with_sign) {
  uint8_t number[256] = {0}; /* the magnitude, little endian */
  bool negative = length > 0 && text[0] == '-', digits = false, point = false;
  size_t used = 1, after = 0, dot = 0, i = length > 0 && (text[0] == '-' || (text[0] == '+' && with_sign)) ? 1 : 0;
  while (decimal && dot < length && text[dot] != '.') dot++;
  while (decimal && length > dot && text[length - 1] == '0') length--;
  for (; i < length || after < scale; i++) {
    uint32_t carry = 0;
    if (i < length && text[i] == '.' && decimal && !point) {
      point = true;
      continue;
    }
    if (i < length) {
      if (text[i] < '0' || text[i] > '9' || (point && after == scale)) return false;
      carry = (uint32_t)(text[i] - '0');
      digits = true;
    }
    after += point || i >= length;
    for (size_t j = 0; j < used; j++) {
      carry += 10 * (uint32_t)number[j];
      number[j] = (uint8_t)carry;
      carry >>= 8;
    }
    if (carry) {
      if (used == 255) return false;
      number[used++] = (uint8_t)carry;
    }
  }
  if (!digits || (negative && !with_sign)) return false;
  if (negative) {
    uint32_t carry = 1;
    for (i = 0; i < 256; i++) {
      carry += (uint8_t)~number[i];
      number[i] = (uint8_t)carry;
      carry >>= 8;
    }
  }
  /* The fewest bytes: those above have only the sign. */
  for (used = 255; used > 1; used--) {
    uint8_t sign = number[255];
    if (number[used - 1] != sign || (with_sign && (number[used - 2] ^ sign) & 128)) break;
  }
  if (width > 0 && used > width) return false;
  key->n = width > 0 ? width : used;
  for (i = 0; i < key->n; i++) key->room[i] = number[big ? key->n - 1 - i : i];
  key->bytes = key->room;
  return true;
}

/* Makes key of a date, such as 2026-11-29: the days since 1970-01-01. */
BLOOMERY_APART bool bloomery_date_key(bloomery_key *key, const char *text, size_t length) {
  static const uint8_t months[12] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int64_t part[3] = {0, 0, 0}, year, days;
  size_t which = 0;
  if (length != 10 || text[4] != '-' || text[7] != '-') return false;
  for (size_t i = 0; i < 10; i++) {
    if (i == 4 || i == 7) {
      which++;
    } else if (text[i] < '0' || text[i] > '9') {
      return false;
    } else {
      part[which] = 10 * part[which] + text[i] - '0';
    }
  }
  year = part[0];
  if (part[1] < 1 || part[1] > 12 || part[2] < 1 || part[2] > months[part[1] - 1]) return false;
  if (part[1] == 2 && part[2] == 29 && (year % 4 != 0 || (year % 100 == 0 && year % 400 != 0))) return false;
  /* Years that begin in March, in cycles of 400 years, of 146,097 days. */
  year += 400 - (part[1] <= 2);
  days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * ((part[1] + 9) % 12) + 2) / 5 + part[2] - 1;
  days -= 719468 + 146097;
  for (size_t i = 0; i < 4; i++) key->room[i] = (uint8_t)((uint64_t)days >> 8 * i);
  key->bytes = key->room;
  key->n = 4;
  return true;
}

/* Makes the key of a value in text form, such as 12, 12.50 or 2026-11-29, by the form of a filter: docs/format.md,
   "Form of the keys". For BLOOMERY_KEY_BYTES and BLOOMERY_KEY_TEXT it is the text. Returns false if the type has no
   such value: no filter has it. */
static inline bool bloomery_text_key(const bloomery_form *form, const char *text, size_t length, bloomery_key *key) {
  bool decimal = form->type >= BLOOMERY_KEY_DECIMAL32;
  switch (form->type) {
  case BLOOMERY_KEY_DATE: return bloomery_date_key(key, text, length);
  case BLOOMERY_KEY_INT32:
  case BLOOMERY_KEY_DECIMAL32: return bloomery_number_key(key, text, length, form->scale, 4, decimal, false, true);
  case BLOOMERY_KEY_INT64:
  case BLOOMERY_KEY_DECIMAL64: return bloomery_number_key(key, text, length, form->scale, 8, decimal, false, true);
  case BLOOMERY_KEY_UINT32: return bloomery_number_key(key, text, length, 0, 4, false, false, false);
  case BLOOMERY_KEY_UINT64: return bloomery_number_key(key, text, length, 0, 8, false, false, false);
  case BLOOMERY_KEY_DECIMAL:
    return bloomery_number_key(key, text, length, form->scale, form->width, true, true, true);
  }
  key->bytes = (const uint8_t *)text;
  key->n = length;
  return form->type != BLOOMERY_KEY_FIXED || length == form->width;
}

/* Makes the key of an integer: eight bytes, little endian, or as the type of the form says. A negative integer is its
   two's complement, but the decimal digits for BLOOMERY_KEY_TEXT and the unsigned types have no sign. For
   BLOOMERY_KEY_DATE it is a number of days. Returns false if the type has no such value. */
static inline bool bloomery_integer_key(const bloomery_form *form, uint64_t n, bloomery_key *key) {
  char digits[20];
  size_t at = sizeof digits;
  bool negative = n >> 63 != 0 && form->type != BLOOMERY_KEY_TEXT && form->type != BLOOMERY_KEY_UINT32;
  bloomery_form as = *form;
  key->bytes = key->room;
  key->n = 8;
  bloomery_integer(key->room, n);
  if (form->type == BLOOMERY_KEY_BYTES || form->type == BLOOMERY_KEY_INT64 || form->type == BLOOMERY_KEY_UINT64) {
    return true;
  }
  if (form->type == BLOOMERY_KEY_FIXED) return false;
  if (negative) n = 0 - n;
  do {
    digits[--at] = (char)('0' + n % 10);
  } while (n /= 10);
  if (negative) digits[--at] = '-';
  if (form->type == BLOOMERY_KEY_DATE) as.type = BLOOMERY_KEY_INT32;
  if (!bloomery_text_key(&as, digits + at, sizeof digits - at, key)) return false;
  if (key->bytes != key->room) { /* the digits leave the stack */
    for (size_t i = 0; i < key->n; i++) key->room[i] = key->bytes[i];
    key->bytes = key->room;
  }
  return true;
}

/* bloomery_has for the key of an integer. */
static inline bool bloomery_has_integer(const bloomery_filter *f, uint64_t n) {
  bloomery_key key;
  return bloomery_integer_key(&f->header.form, n, &key) && bloomery_has(f, key.bytes, key.n);
}

/* bloomery_has for the key of a value in text form. */
static inline bool bloomery_has_text(const bloomery_filter *f, const char *text, size_t length) {
  bloomery_key key;
  return bloomery_text_key(&f->header.form, text, length, &key) && bloomery_has(f, key.bytes, key.n);
}

/* Returns the shard of a key in a set of 1 to 2^20 shards, from any filter of the set (routing 1): the key is
   in no other shard. */
static inline uint64_t bloomery_shard(const bloomery_filter *f, const void *key, size_t length, uint64_t shards) {
  return bloomery_route(bloomery_hash(f, key, length), shards);
}

/* ---- Batches ---- */

/* A batch is queried in blocks of BLOOMERY_MANY keys. A block is hashed in groups of BLOOMERY_FEW, whose places in the
   filter are prefetched, then queried. Both are multiples of 4. */
#define BLOOMERY_MANY 128
#define BLOOMERY_FEW 32

/* The distance in bytes at which keys are prefetched. Without it, hashing 32 MB of keys takes three times as long on
   machines whose processor does not prefetch by itself. */
#define BLOOMERY_AHEAD 1024

/* Prefetches the byte at an address, which need not exist. */
#ifdef __GNUC__
#define BLOOMERY_PREFETCH(address) __builtin_prefetch((const void *)(address))
#else
#define BLOOMERY_PREFETCH(address) ((void)(address))
#endif

/* Keys of a batch. Key i has the bytes [offsets[i], offsets[i+1]), or those from i·width on if there are no offsets. */
typedef struct {
  const uint8_t *bytes;
  const int32_t *offsets32;
  const int64_t *offsets64;
  size_t width;
} bloomery_keys;

/* The ways in which keys are given. Functions that take one are compiled for each. */
enum { BLOOMERY_WIDTH, BLOOMERY_OFFSETS32, BLOOMERY_OFFSETS64 };

/* A block of keys: their hashes and, in some families, where they are in the filter. */
typedef struct {
  uint64_t hi[BLOOMERY_MANY], lo[BLOOMERY_MANY], at[BLOOMERY_MANY];
} bloomery_batch;

/* Returns whether none of n+1 offsets is less than the one before it. */
static inline bool bloomery_ordered32(const int32_t *offsets, size_t n) {
  bool bad = false;
  for (size_t i = 0; i < n; i++) bad |= offsets[i] > offsets[i + 1];
  return !bad;
}

/* The same for offsets of 64 bits. */
static inline bool bloomery_ordered64(const int64_t *offsets, size_t n) {
  bool bad = false;
  for (size_t i = 0; i < n; i++) bad |= offsets[i] > offsets[i + 1];
  return !bad;
}

/* Returns where key i begins; the end of the last key for i = n. */
BLOOMERY_BODY size_t bloomery_key_start(const bloomery_keys *keys, int way, size_t i) {
  if (way == BLOOMERY_OFFSETS32) return (size_t)keys->offsets32[i];
  if (way == BLOOMERY_OFFSETS64) return (size_t)keys->offsets64[i];
  return i * keys->width;
}

/* Sets h to the XXH3-128 of the n keys from key i on. */
BLOOMERY_BODY void bloomery_xxh3_keys(const bloomery_keys *keys, int way, uint64_t seed, size_t i, size_t n,
                                      uint64_t *hi, uint64_t *lo) {
  size_t start = bloomery_key_start(keys, way, i);
  for (size_t k = 0; k < n; k++) {
    size_t end = bloomery_key_start(keys, way, i + k + 1);
    bloomery_key_hash h;
    BLOOMERY_PREFETCH((uintptr_t)keys->bytes + start + BLOOMERY_AHEAD);
    h = bloomery_xxh3(keys->bytes + start, end - start, seed);
    hi[k] = h.hi;
    lo[k] = h.lo;
    start = end;
  }
}

/* The same for any hash function. */
BLOOMERY_APART void bloomery_hash_other(const bloomery_filter *f, const bloomery_keys *keys, int way, size_t i,
                                        size_t n, uint64_t *hi, uint64_t *lo) {
  for (size_t k = 0; k < n; k++) {
    size_t start = bloomery_key_start(keys, way, i + k), end = bloomery_key_start(keys, way, i + k + 1);
    bloomery_key_hash one = bloomery_hash(f, keys->bytes + start, end - start);
    hi[k] = one.hi;
    lo[k] = one.lo;
  }
}

/* Finds where keys [from, to) of a block are in the filter, and prefetches that. */
BLOOMERY_BODY void bloomery_find(const bloomery_filter *f, bloomery_batch *b, size_t from, size_t to) {
  if (f->header.family == BLOOMERY_BLOCKED) {
    bloomery_blocked own = f->as.blocked;
    uint64_t size = own.split ? 32 : 64;
    for (size_t i = from; i < to; i++) {
      uint64_t at = bloomery_scale(b->hi[i], own.count) * size;
      BLOOMERY_PREFETCH(own.blocks + (size_t)at);
      b->at[i] = at;
    }
  } else if (f->header.family == BLOOMERY_FUSE) { /* prefetching its three lines takes longer than waiting for them */
    uint64_t seed = f->as.fuse.seed;
    for (size_t i = from; i < to; i++) b->at[i] = bloomery_fuse_mix(b->lo[i] + seed);
  } else if (f->header.family == BLOOMERY_RIBBON && f->as.ribbon.layers > 0) {
    const uint8_t *words = f->as.ribbon.words;
    uint64_t columns = f->as.ribbon.values + f->as.ribbon.remainder;
    bloomery_layer layer = f->as.ribbon.layer[0];
    uint32_t shape = bloomery_shapes[layer.shape].words;
    for (size_t i = from; i < to; i++) {
      uint64_t at = bloomery_scale(b->hi[i] * layer.multiplier, layer.starts);
      const uint8_t *first = words + (size_t)(8 * bloomery_ribbon_word(&layer, shape, columns, at));
      BLOOMERY_PREFETCH(first);
      BLOOMERY_PREFETCH((uintptr_t)first + 64);
      b->at[i] = at;
    }
  }
}

/* Hashes keys [from, to) of a block that begins with key i, and finds them. */
BLOOMERY_FLAT void bloomery_hash_many(const bloomery_filter *f, const bloomery_keys *keys, int way, size_t i,
                                      bloomery_batch *b, size_t from, size_t to) {
  bloomery_keys own = *keys;
  uint64_t seed = f->header.seed, *hi = b->hi + from, *lo = b->lo + from;
  size_t n = to - from;
  i += from;
  if (f->header.hash != BLOOMERY_XXH3) {
    bloomery_hash_other(f, keys, way, i, n, hi, lo);
  } else if (way == BLOOMERY_WIDTH) {
    bloomery_xxh3_keys(&own, BLOOMERY_WIDTH, seed, i, n, hi, lo);
  } else if (way == BLOOMERY_OFFSETS32) {
    bloomery_xxh3_keys(&own, BLOOMERY_OFFSETS32, seed, i, n, hi, lo);
  } else {
    bloomery_xxh3_keys(&own, BLOOMERY_OFFSETS64, seed, i, n, hi, lo);
  }
  bloomery_find(f, b, from, to);
}

/* Each function below sets out[i] to 1 if the filter may have key i of a block, else to 0. */

/* Tests n probes, 1 to 3, of count keys, whose numbers are in at. Leaves those in at whose bits are set, and returns
   how many. x has the state of each key of the block. No branch depends on a bit. */
BLOOMERY_BODY size_t bloomery_probe_round(const bloomery_standard *f, const bloomery_batch *b, uint64_t *x,
                                          uint32_t *at, size_t count, uint32_t n) {
  const uint8_t *bits = f->bits;
  uint64_t m = f->m;
  size_t left = 0;
  for (size_t j = 0; j < count; j++) {
    uint32_t i = at[j];
    uint64_t v = x[i], hi = b->hi[i];
    unsigned all = bloomery_bit(bits, bloomery_scale(v, m));
    v = bloomery_next(v, hi);
    if (n > 1) {
      all &= bloomery_bit(bits, bloomery_scale(v, m));
      v = bloomery_next(v, hi);
    }
    if (n > 2) {
      all &= bloomery_bit(bits, bloomery_scale(v, m));
      v = bloomery_next(v, hi);
    }
    x[i] = v;
    at[left] = i;
    left += all & 1;
  }
  return left;
}

BLOOMERY_BODY void bloomery_many_standard(const bloomery_standard *f, const bloomery_batch *b, size_t n, uint8_t *out) {
  bloomery_standard own = *f;
  uint64_t x[BLOOMERY_MANY];
  uint32_t at[BLOOMERY_MANY], k = own.k, round;
  size_t left = n;
  for (size_t i = 0; i < n; i++) {
    x[i] = b->lo[i];
    at[i] = (uint32_t)i;
    out[i] = 0;
  }
  for (; k > 0 && left > 0; k -= round) { /* two probes first: a quarter of the absent keys pass them */
    round = k >= 3 && own.k - k >= 4 ? 3 : k >= 2 ? 2 : 1;
    switch (round) {
    case 3: left = bloomery_probe_round(&own, b, x, at, left, 3); break;
    case 2: left = bloomery_probe_round(&own, b, x, at, left, 2); break;
    default: left = bloomery_probe_round(&own, b, x, at, left, 1);
    }
  }
  for (size_t j = 0; j < left; j++) out[at[j]] = 1;
}

/* Returns the word of a block of 64 bytes that the highest bits of x choose, its bit that the lowest do first. */
BLOOMERY_BODY uint64_t bloomery_line_word(const uint8_t *block, uint64_t x) {
  return bloomery_load64(block + (x >> 61 << 3)) >> (x & 63);
}

/* For blocks of 64 bytes and k probes, at most 7. */
BLOOMERY_BODY void bloomery_many_lines(const bloomery_blocked *f, const bloomery_batch *b, size_t n, uint8_t *out,
                                       uint32_t k) {
  const uint8_t *blocks = f->blocks;
  for (size_t i = 0; i < n; i++) {
    const uint8_t *block = blocks + (size_t)b->at[i];
    uint64_t x = b->lo[i], all = bloomery_line_word(block, x);
    if (k > 1) all &= bloomery_line_word(block, bloomery_rotate(x, 9));
    if (k > 2) all &= bloomery_line_word(block, bloomery_rotate(x, 18));
    if (k > 3) all &= bloomery_line_word(block, bloomery_rotate(x, 27));
    if (k > 4) all &= bloomery_line_word(block, bloomery_rotate(x, 36));
    if (k > 5) all &= bloomery_line_word(block, bloomery_rotate(x, 45));
    if (k > 6) all &= bloomery_line_word(block, bloomery_rotate(x, 54));
    out[i] = all & 1;
  }
}

BLOOMERY_BODY void bloomery_many_blocked(const bloomery_blocked *f, const bloomery_batch *b, size_t n, uint8_t *out) {
  bloomery_blocked own = *f;
  switch (own.split ? 0 : own.k) {
  case 5: bloomery_many_lines(&own, b, n, out, 5); return;
  case 6: bloomery_many_lines(&own, b, n, out, 6); return;
  case 7: bloomery_many_lines(&own, b, n, out, 7); return;
  }
  for (size_t i = 0; i < n; i++) {
    bloomery_key_hash h;
    h.hi = b->hi[i];
    h.lo = b->lo[i];
    out[i] = bloomery_blocked_has(&own, h);
  }
}

/* For slots of width bits. */
BLOOMERY_BODY void bloomery_many_slots(const bloomery_fuse *f, const bloomery_batch *b, size_t n, uint8_t *out,
                                       uint32_t width) {
  bloomery_fuse own = *f;
  own.width = width;
  for (size_t i = 0; i < n; i++) out[i] = bloomery_fuse_mixed(&own, b->at[i]);
}

BLOOMERY_BODY void bloomery_many_fuse(const bloomery_fuse *f, const bloomery_batch *b, size_t n, uint8_t *out) {
  switch (f->width) {
  case 8: bloomery_many_slots(f, b, n, out, 8); break;
  case 16: bloomery_many_slots(f, b, n, out, 16); break;
  default: bloomery_many_slots(f, b, n, out, f->width);
  }
}

BLOOMERY_BODY void bloomery_many_ribbon(const bloomery_ribbon *f, const bloomery_batch *b, size_t n, uint8_t *out) {
  for (size_t i = 0; i < n; i++) {
    bloomery_key_hash h;
    h.hi = b->hi[i];
    h.lo = b->lo[i];
    out[i] = bloomery_ribbon_has(f, h);
  }
}

BLOOMERY_APART void bloomery_many_other(const bloomery_filter *f, const bloomery_batch *b, size_t n, uint8_t *out) {
  for (size_t i = 0; i < n; i++) {
    bloomery_key_hash h;
    h.hi = b->hi[i];
    h.lo = b->lo[i];
    out[i] = bloomery_family_has(f, h);
  }
}

/* For all families. */
BLOOMERY_BODY void bloomery_many_any(const bloomery_filter *f, const bloomery_batch *b, size_t n, uint8_t *out) {
  switch (f->header.family) {
  case BLOOMERY_STANDARD: bloomery_many_standard(&f->as.standard, b, n, out); break;
  case BLOOMERY_BLOCKED: bloomery_many_blocked(&f->as.blocked, b, n, out); break;
  case BLOOMERY_FUSE:
    if (f->as.fuse.segments == 0) {
      bloomery_many_other(f, b, n, out);
    } else {
      bloomery_many_fuse(&f->as.fuse, b, n, out);
    }
    break;
  case BLOOMERY_RIBBON: bloomery_many_ribbon(&f->as.ribbon, b, n, out); break;
  default: bloomery_many_other(f, b, n, out);
  }
}

/* The same, apart. */
BLOOMERY_FLAT void bloomery_query_many(const bloomery_filter *f, const bloomery_batch *b, size_t n, uint8_t *out) {
  bloomery_many_any(f, b, n, out);
}

#ifdef BLOOMERY_WIDE

/* The low and the high halves of products of four words. */
typedef struct {
  __m256i low, high;
} bloomery_products;

BLOOMERY_BODY BLOOMERY_WIDE __m256i bloomery_wide_word(uint64_t v) { return _mm256_set1_epi64x((long long)v); }

/* Returns the products of the words of a and b. */
BLOOMERY_BODY BLOOMERY_WIDE bloomery_products bloomery_wide_multiply(__m256i a, __m256i b) {
  const __m256i half = bloomery_wide_word(0xFFFFFFFFu);
  __m256i a1 = _mm256_srli_epi64(a, 32), b1 = _mm256_srli_epi64(b, 32), low = _mm256_mul_epu32(a, b);
  __m256i mid = _mm256_add_epi64(_mm256_mul_epu32(a1, b), _mm256_srli_epi64(low, 32));
  __m256i mid2 = _mm256_add_epi64(_mm256_mul_epu32(a, b1), _mm256_and_si256(mid, half));
  bloomery_products p;
  p.high = _mm256_add_epi64(_mm256_mul_epu32(a1, b1), _mm256_srli_epi64(mid, 32));
  p.high = _mm256_add_epi64(p.high, _mm256_srli_epi64(mid2, 32));
  p.low = _mm256_blend_epi32(low, _mm256_slli_epi64(mid2, 32), 0xAA);
  return p;
}

/* Returns the low halves of the products of the words of a and b. */
BLOOMERY_BODY BLOOMERY_WIDE __m256i bloomery_wide_low(__m256i a, uint64_t b) {
  __m256i b0 = bloomery_wide_word(b), b1 = bloomery_wide_word(b >> 32);
  __m256i mid = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), b0), _mm256_mul_epu32(a, b1));
  return _mm256_add_epi64(_mm256_mul_epu32(a, b0), _mm256_slli_epi64(mid, 32));
}

/* Returns h ^ h >> n for four words. */
BLOOMERY_BODY BLOOMERY_WIDE __m256i bloomery_wide_shift(__m256i h, int n) {
  return _mm256_xor_si256(h, _mm256_srli_epi64(h, n));
}

/* bloomery_xxh3_mix for four words. */
BLOOMERY_BODY BLOOMERY_WIDE __m256i bloomery_wide_mix(__m256i h) {
  return bloomery_wide_shift(bloomery_wide_low(bloomery_wide_shift(h, 37), 0x165667919E3779F9u), 32);
}

/* Stores the hashes of four keys. */
BLOOMERY_BODY BLOOMERY_WIDE void bloomery_wide_store(__m256i h_hi, __m256i h_lo, uint64_t *hi, uint64_t *lo) {
  _mm256_storeu_si256((__m256i *)(void *)hi, h_hi);
  _mm256_storeu_si256((__m256i *)(void *)lo, h_lo);
}

/* XXH3-128 of four keys of 9 to 16 bytes: n their lengths, a their first and b their last 8 bytes. */
BLOOMERY_BODY BLOOMERY_WIDE void bloomery_wide_xxh3_16(__m256i n, __m256i a, __m256i b, uint64_t seed, uint64_t *hi,
                                                       uint64_t *lo) {
  const __m256i swap = _mm256_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
                                        15, 14, 13, 12, 11, 10, 9, 8);
  __m256i one = bloomery_wide_word((bloomery_secret64(32) ^ bloomery_secret64(40)) - seed);
  bloomery_products p = bloomery_wide_multiply(_mm256_xor_si256(_mm256_xor_si256(a, b), one),
                                               bloomery_wide_word(BLOOMERY_PRIME64_1));
  p.low = _mm256_add_epi64(p.low, _mm256_slli_epi64(_mm256_sub_epi64(n, bloomery_wide_word(1)), 54));
  b = _mm256_xor_si256(b, bloomery_wide_word((bloomery_secret64(48) ^ bloomery_secret64(56)) + seed));
  p.high = _mm256_add_epi64(p.high, b);
  p.high = _mm256_add_epi64(p.high, _mm256_mul_epu32(b, bloomery_wide_word(BLOOMERY_PRIME32_2 - 1)));
  b = bloomery_wide_low(p.high, BLOOMERY_PRIME64_2);
  p = bloomery_wide_multiply(_mm256_xor_si256(p.low, _mm256_shuffle_epi8(p.high, swap)),
                             bloomery_wide_word(BLOOMERY_PRIME64_2));
  bloomery_wide_store(bloomery_wide_mix(_mm256_add_epi64(p.high, b)), bloomery_wide_mix(p.low), hi, lo);
}

/* XXH3-128 of the four keys of 8 bytes at p. */
BLOOMERY_BODY BLOOMERY_WIDE void bloomery_wide_xxh3_8(const uint8_t *key, uint64_t seed, uint64_t *hi, uint64_t *lo) {
  __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)key);
  uint64_t with = seed ^ (uint64_t)bloomery_swap32((uint32_t)seed) << 32;
  bloomery_products p = bloomery_wide_multiply(
      _mm256_xor_si256(x, bloomery_wide_word((bloomery_secret64(16) ^ bloomery_secret64(24)) + with)),
      bloomery_wide_word(BLOOMERY_PRIME64_1 + 32));
  p.high = _mm256_add_epi64(p.high, _mm256_add_epi64(p.low, p.low));
  p.low = _mm256_xor_si256(p.low, _mm256_srli_epi64(p.high, 3));
  p.low = bloomery_wide_low(bloomery_wide_shift(p.low, 35), 0x9FB21C651E98DF25u);
  bloomery_wide_store(bloomery_wide_mix(p.high), bloomery_wide_shift(p.low, 28), hi, lo);
}

/* Returns the 8 bytes at each of four places. */
BLOOMERY_BODY BLOOMERY_WIDE __m256i bloomery_wide_gather(const uint8_t *a, const uint8_t *b, const uint8_t *c,
                                                         const uint8_t *d) {
  return _mm256_setr_epi64x((long long)bloomery_load64(a), (long long)bloomery_load64(b),
                            (long long)bloomery_load64(c), (long long)bloomery_load64(d));
}

/* Returns where four keys begin, from key i on. */
BLOOMERY_BODY BLOOMERY_WIDE __m256i bloomery_wide_starts(const bloomery_keys *keys, int way, size_t i) {
  if (way == BLOOMERY_OFFSETS32) {
    return _mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)(const void *)(keys->offsets32 + i)));
  }
  return _mm256_loadu_si256((const __m256i *)(const void *)(keys->offsets64 + i));
}

/* bloomery_ordered32. */
BLOOMERY_APART BLOOMERY_WIDE bool bloomery_wide_ordered32(const int32_t *offsets, size_t n) {
  __m256i bad = _mm256_setzero_si256();
  size_t i = 0;
  for (; n - i >= 8; i += 8) {
    __m256i from = _mm256_loadu_si256((const __m256i *)(const void *)(offsets + i));
    __m256i to = _mm256_loadu_si256((const __m256i *)(const void *)(offsets + i + 1));
    bad = _mm256_or_si256(bad, _mm256_cmpgt_epi32(from, to));
  }
  return _mm256_testz_si256(bad, bad) && bloomery_ordered32(offsets + i, n - i);
}

/* bloomery_ordered64. */
BLOOMERY_APART BLOOMERY_WIDE bool bloomery_wide_ordered64(const int64_t *offsets, size_t n) {
  __m256i bad = _mm256_setzero_si256();
  size_t i = 0;
  for (; n - i >= 4; i += 4) {
    __m256i from = _mm256_loadu_si256((const __m256i *)(const void *)(offsets + i));
    __m256i to = _mm256_loadu_si256((const __m256i *)(const void *)(offsets + i + 1));
    bad = _mm256_or_si256(bad, _mm256_cmpgt_epi64(from, to));
  }
  return _mm256_testz_si256(bad, bad) && bloomery_ordered64(offsets + i, n - i);
}

/* bloomery_xxh3_keys, four keys at a time where they all have 9 to 16 bytes, or where the width is 8. */
BLOOMERY_BODY BLOOMERY_WIDE void bloomery_wide_keys(const bloomery_keys *keys, int way, uint64_t seed, size_t i,
                                                    size_t n, uint64_t *hi, uint64_t *lo) {
  size_t k = 0;
  if (way == BLOOMERY_WIDTH && keys->width == 8) {
    for (; n - k >= 4; k += 4) {
      BLOOMERY_PREFETCH((uintptr_t)keys->bytes + 8 * (i + k) + BLOOMERY_AHEAD);
      bloomery_wide_xxh3_8(keys->bytes + 8 * (i + k), seed, hi + k, lo + k);
    }
  }
  for (; n - k >= 4; k += 4) {
    const uint8_t *p0 = keys->bytes + bloomery_key_start(keys, way, i + k);
    const uint8_t *p1 = keys->bytes + bloomery_key_start(keys, way, i + k + 1);
    const uint8_t *p2 = keys->bytes + bloomery_key_start(keys, way, i + k + 2);
    const uint8_t *p3 = keys->bytes + bloomery_key_start(keys, way, i + k + 3);
    const uint8_t *p4 = keys->bytes + bloomery_key_start(keys, way, i + k + 4);
    __m256i length = bloomery_wide_word(keys->width);
    BLOOMERY_PREFETCH((uintptr_t)p0 + BLOOMERY_AHEAD);
    if (way != BLOOMERY_WIDTH) {
      length = _mm256_sub_epi64(bloomery_wide_starts(keys, way, i + k + 1), bloomery_wide_starts(keys, way, i + k));
    }
    if (!_mm256_testz_si256(_mm256_sub_epi64(length, bloomery_wide_word(9)), bloomery_wide_word(~(uint64_t)7))) {
      bloomery_xxh3_keys(keys, way, seed, i + k, 4, hi + k, lo + k);
      continue;
    }
    bloomery_wide_xxh3_16(length, bloomery_wide_gather(p0, p1, p2, p3),
                          bloomery_wide_gather(p1 - 8, p2 - 8, p3 - 8, p4 - 8), seed, hi + k, lo + k);
  }
  bloomery_xxh3_keys(keys, way, seed, i + k, n - k, hi + k, lo + k);
}

/* bloomery_hash_many. */
BLOOMERY_FLAT BLOOMERY_WIDE void bloomery_wide_hash_many(const bloomery_filter *f, const bloomery_keys *keys, int way,
                                                         size_t i, bloomery_batch *b, size_t from, size_t to) {
  bloomery_keys own = *keys;
  uint64_t seed = f->header.seed, *hi = b->hi + from, *lo = b->lo + from;
  size_t n = to - from;
  i += from;
  if (f->header.hash != BLOOMERY_XXH3) {
    bloomery_hash_other(f, keys, way, i, n, hi, lo);
  } else if (way == BLOOMERY_WIDTH) {
    bloomery_wide_keys(&own, BLOOMERY_WIDTH, seed, i, n, hi, lo);
  } else if (way == BLOOMERY_OFFSETS32) {
    bloomery_wide_keys(&own, BLOOMERY_OFFSETS32, seed, i, n, hi, lo);
  } else {
    bloomery_wide_keys(&own, BLOOMERY_OFFSETS64, seed, i, n, hi, lo);
  }
  bloomery_find(f, b, from, to);
}

/* Returns the words from column on of four columns, of which n exist, for a key: those that its coefficients take. */
BLOOMERY_BODY BLOOMERY_WIDE __m256i bloomery_wide_columns(const uint8_t *first, uint64_t take, uint32_t column,
                                                          __m256i exist) {
  const long long *p = (const long long *)(const void *)(first + 8 * (size_t)column);
  return _mm256_and_si256(_mm256_maskload_epi64(p, exist), bloomery_wide_word(take));
}

/* Returns in bit i the parity of word i of a, in bit 4+i that of word i of b. */
BLOOMERY_BODY BLOOMERY_WIDE unsigned bloomery_wide_parities(__m256i a, __m256i b) {
  __m256i x = _mm256_blend_epi32(_mm256_xor_si256(a, _mm256_srli_epi64(a, 32)),
                                 _mm256_xor_si256(b, _mm256_slli_epi64(b, 32)), 0xAA);
  x = _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
  x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 16));
  x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 8));
  x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 4));
  x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 2));
  x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 1));
  return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(x));
}

/* For count keys of a block that layer 0 holds, whose numbers are in at. words is that of its shape, 1 or 2. */
BLOOMERY_BODY BLOOMERY_WIDE void bloomery_wide_layer(const bloomery_ribbon *f, const bloomery_batch *b,
                                                     const uint32_t *at, size_t count, uint8_t *out, uint32_t words) {
  const uint8_t *data = f->words;
  bloomery_layer layer = f->layer[0];
  uint64_t columns = f->values + f->remainder;
  unsigned turn = f->turn & 63, back = (64 - turn) & 63;
  uint32_t values = f->values, remainder = f->remainder;
  const __m256i low = _mm256_setr_epi64x(0, 1, 2, 3), high = _mm256_setr_epi64x(4, 5, 6, 7);
  for (size_t j = 0; j < count; j++) {
    uint32_t i = at[j];
    uint64_t place = b->at[i], block = (place >> 6) + (place >> 18) * words;
    uint64_t x = b->hi[i] ^ (values > 0 ? b->lo[i] >> 32 << 32 : b->lo[i]);
    uint64_t want = bloomery_fold(x, 0x50A89A3BE7770CBFu), c = bloomery_fold(x, 0x71BF41D65460B8E9u), take1, take2 = 0;
    const uint8_t *first = data + (size_t)(8 * bloomery_ribbon_word(&layer, words, columns, place));
    const uint8_t *second = first + (size_t)(8 * (columns + (block < layer.wide))), *third = second;
    unsigned q = place & 63, differ = 0;
    uint32_t bits = remainder + (block + words < layer.wide);
    c = (c << turn | c >> back) | 1;
    take1 = c >> 1 >> (63 - q);
    if (words == 2) {
      uint64_t d = bloomery_fold(x, 0x04666D532545AE33u);
      d = d << turn | d >> back;
      third = second + (size_t)(8 * (columns + (block + 1 < layer.wide)));
      take1 |= d << q;
      take2 = d >> 1 >> (63 - q);
    }
    for (uint32_t k = 0; k < bits; k += 8) {
      __m256i n = bloomery_wide_word(bits - k), has = _mm256_cmpgt_epi64(n, low), more = _mm256_cmpgt_epi64(n, high);
      __m256i s = bloomery_wide_columns(first, c << q, values + k, has);
      __m256i t = bloomery_wide_columns(first, c << q, values + k + 4, more);
      s = _mm256_xor_si256(s, bloomery_wide_columns(second, take1, values + k, has));
      t = _mm256_xor_si256(t, bloomery_wide_columns(second, take1, values + k + 4, more));
      if (words == 2) {
        s = _mm256_xor_si256(s, bloomery_wide_columns(third, take2, values + k, has));
        t = _mm256_xor_si256(t, bloomery_wide_columns(third, take2, values + k + 4, more));
      }
      differ |= (bloomery_wide_parities(s, t) ^ (unsigned)(want >> k)) & (bits - k < 8 ? (1u << (bits - k)) - 1 : 255);
    }
    out[i] = differ == 0;
  }
}

/* bloomery_many_ribbon for filters with layers. */
BLOOMERY_BODY BLOOMERY_WIDE void bloomery_wide_ribbon(const bloomery_ribbon *f, const bloomery_batch *b, size_t n,
                                                      uint8_t *out) {
  bloomery_layer layer = f->layer[0];
  const bloomery_shape *shape = bloomery_shapes + layer.shape;
  const uint8_t *classes = f->classes;
  uint32_t held[BLOOMERY_MANY], other[BLOOMERY_MANY], size = shape->bits;
  uint64_t mask = ((uint64_t)1 << size) - 1;
  size_t count = 0, others = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t at = b->at[i], bucket = layer.bucket + (at >> size);
    unsigned kind = (unsigned)classes[(size_t)(bucket >> 2)] >> (bucket & 3) * 2 & 3;
    bool holds = (at & mask) >= shape->below[kind];
    held[count] = other[others] = (uint32_t)i;
    count += holds;
    others += !holds;
  }
  if (shape->words == 1) {
    bloomery_wide_layer(f, b, held, count, out, 1);
  } else {
    bloomery_wide_layer(f, b, held, count, out, 2);
  }
  for (size_t j = 0; j < others; j++) {
    bloomery_key_hash h;
    h.hi = b->hi[other[j]];
    h.lo = b->lo[other[j]];
    out[other[j]] = bloomery_ribbon_has(f, h);
  }
}

/* bloomery_query_many. */
BLOOMERY_FLAT BLOOMERY_WIDE void bloomery_wide_query_many(const bloomery_filter *f, const bloomery_batch *b, size_t n,
                                                          uint8_t *out) {
  if (f->header.family == BLOOMERY_BLOCKED && f->as.blocked.split) {
    const uint8_t *blocks = f->as.blocked.blocks;
    for (size_t i = 0; i < n; i++) out[i] = bloomery_wide_split(blocks + b->at[i], b->lo[i]);
  } else if (f->header.family == BLOOMERY_RIBBON && f->as.ribbon.layers > 0) {
    bloomery_wide_ribbon(&f->as.ribbon, b, n, out);
  } else {
    bloomery_many_any(f, b, n, out);
  }
}

#endif

/* Sets out[i] for each of n keys. */
BLOOMERY_APART void bloomery_many(const bloomery_filter *f, const bloomery_keys *keys, int way, size_t n,
                                  uint8_t *out) {
  bloomery_batch b;
  for (size_t i = 0, m; i < n; i += m) {
    m = n - i < BLOOMERY_MANY ? n - i : BLOOMERY_MANY;
    if (f->header.family == BLOOMERY_BITSANDBLOOMS) {
      for (size_t k = i; k < i + m; k++) {
        size_t start = bloomery_key_start(keys, way, k);
        out[k] = bloomery_has(f, keys->bytes + start, bloomery_key_start(keys, way, k + 1) - start);
      }
      continue;
    }
#ifdef BLOOMERY_WIDE
    if (f->wide) {
      for (size_t k = 0, to; k < m; k = to) {
        to = m - k < BLOOMERY_FEW ? m : k + BLOOMERY_FEW;
        bloomery_wide_hash_many(f, keys, way, i, &b, k, to);
      }
      bloomery_wide_query_many(f, &b, m, out + i);
    } else
#endif
    {
      for (size_t k = 0, to; k < m; k = to) {
        to = m - k < BLOOMERY_FEW ? m : k + BLOOMERY_FEW;
        bloomery_hash_many(f, keys, way, i, &b, k, to);
      }
      bloomery_query_many(f, &b, m, out + i);
    }
    for (size_t k = 0; f->exceptions && k < m; k++) {
      bloomery_key_hash h;
      h.hi = b.hi[k];
      h.lo = b.lo[k];
      out[i + k] = out[i + k] && !bloomery_excepts(f, h);
    }
  }
}

/* Returns whether none of n+1 offsets is less than the one before it. */
static inline bool bloomery_order32(const bloomery_filter *f, const int32_t *offsets, size_t n) {
#ifdef BLOOMERY_WIDE
  if (f->wide) return bloomery_wide_ordered32(offsets, n);
#endif
  (void)f;
  return bloomery_ordered32(offsets, n);
}

/* The same for offsets of 64 bits. */
static inline bool bloomery_order64(const bloomery_filter *f, const int64_t *offsets, size_t n) {
#ifdef BLOOMERY_WIDE
  if (f->wide) return bloomery_wide_ordered64(offsets, n);
#endif
  (void)f;
  return bloomery_ordered64(offsets, n);
}

/* Sets out[i], for i below n, to 1 if bloomery_has is true for key i, else to 0. The keys have width bytes each and lie
   one after the other; keys may be NULL if there are no bytes. out may have any alignment and must not overlap the
   keys. The stack needs 8 KiB. */
static inline void bloomery_has_many(const bloomery_filter *f, const void *keys, size_t width, size_t n, uint8_t *out) {
  static const uint8_t none[1] = {0};
  bloomery_keys all;
  all.bytes = n > 0 && width > 0 ? (const uint8_t *)keys : none;
  all.offsets32 = NULL;
  all.offsets64 = NULL;
  all.width = width;
  bloomery_many(f, &all, BLOOMERY_WIDTH, n, out);
}

/* bloomery_has_many for integers, in the byte order of the machine. */
static inline void bloomery_has_many_integers(const bloomery_filter *f, const uint64_t *integers, size_t n,
                                              uint8_t *out) {
  if (f->header.form.type != BLOOMERY_KEY_BYTES && f->header.form.type != BLOOMERY_KEY_INT64 &&
      f->header.form.type != BLOOMERY_KEY_UINT64) {
    for (size_t i = 0; i < n; i++) out[i] = bloomery_has_integer(f, integers[i]);
    return;
  }
#ifdef BLOOMERY_LITTLE
  bloomery_has_many(f, integers, 8, n, out);
#else
  uint8_t keys[8 * BLOOMERY_MANY];
  for (size_t i = 0, m; i < n; i += m) {
    m = n - i < BLOOMERY_MANY ? n - i : BLOOMERY_MANY;
    for (size_t k = 0; k < m; k++) bloomery_integer(keys + 8 * k, integers[i + k]);
    bloomery_has_many(f, keys, 8, m, out + i);
  }
#endif
}

/* bloomery_has_many for keys in the layout of Apache Arrow's binary and utf8 arrays: key i has the bytes
   [offsets[i], offsets[i+1]) of the length bytes at bytes. There are n+1 offsets; if n is 0, none is read.

   Returns BLOOMERY_OK. If an offset is negative, less than the one before it or more than length, it returns
   BLOOMERY_BAD_OFFSETS and writes nothing. */
static inline int bloomery_has_many_offsets32(const bloomery_filter *f, const void *bytes, size_t length,
                                              const int32_t *offsets, size_t n, uint8_t *out) {
  static const uint8_t none[1] = {0};
  bloomery_keys all;
  if (n == 0) return BLOOMERY_OK;
  if (offsets[0] < 0 || offsets[n] < 0 || (uint64_t)offsets[n] > length) return BLOOMERY_BAD_OFFSETS;
  if (!bloomery_order32(f, offsets, n)) return BLOOMERY_BAD_OFFSETS;
  all.bytes = length > 0 ? (const uint8_t *)bytes : none;
  all.offsets32 = offsets;
  all.offsets64 = NULL;
  all.width = 0;
  bloomery_many(f, &all, BLOOMERY_OFFSETS32, n, out);
  return BLOOMERY_OK;
}

/* bloomery_has_many_offsets32 with offsets of 64 bits: large binary and large utf8 arrays. */
static inline int bloomery_has_many_offsets64(const bloomery_filter *f, const void *bytes, size_t length,
                                              const int64_t *offsets, size_t n, uint8_t *out) {
  static const uint8_t none[1] = {0};
  bloomery_keys all;
  if (n == 0) return BLOOMERY_OK;
  if (offsets[0] < 0 || offsets[n] < 0 || (uint64_t)offsets[n] > length) return BLOOMERY_BAD_OFFSETS;
  if (!bloomery_order64(f, offsets, n)) return BLOOMERY_BAD_OFFSETS;
  all.bytes = length > 0 ? (const uint8_t *)bytes : none;
  all.offsets32 = NULL;
  all.offsets64 = offsets;
  all.width = 0;
  bloomery_many(f, &all, BLOOMERY_OFFSETS64, n, out);
  return BLOOMERY_OK;
}

/* ---- Exact sets: membership without error for the keys of a universe. docs/format/exact.md describes the files.
   ---- */

/* What the file of an exact set says. */
typedef struct {
  uint64_t bytes;      /* length of the file */
  uint64_t universe;   /* number of keys for which answers are exact */
  uint64_t members;    /* number of keys in the set */
  uint64_t partitions; /* number of partitions; 0: the set is not partitioned */
  uint64_t seed;       /* of BLOOMERY_XXH3, else 0 */
  uint64_t key_check;  /* of BLOOMERY_SIPHASH, else 0 */
  uint32_t hash;       /* BLOOMERY_XXH3 or BLOOMERY_SIPHASH */
  uint32_t records;    /* the base and the updates, 1 to 256 */
} bloomery_exact_header;

/* A record: parts with the classes of partitions, or the positions of the keys that it toggles. */
typedef struct bloomery_record {
  const struct bloomery_record *next;
  const bloomery_ribbon *of_class, *level1[32], *level2; /* NULL: no keys */
  const uint64_t *positions;
  uint64_t count, mix; /* positions only */
  uint32_t bits;       /* of a position; 0: parts */
  uint32_t classes;
  uint8_t code[66];
} bloomery_record;

/* An open exact set. Its fields are private. It points into the file and the memory, and holds the secret. */
typedef struct {
  bloomery_exact_header header;
  uint64_t secret[2];
  const bloomery_record *first;
} bloomery_exact;

/* An exact set while it is opened. Without memory it is only measured. */
typedef struct {
  const uint8_t *data;
  size_t length, at; /* of the file, and how far it is read */
  size_t from;       /* the first byte under the next CRC */
  uint8_t *memory;
  uint64_t used, room; /* bytes of the memory */
  bool bad;            /* a number is wrong, or the file ends */
} bloomery_exact_file;

/* Takes memory for an object. Returns NULL if there is none, which bloomery_exact_read notices at its end. */
static inline void *bloomery_exact_take(bloomery_exact_file *file, uint64_t bytes) {
  uint8_t *p = NULL;
  bytes = (bytes + 7) / 8 * 8;
  if (file->room - file->used >= bytes && file->used <= file->room) p = file->memory + (size_t)file->used;
  file->used += bytes;
  return p;
}

/* Returns the next n bytes of the file, or NULL. */
static inline const uint8_t *bloomery_exact_bytes(bloomery_exact_file *file, uint64_t n) {
  const uint8_t *p = file->data + file->at;
  if (file->bad || n > file->length - file->at) {
    file->bad = true;
    return NULL;
  }
  file->at += (size_t)n;
  return p;
}

/* Returns the next uvarint of the file, which must be from least to most. */
BLOOMERY_APART uint64_t bloomery_exact_number(bloomery_exact_file *file, uint64_t least, uint64_t most) {
  uint64_t v = 0;
  for (unsigned shift = 0;; shift += 7) {
    const uint8_t *p = bloomery_exact_bytes(file, 1);
    if (!p || (shift == 63 && *p > 1) || (shift > 0 && *p == 0)) break;
    v |= (uint64_t)(*p & 127) << shift;
    if (*p < 128) {
      if (v < least || v > most) break;
      return v;
    }
  }
  file->bad = true;
  return 0;
}

/* Checks the CRC in the next 4 bytes. Returns a result. */
static inline int bloomery_exact_crc(bloomery_exact_file *file, const bloomery_crc_tables *tables) {
  size_t length = file->at - file->from;
  const uint8_t *p = bloomery_exact_bytes(file, 4);
  if (!p) return BLOOMERY_TRUNCATED;
  return bloomery_crc(tables, 0, file->data + file->from, length) == bloomery_load32(p) ? BLOOMERY_OK
                                                                                       : BLOOMERY_BAD_CHECKSUM;
}

/* A part of a record, with the bits of its three sections. */
typedef struct {
  bloomery_ribbon *ribbon; /* NULL if it is only measured */
  uint64_t bits[3];        /* all 0: no keys */
} bloomery_part;

/* Reads the geometry of a part. Its sections are set later. */
BLOOMERY_APART void bloomery_exact_geometry(bloomery_exact_file *file, bloomery_part *part, uint32_t remainder,
                                           uint32_t values) {
  bloomery_ribbon measured, *g;
  uint64_t shape, seed;
  part->ribbon = NULL;
  part->bits[0] = part->bits[1] = part->bits[2] = 0;
  if (bloomery_exact_number(file, 0, ((uint64_t)1 << 56) - 1) == 0) return;
  part->ribbon = (bloomery_ribbon *)bloomery_exact_take(file, sizeof *g);
  g = part->ribbon ? part->ribbon : &measured;
  g->remainder = remainder;
  g->values = values;
  g->extra = 0;
  shape = bloomery_exact_number(file, 0, 2 * BLOOMERY_LAYERS + 1);
  seed = bloomery_exact_number(file, 0, shape / 2 > 0 ? 65535 : 0);
  bloomery_plan_turn(g, seed);
  while (g->layers < shape / 2) {
    uint64_t starts = 64 * bloomery_exact_number(file, 1, (uint64_t)1 << 42);
    if (!bloomery_plan_layer(g, part->bits, starts, shape % 2 ? 128 : 64, 0, seed)) {
      file->bad = true;
      return;
    }
  }
  g->tail = (uint32_t)bloomery_exact_number(file, shape / 2 == 0, 256);
  g->tail_seed = (uint32_t)bloomery_exact_number(file, 0, g->tail > 0 ? 65535 : 0);
  part->bits[0] *= 64;
  part->bits[1] *= 2;
  part->bits[2] = g->tail * (values + remainder);
}

/* Reads the sections of a part: words, but of an update's tail only the bytes that it needs. Unused bits must be 0. */
static inline void bloomery_exact_sections(bloomery_exact_file *file, bloomery_part *part, bool base) {
  const uint8_t *p[3];
  for (uint32_t i = 0; i < 3; i++) {
    uint64_t bytes = !base && i == 2 ? (part->bits[i] + 7) / 8 : (part->bits[i] + 63) / 64 * 8;
    p[i] = bloomery_exact_bytes(file, bytes);
    if (!p[i]) return;
    if (!bloomery_zero_end(p[i], part->bits[i], bytes)) file->bad = true;
  }
  if (!part->ribbon) return;
  part->ribbon->words = p[0];
  part->ribbon->classes = p[1];
  part->ribbon->slots = p[2];
}

/* Reads classes and parts of a record. */
BLOOMERY_APART int bloomery_exact_parts(bloomery_exact_file *file, bloomery_record *r, bool base, bool partitioned,
                                       const bloomery_crc_tables *tables) {
  bloomery_part parts[33]; /* of the classes, of level 1 by its bits, of level 2 */
  uint32_t used = 0, width = 0;
  int last = -1, result;
  if (partitioned) bloomery_exact_number(file, 0, ~(uint64_t)0); /* entropy */
  r->classes = (uint32_t)bloomery_exact_number(file, 1, partitioned ? 66 : 1);
  for (uint32_t i = 0; i < r->classes; i++) {
    uint64_t code = bloomery_exact_number(file, (uint64_t)(last + 1), 65);
    uint64_t keys = bloomery_exact_number(file, 0, ~(uint64_t)0);
    bloomery_exact_number(file, 0, keys);
    r->code[i] = (uint8_t)code;
    last = (int)code;
    if (code / 2 < 32) used |= (uint32_t)1 << code / 2;
  }
  if (file->bad) return BLOOMERY_CORRUPT;
  while ((r->classes - 1) >> width > 0) width++;
  for (uint32_t i = 0; i < 33; i++) {
    parts[i].ribbon = NULL;
    parts[i].bits[0] = parts[i].bits[1] = parts[i].bits[2] = 0;
    if (i == 0 && width > 0) bloomery_exact_geometry(file, parts, 0, width);
    if (i > 0 && i < 32 && used >> i & 1) bloomery_exact_geometry(file, parts + i, i, 0);
    if (i == 32) bloomery_exact_geometry(file, parts + i, 0, 1);
  }
  if (file->bad) return BLOOMERY_CORRUPT;
  result = bloomery_exact_crc(file, tables);
  if (result != BLOOMERY_OK) return result;
  while (base && file->at % 8 > 0) {
    const uint8_t *p = bloomery_exact_bytes(file, 1);
    if (!p || *p != 0) return p ? BLOOMERY_CORRUPT : BLOOMERY_TRUNCATED;
  }
  file->from = file->at;
  for (uint32_t i = 0; i < 33; i++) {
    bloomery_exact_sections(file, parts + i, base);
    r->level1[i % 32] = parts[i].ribbon;
  }
  if (file->bad) return BLOOMERY_CORRUPT;
  r->of_class = parts[0].ribbon;
  r->level2 = parts[32].ribbon;
  return bloomery_exact_crc(file, tables);
}

/* Reads the positions of a record. */
static inline int bloomery_exact_positions(bloomery_exact_file *file, bloomery_record *r,
                                           const bloomery_crc_tables *tables) {
  uint64_t next = 0, left, i = 0, *list;
  uint32_t low;
  r->count = bloomery_exact_number(file, 0, 4096);
  r->bits = 64;
  r->positions = NULL;
  if (r->count > 0) {
    r->bits = (uint32_t)bloomery_exact_number(file, 1, 64);
    r->mix = (bloomery_exact_number(file, 0, 65535) + 1) * 0x9E3779B97F4A7C15u;
  }
  if (file->bad) return BLOOMERY_CORRUPT;
  low = bloomery_bit_length(r->count);
  low = r->bits > low ? r->bits - low : 0;
  left = 8 * (uint64_t)(file->length - file->at);
  if (r->count * (low + 1) > left) return BLOOMERY_TRUNCATED;
  r->positions = list = (uint64_t *)bloomery_exact_take(file, 8 * r->count);
  for (uint64_t n = 0; n < r->count; n++) {
    const uint8_t *p = file->data + file->at;
    uint64_t high = 0, v = 0, most = ~(uint64_t)0 >> (64 - r->bits);
    while (i < left && (bloomery_bit(p, i) & 1)) {
      high++;
      i++;
    }
    if (left - i <= low) return BLOOMERY_TRUNCATED;
    i++;
    for (uint32_t k = 0; k < low; k++, i++) v |= (uint64_t)(bloomery_bit(p, i) & 1) << k;
    if ((n > 0 && next == 0) || high > (most - next) >> low) return BLOOMERY_CORRUPT;
    v |= high << low;
    if (v > most - next) return BLOOMERY_CORRUPT;
    v += next;
    if (list) list[n] = v;
    next = v + 1;
  }
  if (!bloomery_zero_end(file->data + file->at, i, (i + 7) / 8)) return BLOOMERY_CORRUPT;
  file->at += (size_t)((i + 7) / 8);
  return bloomery_exact_crc(file, tables);
}

/* Reads a record. The first one, e->header.records = 0, is the base. */
BLOOMERY_APART int bloomery_exact_record(bloomery_exact *e, bloomery_exact_file *file, bloomery_record *r,
                                        const bloomery_crc_tables *tables) {
  static const uint8_t magic[4] = {0x89, 'B', 'L', 'X'};
  bloomery_exact_header *h = &e->header;
  bool base = h->records == 0;
  uint64_t kind, version, partitions;
  file->from = file->at;
  for (size_t i = 0; i < 4; i++) {
    const uint8_t *p = bloomery_exact_bytes(file, 1);
    if (p && *p != magic[i]) return base ? BLOOMERY_BAD_MAGIC : BLOOMERY_CORRUPT;
  }
  version = bloomery_exact_number(file, 0, ~(uint64_t)0);
  if (!file->bad && version != 1) return BLOOMERY_BAD_VERSION;
  kind = bloomery_exact_number(file, base ? 0 : 1, base ? 0 : 2);
  if (base) {
    uint64_t hash = bloomery_exact_number(file, 0, ~(uint64_t)0);
    const uint8_t *p = bloomery_exact_bytes(file, 8);
    if (!p) return BLOOMERY_TRUNCATED;
    if (hash < BLOOMERY_XXH3 || hash > BLOOMERY_SIPHASH) return BLOOMERY_BAD_HASH;
    h->hash = (uint32_t)hash;
    h->seed = hash == BLOOMERY_XXH3 ? bloomery_load64(p) : 0;
    h->key_check = hash == BLOOMERY_SIPHASH ? bloomery_load64(p) : 0;
    if (hash == BLOOMERY_SIPHASH && h->key_check == 0) return BLOOMERY_CORRUPT;
  } else {
    const uint8_t *p = bloomery_exact_bytes(file, 4);
    if (p && bloomery_load32(p) != bloomery_load32(file->data + file->from - 4)) return BLOOMERY_CORRUPT;
  }
  h->universe = bloomery_exact_number(file, 0, ~(uint64_t)0);
  h->members = bloomery_exact_number(file, 0, h->universe);
  partitions = bloomery_exact_number(file, 0, ~(uint64_t)0);
  if (file->bad || (!base && (partitions == 0) != (h->partitions == 0))) return BLOOMERY_CORRUPT;
  h->partitions = partitions;
  r->bits = 0;
  return kind == 2 ? bloomery_exact_positions(file, r, tables)
                   : bloomery_exact_parts(file, r, base, h->partitions > 0, tables);
}

/* Whether all records were read: the trailer follows. */
static inline bool bloomery_exact_ends(const bloomery_exact_file *file) {
  return file->length - file->at >= 4 && bloomery_load32(file->data + file->at) == 0x454C4289;
}

/* Reads the trailer. Its CRC also covers the CRC of the last record. */
static inline int bloomery_exact_trailer(bloomery_exact_file *file, uint32_t records,
                                         const bloomery_crc_tables *tables) {
  const uint8_t *p = bloomery_exact_bytes(file, 16);
  int result;
  if (!p) return BLOOMERY_TRUNCATED;
  file->from = file->at - 20;
  result = bloomery_exact_crc(file, tables);
  if (result != BLOOMERY_OK) return result;
  if (bloomery_load64(p + 4) != file->length || bloomery_load32(p + 12) != records - 1) return BLOOMERY_CORRUPT;
  return file->at == file->length ? BLOOMERY_OK : BLOOMERY_CORRUPT;
}

/* Reads all records, and the trailer. */
static inline int bloomery_exact_read(bloomery_exact *e, bloomery_exact_file *file) {
  bloomery_crc_tables tables;
  const bloomery_record **last = &e->first;
  bloomery_crc_begin(&tables, file->length);
  e->first = NULL;
  e->header.records = 0;
  e->header.bytes = file->length;
  do {
    bloomery_record measured, *r = (bloomery_record *)bloomery_exact_take(file, sizeof *r);
    int result = bloomery_exact_record(e, file, r ? r : &measured, &tables);
    if (result != BLOOMERY_OK) return result;
    if (++e->header.records > 256) return BLOOMERY_CORRUPT;
    if (r) {
      *last = r;
      r->next = NULL;
      last = &r->next;
    }
    if (file->at == file->length) return BLOOMERY_TRUNCATED;
  } while (!bloomery_exact_ends(file));
  return bloomery_exact_trailer(file, e->header.records, &tables);
}

/* Returns the number of bytes of memory that bloomery_exact_open needs for the file, at most 64 times the file + 64
   KiB; 0 if it is damaged. Reads the whole file. */
BLOOMERY_APART size_t bloomery_exact_memory(const void *data, size_t length) {
  bloomery_exact e;
  bloomery_exact_file file = {(const uint8_t *)data, length, 0, 0, NULL, 0, 0, false};
  if (bloomery_exact_read(&e, &file) != BLOOMERY_OK || file.used > SIZE_MAX - 8) return 0;
  return (size_t)file.used + 7; /* for any alignment */
}

/* Opens the file of an exact set in the length bytes at data, which must be the whole file, with all its updates.
   Checks everything. secret has 16 bytes, or is NULL; it is used only if the hash is BLOOMERY_SIPHASH. memory has
   memory_length bytes, at least bloomery_exact_memory(data, length), of any alignment.

   Returns BLOOMERY_OK or another result, with which e must not be used. data and memory must not change or move while
   e is in use. Allocates nothing; the stack needs 20 KiB. */
BLOOMERY_APART int bloomery_exact_open(bloomery_exact *e, const void *data, size_t length, const uint8_t *secret,
                                      void *memory, size_t memory_length) {
  bloomery_exact_file file = {(const uint8_t *)data, length, 0, 0, (uint8_t *)memory, 0, 0, false};
  size_t skip = (size_t)(0 - (uintptr_t)memory % 8) % 8; /* to a multiple of 8 */
  int result;
  file.room = skip < memory_length ? memory_length - skip : 0;
  if (file.room > 0) file.memory += skip;
  result = bloomery_exact_read(e, &file);
  if (result != BLOOMERY_OK) return result;
  if (file.used > file.room) return BLOOMERY_NEEDS_MEMORY;
  return bloomery_take_secret(e->secret, e->header.hash, e->header.key_check, secret);
}

/* Returns what the file says. */
static inline const bloomery_exact_header *bloomery_exact_info(const bloomery_exact *e) { return &e->header; }

/* Returns the hash of a key, without the bits of Lo that exact sets do not use. */
BLOOMERY_APART bloomery_key_hash bloomery_exact_hash(const bloomery_exact *e, const bloomery_joined *key) {
  uint8_t room[240];
  bloomery_key_hash h;
  if (e->header.hash == BLOOMERY_SIPHASH) {
    uint64_t v[4];
    size_t i = 0;
    bloomery_sip_begin(v, e->secret);
    for (; key->length - i >= 8; i += 8) bloomery_sip_word(v, bloomery_load64(bloomery_piece(key, i, 8, room)));
    h = bloomery_sip_end(v, key->length, bloomery_load_tail(bloomery_piece(key, i, key->length - i, room),
                                                            key->length - i));
  } else if (key->length > sizeof room) {
    h = bloomery_xxh3_long(key, e->header.seed);
  } else {
    h = bloomery_xxh3(bloomery_piece(key, 0, key->length, room), key->length, e->header.seed);
  }
  h.lo = h.lo >> 32 << 32;
  return h;
}

/* Returns the answer of a record with parts. */
static inline bool bloomery_record_has(const bloomery_record *r, bloomery_key_hash h, bloomery_key_hash name) {
  uint64_t value = 0;
  unsigned code;
  if (r->of_class) bloomery_ribbon_get(r->of_class, name, &value);
  code = r->code[value < r->classes ? value : r->classes - 1];
  if (code >= 64) return code & 1;
  if (code >= 2 && !(r->level1[code / 2] && bloomery_ribbon_has(r->level1[code / 2], h))) return code & 1;
  value = 0;
  h.hi = bloomery_fold(h.hi ^ 0xD62833EB990DAE16u, 0xCA4E615764CA1C4Fu);
  h.lo = bloomery_fold(h.lo ^ 0x681C64A0847DD1A6u, 0xA50932DD2BABB779u);
  if (r->level2) bloomery_ribbon_get(r->level2, h, &value);
  return ((code ^ value) & 1) != 0;
}

/* Returns whether a key is at one of the positions of a record. */
static inline bool bloomery_record_lists(const bloomery_record *r, bloomery_key_hash h) {
  uint64_t at = bloomery_fold(h.hi ^ h.lo ^ r->mix, 0x773AB51DA30E124Du) >> (64 - r->bits), from = 0, to = r->count;
  while (from < to) { /* positions before from are smaller, those from to on are not */
    uint64_t middle = (from + to) / 2;
    if (r->positions[middle] < at) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from < r->count && r->positions[from] == at;
}

/* Returns whether a key is in the set; name is the hash of the name of its partition, if the set is partitioned. */
static inline bool bloomery_exact_answer(const bloomery_exact *e, bloomery_key_hash h, bloomery_key_hash name) {
  bool has = false;
  for (const bloomery_record *r = e->first; r; r = r->next) {
    has ^= r->bits > 0 ? bloomery_record_lists(r, h) : bloomery_record_has(r, h, name);
  }
  return has;
}

/* Returns whether the key of length bytes is in the set, in the partition of that name. The answer is exact for keys
   of the universe. A set without partitions ignores the name. Either may be NULL if its length is 0. */
static inline bool bloomery_exact_has_in(const bloomery_exact *e, const void *name, size_t name_length, const void *key,
                                         size_t length) {
  static const uint8_t none[1] = {0};
  uint8_t prefix[10];
  size_t n = 0, left = name_length;
  bloomery_joined all = bloomery_whole(length > 0 ? (const uint8_t *)key : none, length), whole;
  bloomery_key_hash of_name = {0, 0};
  if (e->header.partitions > 0) {
    whole = bloomery_whole(name_length > 0 ? (const uint8_t *)name : none, name_length);
    of_name = bloomery_exact_hash(e, &whole);
    for (; left >= 128; left >>= 7) prefix[n++] = (uint8_t)(left | 128);
    prefix[n++] = (uint8_t)left;
    all.part[2] = all.part[0];
    all.part[1] = whole.part[0];
    all.part[0] = prefix;
    all.bytes[2] = length;
    all.bytes[1] = name_length;
    all.bytes[0] = n;
    all.length = n + name_length + length;
  }
  return bloomery_exact_answer(e, bloomery_exact_hash(e, &all), of_name);
}

/* bloomery_exact_has_in for a set without partitions. Of a partitioned set it asks in the partition whose name is
   empty. */
static inline bool bloomery_exact_has(const bloomery_exact *e, const void *key, size_t length) {
  return bloomery_exact_has_in(e, NULL, 0, key, length);
}

#endif /* BLOOMERY_QUERIES_ONLY */

#ifdef __cplusplus
}
#endif

#endif /* BLOOMERY_H */
