/* Part of build.c: the equations of ribbon. src/build/ribbon.ts and rows.ts are the specification. */

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
