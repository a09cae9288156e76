/* Part of build.c: the equations of binary fuse filters. src/build/fuse.ts is the specification. */

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
