/* Part of build.c: keys in order. src/build/sorted.ts is the specification. */

/* Counts keys by the first bits of hi·factor, or if to is not null writes them, with that hi, to where starts say. */
EXPORT(spread)
void spread(const key_hash *k, const key_hash *end, uint32_t *starts, uint32_t shift, uint64_t factor, key_hash *to) {
  for (; k < end; k++) {
    uint64_t hi = k->hi * factor;
    uint32_t at = starts[hi >> shift]++;
    if (to) to[at] = (key_hash){k->lo, hi};
  }
}

static inline bool before(const key_hash *a, const key_hash *b) {
  return a->hi != b->hi ? a->hi < b->hi : a->lo < b->lo;
}

/* Up to how many keys are sorted by insertion. */
enum { FEW = 24 };

/* Counts of keys. Each level of sort takes eight further bits. */
static uint32_t counts[17][256];

/* Sorts n keys of from into to by hi, then lo. It overwrites from. */
static void sort(key_hash *from, key_hash *to, uint32_t n, uint32_t *starts) {
  uint64_t hi = 0, lo = 0;
  for (uint32_t i = 0; i < n; i++) {
    hi |= from[i].hi ^ from->hi;
    lo |= from[i].lo ^ from->lo;
  }
  if (n > FEW && (hi | lo)) {
    /* By the first bits that differ. */
    const uint64_t *word = hi ? &from->hi : &from->lo;
    uint32_t bits = 64 - __builtin_clzll(hi ? hi : lo), shift = bits > 8 ? bits - 8 : 0, sum = 0;
    __builtin_memset(starts, 0, sizeof counts[0]);
    for (uint32_t i = 0; i < n; i++) starts[word[2 * i] >> shift & 255]++;
    for (uint32_t i = 0; i < 256; i++) {
      uint32_t of = starts[i];
      starts[i] = sum;
      sum += of;
    }
    for (uint32_t i = 0; i < n; i++) to[starts[word[2 * i] >> shift & 255]++] = from[i];
    for (uint32_t i = 0, at = 0; i < 256; at = starts[i++]) {
      uint32_t of = starts[i] - at;
      if (of <= FEW) continue;
      __builtin_memcpy(from + at, to + at, of * sizeof *to);
      sort(from + at, to + at, of, starts + 256);
    }
  } else {
    __builtin_memcpy(to, from, n * sizeof *to);
  }
  for (uint32_t i = 1; i < n; i++) {
    key_hash k = to[i];
    uint32_t j = i;
    for (; j > 0 && before(&k, to + j - 1); j--) to[j] = to[j - 1];
    to[j] = k;
  }
}

/* Sorts keys i to end-1 of from into to and moves the distinct ones to number n of it. Returns the number behind them.
   It overwrites those of from. */
EXPORT(order) uint32_t order(key_hash *from, key_hash *to, uint32_t i, uint32_t end, uint32_t n) {
  sort(from + i, to + i, end - i, counts[0]);
  for (; i < end; i++) {
    if (n && to[n - 1].lo == to[i].lo && to[n - 1].hi == to[i].hi) continue;
    to[n++] = to[i];
  }
  return n;
}
