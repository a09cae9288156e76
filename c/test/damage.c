/* damage: opens damaged files of filters and exact sets. The sanitizers find reads and writes that are out of bounds.

   usage: damage MUTATIONS FILE...

   For each file: no truncated file and no file with a changed byte opens. Then MUTATIONS copies in all are
   changed at random places and get right checksums: they must not harm the program, whether they open or not, nor must
   the queries of those that open. */

#include "../bloomery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t secret[16] = {1, 2, 3};

static uint64_t state = 1;

/* Returns a random number below n. The sequence is always the same. */
static uint64_t below(uint64_t n) {
  state += 0x9E3779B97F4A7C15u;
  return bloomery_scale(bloomery_remix(state, 1), n);
}

static void *allocate(size_t n) {
  void *p = malloc(n > 0 ? n : 1);
  if (!p) {
    fprintf(stderr, "damage: out of memory\n");
    exit(1);
  }
  return p;
}

static void store(uint8_t *p, uint64_t v, int bytes) {
  for (int i = 0; i < bytes; i++) p[i] = (uint8_t)(v >> 8 * i);
}

/* Whether a file is one of an exact set. A filter has at least 64 bytes. */
static bool is_exact(const uint8_t *data, size_t length) {
  return length < 64 ? length > 0 && data[0] == 0x89 : data[3] == 'X';
}

/* try_file for an exact set. copy has no byte behind its end. */
static int try_exact(const uint8_t *copy, size_t length, int keys) {
  size_t need = bloomery_exact_memory(copy, length);
  uint8_t *memory = (uint8_t *)allocate(need);
  bloomery_exact set;
  int result = bloomery_exact_open(&set, copy, length, secret, memory, need);
  if (need > 64 * length + (1 << 16) || (result != BLOOMERY_OK && result != BLOOMERY_WRONG_SECRET && need > 0)) {
    fprintf(stderr, "damage: a set of %zu bytes needs %zu bytes of memory\n", length, need);
    exit(1);
  }
  if (result == BLOOMERY_OK && bloomery_exact_open(&set, copy, length, secret, memory, 7) != BLOOMERY_NEEDS_MEMORY) {
    fprintf(stderr, "damage: a set opens in less memory than it needs\n");
    exit(1);
  }
  if (result == BLOOMERY_OK) result = bloomery_exact_open(&set, copy, length, secret, memory, need);
  for (int i = 0; result == BLOOMERY_OK && i < keys; i++) {
    uint8_t key[300];
    size_t n = (size_t)below(i % 4 ? 40 : sizeof key), name = (size_t)below(n + 1);
    for (size_t j = 0; j < n; j++) key[j] = (uint8_t)below(256);
    bloomery_exact_has(&set, key, n);
    bloomery_exact_has_in(&set, key, name, key, n);
  }
  free(memory);
  return result;
}

/* Queries a batch of keys, in both ways if the processor has AVX2, and compares the answers with those of single
   queries. */
static void try_batch(bloomery_filter *f) {
  enum { N = 40 };
  uint8_t bytes[8 * N], out[N];
  bool wide = f->wide;
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)below(256);
  for (int turn = 0; turn < 2; turn++) {
    bloomery_has_many(f, bytes, 8, N, out);
    f->wide = false;
    for (size_t i = 0; i < N; i++) {
      if (out[i] == (uint8_t)bloomery_has(f, bytes + 8 * i, 8)) continue;
      fprintf(stderr, "damage: a batch has another answer than a single query\n");
      exit(1);
    }
  }
  f->wide = wide;
}

/* Opens a copy of a file that has no byte behind its end, and queries some keys. */
static int try_file(const uint8_t *data, size_t length, int keys) {
  uint8_t *copy = (uint8_t *)allocate(length), *memory = NULL;
  size_t need;
  int result;
  bloomery_filter f;
  if (length > 0) memcpy(copy, data, length);
  if (is_exact(copy, length)) {
    result = try_exact(copy, length, keys);
    free(copy);
    return result;
  }
  need = bloomery_memory(copy, length);
  if (need > 64 * length + (1 << 20)) {
    fprintf(stderr, "damage: a file of %zu bytes needs %zu bytes of memory\n", length, need);
    exit(1);
  }
  memory = (uint8_t *)allocate(need);
  if (need > 0 && bloomery_open_in(&f, copy, length, secret, memory, need - 1) == BLOOMERY_OK) {
    fprintf(stderr, "damage: a file opens in less memory than it needs\n");
    exit(1);
  }
  result = bloomery_open_in(&f, copy, length, secret, memory, need);
  for (int i = 0; result == BLOOMERY_OK && i < keys; i++) {
    bloomery_key_hash h;
    uint8_t key[40];
    uint64_t value;
    size_t n = (size_t)below(sizeof key + 1);
    h.hi = i == 0 ? 0 : i == 1 ? ~(uint64_t)0 : below(~(uint64_t)0);
    h.lo = i == 0 ? 0 : i == 1 ? ~(uint64_t)0 : below(~(uint64_t)0);
    bloomery_has_hash(&f, h);
    for (size_t j = 0; j < n; j++) key[j] = (uint8_t)below(256);
    bloomery_count(&f, key, n);
    bloomery_get(&f, key, n, &value);
    if (bloomery_get(&f, key, n, &value) && !bloomery_has(&f, key, n)) {
      fprintf(stderr, "damage: a value of an absent key\n");
      exit(1);
    }
  }
  if (result == BLOOMERY_OK && keys > 0) try_batch(&f);
  free(memory);
  free(copy);
  return result;
}

/* Computes the checksums of an exact set, as far as it can be read, one after the other. */
static void fix_exact(uint8_t *data, size_t length) {
  for (int times = 0; times < 600; times++) {
    bloomery_exact set;
    bloomery_exact_file file;
    bloomery_crc_tables tables;
    uint32_t old, crc;
    memset(&file, 0, sizeof file);
    file.data = data;
    file.length = length;
    if (bloomery_exact_read(&set, &file) != BLOOMERY_BAD_CHECKSUM) return;
    bloomery_crc_begin(&tables, length);
    old = bloomery_load32(data + file.at - 4);
    crc = bloomery_crc(&tables, 0, data + file.from, file.at - 4 - file.from);
    store(data + file.at - 4, crc, 4);
    if (length - file.at >= 10 && bloomery_load32(data + file.at + 6) == old) store(data + file.at + 6, crc, 4);
  }
}

/* Computes the checksums of all parts that lie in the file. */
static void fix_checksums(uint8_t *data, uint64_t length) {
  bloomery_crc_tables tables;
  uint64_t sections, end;
  if (length < 64 || is_exact(data, (size_t)length)) {
    fix_exact(data, (size_t)length);
    return;
  }
  bloomery_crc_begin(&tables, length);
  sections = data[14];
  end = 64 + 24 * sections + bloomery_load32(data + 56);
  for (uint64_t i = 0; i < sections && 64 + 24 * (i + 1) <= length; i++) {
    uint8_t *entry = data + 64 + 24 * i;
    uint64_t at = bloomery_load64(entry), bytes = bloomery_load64(entry + 8);
    if (at <= length && bytes <= length - at) store(entry + 16, bloomery_crc(&tables, 0, data + at, bytes), 4);
  }
  if (end <= length) {
    store(data + 60, bloomery_crc(&tables, bloomery_crc(&tables, 0, data, 60), data + 64, end - 64), 4);
  }
}

/* A number that is likely to be at a limit. */
static uint64_t odd_number(void) {
  uint64_t near = (uint64_t)1 << below(64);
  return below(3) == 0 ? below(300) : near + below(3) - 1;
}

/* Changes a byte of an exact set: of the first record's numbers, of the end, which has the updates, or any. */
static void mutate_exact(uint8_t *data, size_t length) {
  size_t part = below(2) == 0 && length > 70 ? 70 : length, at = (size_t)below(part);
  if (below(3) == 0) at = length - 1 - at;
  switch (below(3)) {
  case 0: data[at] ^= (uint8_t)(1 << below(8)); break;
  case 1: data[at] = (uint8_t)below(256); break;
  default: data[at] = (uint8_t)(data[at] + below(5) - 2);
  }
}

/* Changes a file in one place. */
static void mutate(uint8_t *data, size_t length) {
  size_t spec, spec_length, at;
  if (length < 64 || is_exact(data, length)) {
    mutate_exact(data, length);
    return;
  }
  spec = 64 + 24 * (size_t)data[14];
  spec_length = bloomery_load32(data + 56);
  switch (below(6)) {
  case 0: /* a field of the header */
    at = (size_t)below(8);
    store(data + 8 + (at < 4 ? 2 * at : 8 * (at - 3)), odd_number(), at < 4 ? 2 : 8);
    break;
  case 1: /* a character of the spec */
  case 2:
    if (spec + spec_length <= length && spec_length > 0) {
      at = spec + (size_t)below(spec_length);
      if (data[at] >= '0' && data[at] <= '9') {
        data[at] = (uint8_t)('0' + below(10));
      } else if (below(20) == 0) {
        data[at] = (uint8_t)below(128);
      }
    }
    break;
  case 3: /* the table */
    at = 64 + 8 * (size_t)below(3);
    if (at + 8 <= length) store(data + at, odd_number(), 8);
    break;
  default: /* a byte of a section */
    at = spec + spec_length < length ? spec + spec_length : 0;
    data[at + below(length - at)] ^= (uint8_t)(1 << below(8));
  }
}

static void must_refuse(const uint8_t *data, size_t length, const char *what, const char *path, size_t at) {
  if (try_file(data, length, 0) != BLOOMERY_OK) return;
  fprintf(stderr, "damage: %s opens with %s at byte %zu\n", path, what, at);
  exit(1);
}

int main(int argc, char **argv) {
  static uint8_t data[1 << 20];
  unsigned long mutations = argc > 2 ? strtoul(argv[1], NULL, 10) : 0, opened = 0, refused = 0, damaged = 0;
  if (argc < 3) {
    fprintf(stderr, "usage: damage MUTATIONS FILE...\n");
    return 1;
  }
  for (int i = 2; i < argc; i++) {
    FILE *file = fopen(argv[i], "rb");
    size_t length = file ? fread(data, 1, sizeof data, file) : 0;
    if (!file || length == sizeof data) {
      fprintf(stderr, "damage: cannot read %s, or it has more than %zu bytes\n", argv[i], sizeof data);
      return 1;
    }
    fclose(file);
    if (try_file(data, length, 100) == BLOOMERY_OK) { /* others are seeds of the fuzzer that do not open */
      size_t step = length < 1 << 16 ? 1 : length / 500; /* of large files only some places */
      for (size_t n = 0; n < length; n += step) must_refuse(data, n, "an end", argv[i], n);
      data[length] = 0;
      must_refuse(data, length + 1, "a further byte", argv[i], length);
      for (size_t n = 0; n < length; n += step) {
        for (int whole = 0; whole < 2; whole++) { /* a bit, then all eight */
          uint8_t with = (uint8_t)(whole ? 255 : 1 << n % 8);
          data[n] ^= with;
          must_refuse(data, length, "a changed byte", argv[i], n);
          data[n] ^= with;
        }
      }
      damaged += 3 * ((length + step - 1) / step) + 1;
    }
    if (length < 64 && !is_exact(data, length)) continue;
    for (unsigned long n = 0; n < mutations / (unsigned long)(argc - 2); n++) {
      uint8_t *copy = (uint8_t *)allocate(length);
      memcpy(copy, data, length);
      for (uint64_t times = 1 + below(3); times > 0; times--) mutate(copy, length);
      fix_checksums(copy, length);
      if (try_file(copy, below(20) == 0 ? (size_t)below(length + 1) : length, 8) == BLOOMERY_OK) {
        opened++;
      } else {
        refused++;
      }
      free(copy);
    }
  }
  printf("damage: %d files, %lu damaged copies refused; of those with right checksums %lu opened, %lu refused\n",
         argc - 2, damaged, opened, refused);
  if (damaged == 0 || opened == 0 || refused == 0) {
    fprintf(stderr, "damage: the trial is one-sided\n");
    return 1;
  }
  return 0;
}
