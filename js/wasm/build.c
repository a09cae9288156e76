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
    uint64_t x = k->lo, by = k->hi | 1;
    for (uint32_t left = probes;;) {
      uint32_t at = scale(x, m);
      words[at / 32] |= 1u << (at & 31);
      if (!--left) break;
      x = bloomery_fold(x, by);
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

/* ---- Binary fuse filters: src/build/fuse.ts ---- */

/* The system of equations. */
static struct {
  uint64_t seed;
  uint32_t segment, count;
  uint64_t *xors;    /* of each slot: the XOR of the mixed keys that use it */
  uint8_t *uses;     /* of each slot: their number times 4, and the XOR of their places */
  uint64_t *mixed;   /* mixed keys; after peeling in its order */
  uint8_t *places;   /* which of its slots a peeled key sets */
  uint32_t *singles; /* a stack of slots that have or had one key */
  uint32_t top, peeled;
} system;

EXPORT(fuse)
void fuse(uint64_t seed, uint32_t segment, uint32_t count, uint64_t *xors, uint8_t *uses, uint64_t *mixed,
          uint8_t *places, uint32_t *singles) {
  system.seed = seed;
  system.segment = segment;
  system.count = count;
  system.xors = xors;
  system.uses = uses;
  system.mixed = mixed;
  system.places = places;
  system.singles = singles;
  system.top = system.peeled = 0;
}

static inline uint64_t mix(uint64_t x) {
  x = (x ^ x >> 33) * 0xFF51AFD7ED558CCDu;
  x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53u;
  return x ^ x >> 33;
}

/* Counts keys by the first bits of their mixed form, or if placed writes them to where starts say. */
EXPORT(part)
void part(const key_hash *k, const key_hash *end, uint32_t *starts, uint32_t shift, bool placed) {
  uint64_t seed = system.seed, *mixed = system.mixed;
  for (; k < end; k++) {
    uint64_t x = mix(k->lo + seed);
    uint32_t at = starts[x >> shift]++;
    if (placed) mixed[at] = x;
  }
}

/* The slots of a mixed key. */
static inline void slots_of(uint64_t x, uint32_t slots[3]) {
  uint32_t segment = system.segment, mask = segment - 1, at = scale(x, system.count);
  slots[0] = at;
  slots[1] = (at + segment) ^ ((uint32_t)(x >> 18) & mask);
  slots[2] = (at + 2 * segment) ^ ((uint32_t)x & mask);
}

/* Adds mixed keys i to end-1, and reports whether no slot has 64: counts have six bits. */
EXPORT(enter) bool enter(uint32_t i, uint32_t end) {
  uint64_t *xors = system.xors;
  uint8_t *uses = system.uses;
  bool fits = true;
  for (; i < end; i++) {
    uint64_t x = system.mixed[i];
    uint32_t slots[3];
    slots_of(x, slots);
    for (uint32_t place = 0; place < 3; place++) {
      uint32_t at = slots[place];
      uint8_t u = uses[at] + 4;
      fits &= u > 3;
      uses[at] = u ^ place;
      xors[at] ^= x;
    }
  }
  return fits;
}

/* Pushes the slots i to end-1 that have one key. */
EXPORT(find) void find(uint32_t i, uint32_t end) {
  uint32_t top = system.top;
  for (; i < end; i++) {
    system.singles[top] = i;
    top += system.uses[i] >> 2 == 1;
  }
  system.top = top;
}

/* Leaves out at most most keys, and returns how many are left out in all: the last slot that was pushed comes first. */
EXPORT(peel) uint32_t peel(uint32_t most) {
  uint64_t *xors = system.xors, *mixed = system.mixed;
  uint32_t *singles = system.singles, top = system.top, n = system.peeled;
  uint8_t *uses = system.uses;
  for (most += n; top > 0 && n < most;) {
    uint32_t at = singles[--top], slots[3], u = uses[at];
    if (u >> 2 != 1) continue;
    uint64_t x = xors[at];
    uint32_t place = u & 3;
    mixed[n] = x;
    system.places[n++] = place;
    slots_of(x, slots);
    for (uint32_t other = 0; other < 2; other++) {
      place = place == 2 ? 0 : place + 1;
      at = slots[place];
      u = uses[at] - 4;
      uses[at] = u ^ place;
      xors[at] ^= x;
      singles[top] = at;
      top += u >> 2 == 1;
    }
  }
  system.top = top;
  return system.peeled = n;
}

/* Sets the slots of peeled keys end-1 to i, in this order, to fingerprints of width bits, 1 to 32. */
EXPORT(fill) void fill(uint32_t i, uint32_t end, uint8_t *bits, uint32_t width) {
  uint64_t mask = ((uint64_t)1 << width) - 1;
  while (end-- > i) {
    uint64_t x = system.mixed[end], v = x ^ x >> 32; /* its own slot is 0 yet */
    uint32_t slots[3];
    slots_of(x, slots);
    for (uint32_t place = 0; place < 3; place++) v ^= bloomery_load57(bits, (uint64_t)slots[place] * width);
    uint64_t at = (uint64_t)slots[system.places[end]] * width;
    uint8_t *to = bits + (uint32_t)(at >> 3);
    v = bloomery_load64(to) | (v & mask) << (at & 7);
    __builtin_memcpy(to, &v, sizeof v);
  }
}

/* ---- Keys in order: src/build/sorted.ts ---- */

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

/* ---- Ribbon: src/build/ribbon.ts and rows.ts ---- */

/* A layer, and the equations of a segment of it. The first coefficient of a row is bit 0 and belongs to its slot. */
static struct {
  uint64_t back;       /* the inverse of the factor */
  uint32_t starts;     /* of the layer */
  uint32_t turn;       /* coefficients are rotated by that many bits */
  uint32_t broad;      /* 1 if a row has two words of coefficients, else 0 */
  uint32_t shift;      /* log2 of the starts of a bucket */
  uint32_t limits[3];  /* thresholds of classes 0 to 2 */
  uint32_t r, columns; /* of the other blocks, and of the first blocks */
  uint32_t wider;      /* the number of the first blocks */
  uint64_t *rows;
  uint32_t *results;
  uint32_t *pivots; /* the rows of a group of keys */
  uint32_t placed;  /* their number */
  key_hash *next, *end, *bumped;
} layer;

EXPORT(layer)
void begin(uint64_t back, uint32_t starts, uint32_t turn, uint32_t broad, uint32_t shift, uint32_t limit,
           uint32_t limit2, uint32_t r, uint32_t columns, uint32_t wider, uint64_t *rows, uint32_t *results,
           uint32_t *pivots, key_hash *keys, key_hash *end) {
  layer.back = back;
  layer.starts = starts;
  layer.turn = turn;
  layer.broad = broad;
  layer.shift = shift;
  layer.limits[1] = limit;
  layer.limits[2] = limit2;
  layer.r = r;
  layer.columns = columns;
  layer.wider = wider;
  layer.rows = rows;
  layer.results = results;
  layer.pivots = pivots;
  layer.next = layer.bumped = keys;
  layer.end = end;
}

/* Returns bits that follow from a key, rotated. */
static __attribute__((noinline)) uint64_t mixed(uint64_t x, uint64_t factor, uint32_t turn) {
  uint64_t v = bloomery_fold(x, factor);
  return v << turn | v >> (-turn & 63);
}

/* Inserts the equations of a group of a bucket, of the last keys before layer.next whose offsets in the bucket are
   limit or more, from the last one to the first, and moves layer.next. It stops and returns false if an equation
   contradicts others. layer.pivots gets the rows, layer.placed their number. first and slot are those of solve.

   If pairs is true, all keys of the group must have the same columns: then the order does not change the solution, and
   it takes steps of two equations in turn. Neither waits for the rows that the other one reads. */
static inline __attribute__((always_inline)) bool insert(const key_hash *keys, uint32_t limit, uint32_t first,
                                                         uint32_t slot, bool pairs, uint32_t broad) {
  uint64_t *rows = layer.rows, c = 0, d = 0, c2 = 0, d2 = 0, mask = 0;
  uint32_t *results = layer.results, at = 0, result = 0, at2 = 0, result2 = 0, placed = 0;
  const key_hash *k = layer.next;
  bool waits = false, agree = true; /* whether there is a second equation */
  while (agree) {
    uint32_t start = k > keys ? scale(k[-1].hi, layer.starts) : 0;
    if (k > keys && (start & ((1u << layer.shift) - 1)) >= limit) {
      k--;
      uint64_t x = k->hi * layer.back ^ k->lo;
      at = start - first;
      c = mixed(x, 0x71BF41D65460B8E9u, layer.turn) | 1;
      if (broad) d = mixed(x, 0x04666D532545AE33u, layer.turn);
      result = (uint32_t)mixed(x, 0x50A89A3BE7770CBFu, 0);
      mask = ((uint64_t)1 << ((slot + at) / 64 + broad + 1 < layer.wider ? layer.columns : layer.r)) - 1;
      if (pairs && !waits) {
        waits = true;
        c2 = c;
        d2 = d;
        at2 = at;
        result2 = result;
        continue;
      }
    } else if (waits) {
      waits = false;
      c = c2;
      d = d2;
      at = at2;
      result = result2;
    } else {
      break;
    }
    for (uint64_t row; (row = rows[at << broad]);) {
      result ^= results[at];
      c ^= row;
      if (broad) {
        d ^= rows[2 * at + 1];
        if (!c) {
          c = d;
          d = 0;
          at += 64;
        }
      }
      if (!c) break;
      uint32_t n = __builtin_ctzll(c);
      at += n;
      c >>= n;
      if (broad) {
        c |= d << 1 << (63 - n);
        d >>= n;
      }
      if (waits) {
        uint64_t c1 = c, d1 = d;
        uint32_t at1 = at, result1 = result;
        c = c2;
        d = d2;
        at = at2;
        result = result2;
        c2 = c1;
        d2 = d1;
        at2 = at1;
        result2 = result1;
      }
    }
    if (!c) {
      agree = !(result & mask);
      continue;
    }
    rows[at << broad] = c;
    if (broad) rows[2 * at + 1] = d;
    results[at] = result;
    layer.pivots[placed++] = at;
  }
  layer.next = (key_hash *)k;
  layer.placed = placed;
  return agree;
}

/* Inserts the keys of buckets b to end-1 of a segment that begins at a start and, in the solution, at a slot. It writes
   the classes of the buckets, moves the keys that are bumped to the front, with their own hi, and returns the number of
   keys that are left. */
EXPORT(solve) uint32_t solve(uint32_t b, uint32_t end, uint32_t first, uint32_t slot, uint8_t *classes) {
  for (; b < end; b++) {
    key_hash *keys = layer.next, *next = keys;
    while (next < layer.end && scale(next->hi, layer.starts) >> layer.shift == b) next++;
    layer.next = next;
    uint32_t top = (slot + ((b + 1) << layer.shift) - 1 - first) / 64 + layer.broad + 1;
    bool pairs = top < layer.wider || slot / 64 >= layer.wider;
    for (uint32_t class = 3; class > 0; class--) {
      const key_hash *last = layer.next;
      uint32_t limit = layer.limits[class - 1];
      if (layer.broad && insert(keys, limit, first, slot, pairs, 1)) continue;
      if (!layer.broad && insert(keys, limit, first, slot, pairs, 0)) continue;
      while (layer.placed > 0) {
        uint32_t at = layer.pivots[--layer.placed];
        layer.rows[at << layer.broad] = layer.results[at] = 0;
        if (layer.broad) layer.rows[2 * at + 1] = 0;
      }
      classes[b] = class;
      for (; keys < last; keys++) *layer.bumped++ = (key_hash){keys->lo, keys->hi * layer.back};
      break;
    }
    layer.next = next;
  }
  return layer.end - layer.next;
}

/* Returns the number of keys that all segments have bumped. */
EXPORT(bumped) uint32_t bumped(const key_hash *keys) { return layer.bumped - keys; }

/* The slots behind the one to compute, of each column: bit i of x is slot at+1+i, and y has those behind x. */
static struct {
  uint64_t x, y;
} behind[36];

/* Computes 64 slots of four columns, from the last one to the first. A slot without a row is 0. */
static inline __attribute__((always_inline)) void four(uint32_t at, uint32_t column, uint32_t broad) {
  uint64_t x[4], y[4];
  for (uint32_t k = 0; k < 4; k++) {
    x[k] = behind[column + k].x;
    y[k] = behind[column + k].y;
  }
  for (uint32_t i = at + 64; i-- > at;) {
    const uint64_t *row = layer.rows + (i << broad);
    uint32_t result = layer.results[i] >> column;
    uint64_t c = row[0] >> 1, d = 0;
    if (broad) {
      c |= row[1] << 63;
      d = row[1] >> 1;
    }
    for (uint32_t k = 0; k < 4; k++) {
      uint64_t all = c & x[k];
      if (broad) {
        all ^= d & y[k];
        y[k] = y[k] << 1 | x[k] >> 63;
      }
      x[k] = x[k] << 1 | (((uint32_t)__builtin_popcountll(all) ^ result >> k) & 1);
    }
  }
  for (uint32_t k = 0; k < 4; k++) {
    behind[column + k].x = x[k];
    behind[column + k].y = y[k];
  }
}

/* Computes blocks end-1 to i of the segment, in this order, and writes their columns. The first block of the segment is
   number base of the layer. The last blocks of a segment come first, with last. */
EXPORT(substitute) void substitute(uint32_t i, uint32_t end, bool last, uint32_t base, uint64_t *words) {
  if (last) __builtin_memset(behind, 0, sizeof behind);
  while (end-- > i) {
    uint32_t place = base + end, wide = place < layer.wider, columns = wide ? layer.columns : layer.r;
    uint64_t *to = words + place * layer.r + (wide ? place : layer.wider);
    for (uint32_t column = 0; column < layer.columns; column += 4) {
      if (layer.broad) {
        four(64 * end, column, 1);
      } else {
        four(64 * end, column, 0);
      }
    }
    for (uint32_t column = 0; column < columns; column++) to[column] = behind[column].x;
  }
}
