/* batches: compares batches with single queries, and the functions for AVX2 and BMI2 with the plain ones, for the
   filters and keys of the lines of flatten.py, given as a file, and for random keys. */

#include "../bloomery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 400, LONGEST = 300 }; /* keys of a batch, bytes of a random key */

static unsigned long checks, failures, filters, wide;
static const char *name = "";
static uint64_t state = 1;

/* Counts a check. Reports it if it fails. */
static void check(bool good, const char *what, size_t n) {
  checks++;
  if (good) return;
  failures++;
  if (failures <= 20) printf("FAIL %s, %lu keys: %s\n", what, (unsigned long)n, name);
}

/* Returns a random number below n. The sequence is always the same. */
static uint64_t below(uint64_t n) {
  state += 0x9E3779B97F4A7C15u;
  return bloomery_scale(bloomery_remix(state, 1), n);
}

/* Returns memory of n bytes that ends with them, so that the sanitizers find a read behind it. */
static uint8_t *allocate(size_t n) {
  uint8_t *p = (uint8_t *)malloc(n > 0 ? n : 1);
  if (!p) exit(1);
  return p;
}

static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

/* Writes the bytes of hex digits to out and returns their number. "-" has none. */
static size_t from_hex(const char *hex, uint8_t *out) {
  size_t n = 0;
  if (hex[0] == '-') return 0;
  for (; hex[2 * n]; n++) out[n] = (uint8_t)(digit(hex[2 * n]) << 4 | digit(hex[2 * n + 1]));
  return n;
}

/* Keys one after the other, at most MOST. Key i has the bytes [start[i], start[i+1]). */
typedef struct {
  uint8_t *bytes;
  size_t start[MOST + 1], count;
} list;

static void list_add(list *l, const uint8_t *key, size_t length) {
  size_t end = l->start[l->count];
  uint8_t *grown = allocate(end + length);
  if (l->count == MOST) exit(1);
  if (end > 0) memcpy(grown, l->bytes, end);
  if (length > 0) memcpy(grown + end, key, length);
  free(l->bytes);
  l->bytes = grown;
  l->start[++l->count] = end + length;
}

static void list_clear(list *l) {
  free(l->bytes);
  memset(l, 0, sizeof *l);
}

static void fill(uint8_t *key, size_t length) {
  for (size_t i = 0; i < length; i++) key[i] = (uint8_t)below(256);
}

/* Compares answers at an odd address, between two bytes that must stay, with those for keys from first on. */
static void check_answers(const bloomery_filter *f, const list *l, size_t first, size_t n, const uint8_t *out,
                          const char *what) {
  bool same = out[0] == 0xAA && out[n + 1] == 0xAA;
  for (size_t i = 0; i < n; i++) {
    const size_t *at = l->start + first + i;
    same &= out[1 + i] == (uint8_t)bloomery_has(f, at[1] > at[0] ? l->bytes + at[0] : NULL, at[1] - at[0]);
  }
  check(same, what, n);
}

/* Compares the hashes of a block of keys with those of bloomery_hash. */
static void check_hashes(const bloomery_filter *f, const bloomery_keys *keys, int way, const list *l, size_t first,
                         size_t n) {
  bloomery_batch b;
  bool same = true;
  if (n > BLOOMERY_MANY) n = BLOOMERY_MANY;
  for (int turn = 0; turn < 2; turn++) {
#ifdef BLOOMERY_WIDE
    if (turn == 1 && f->wide) {
      bloomery_wide_hash_many(f, keys, way, first, &b, 0, n);
    } else
#endif
    {
      bloomery_hash_many(f, keys, way, first, &b, 0, n);
    }
    for (size_t i = 0; i < n; i++) {
      const size_t *at = l->start + first + i;
      bloomery_key_hash h = bloomery_hash(f, l->bytes + at[0], at[1] - at[0]);
      same &= b.hi[i] == h.hi && b.lo[i] == h.lo;
    }
  }
  check(same, "hashes", n);
}

/* Queries the n keys from first on with offsets of 32 and of 64 bits. */
static void check_offsets(const bloomery_filter *f, const list *l, size_t first, size_t n) {
  size_t bytes = (n + 1) * 8;
  int32_t *offsets32 = (int32_t *)(void *)allocate(bytes / 2);
  int64_t *offsets64 = (int64_t *)(void *)allocate(bytes);
  uint8_t *out = allocate(n + 2);
  size_t length = l->start[first + n];
  bloomery_keys keys = {l->bytes, offsets32, NULL, 0};
  for (size_t i = 0; i <= n; i++) {
    offsets32[i] = (int32_t)l->start[first + i];
    offsets64[i] = (int64_t)l->start[first + i];
  }
  memset(out, 0xAA, n + 2);
  check(bloomery_has_many_offsets32(f, l->bytes, length, offsets32, n, out + 1) == BLOOMERY_OK, "offsets32", n);
  check_answers(f, l, first, n, out, "answers with offsets32");
  memset(out, 0xAA, n + 2);
  check(bloomery_has_many_offsets64(f, l->bytes, length, offsets64, n, out + 1) == BLOOMERY_OK, "offsets64", n);
  check_answers(f, l, first, n, out, "answers with offsets64");
  if (bloomery_info(f)->family != BLOOMERY_BITSANDBLOOMS && length > 0) {
    list part = *l; /* whose first key is first */
    memmove(part.start, l->start + first, (n + 1) * sizeof part.start[0]);
    check_hashes(f, &keys, BLOOMERY_OFFSETS32, &part, 0, n);
    keys.offsets32 = NULL;
    keys.offsets64 = offsets64;
    check_hashes(f, &keys, BLOOMERY_OFFSETS64, &part, 0, n);
  }
  free(offsets32);
  free(offsets64);
  free(out);
}

/* Queries random keys of one width, and integers. */
static void check_width(const bloomery_filter *f, size_t width, size_t n) {
  uint8_t *bytes = allocate(width * n), *out = allocate(n + 2);
  uint64_t *integers = (uint64_t *)(void *)allocate(8 * n);
  list l;
  bloomery_keys keys = {bytes, NULL, NULL, width};
  fill(bytes, width * n);
  memset(&l, 0, sizeof l);
  l.bytes = bytes;
  l.count = n;
  for (size_t i = 0; i <= n; i++) l.start[i] = i * width;
  memset(out, 0xAA, n + 2);
  bloomery_has_many(f, width * n > 0 ? bytes : NULL, width, n, out + 1);
  check_answers(f, &l, 0, n, out, "answers of one width");
  if (bloomery_info(f)->family != BLOOMERY_BITSANDBLOOMS) check_hashes(f, &keys, BLOOMERY_WIDTH, &l, 0, n);
  if (width == 8 && f->header.form.type == BLOOMERY_KEY_BYTES) { /* else an integer has other bytes */
    for (size_t i = 0; i < n; i++) {
      integers[i] = bloomery_load64(bytes + 8 * i);
      check(bloomery_has_integer(f, integers[i]) == bloomery_has(f, bytes + 8 * i, 8), "integer", i);
    }
    memset(out, 0xAA, n + 2);
    bloomery_has_many_integers(f, integers, n, out + 1);
    check_answers(f, &l, 0, n, out, "answers for integers");
  }
  free(bytes);
  free(out);
  free(integers);
}

/* All sizes and widths. */
static void check_batches(const bloomery_filter *f, const list *l) {
  static const size_t sizes[] = {0, 1, 3, 4, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257, MOST};
  static const size_t widths[] = {0, 1, 4, 7, 8, 9, 13, 16, 17, 40, LONGEST};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    check_offsets(f, l, (size_t)below(l->count - sizes[i] + 1), sizes[i]);
    check_width(f, widths[i % (sizeof widths / sizeof widths[0])], sizes[i]);
    check_width(f, 8, sizes[i]);
    check_width(f, 9 + (size_t)below(8), sizes[i]);
  }
}

/* Queries a filter with its keys and random ones: the functions for AVX2 and BMI2, and the plain ones. */
static void check_filter(const bloomery_filter *f, const list *keys) {
  bloomery_filter plain = *f;
  uint8_t random[LONGEST];
  list l;
  if (keys->count == 0) return;
  memset(&l, 0, sizeof l);
  plain.wide = false;
  while (l.count < MOST) { /* runs of keys of the filter and of random ones, of 9 to 16 bytes or of others */
    size_t run = (size_t)below(12), length = (size_t)below(4) == 0 ? (size_t)below(LONGEST) : 9 + (size_t)below(8);
    uint64_t kind = below(3);
    for (; run > 0 && l.count < MOST; run--) {
      size_t i = (size_t)below(keys->count);
      if (kind == 0) {
        list_add(&l, keys->bytes + keys->start[i], keys->start[i + 1] - keys->start[i]);
        continue;
      }
      if (kind == 2) length = (size_t)below(30);
      fill(random, length);
      list_add(&l, random, length);
    }
  }
  for (size_t i = 0; i < l.count; i++) {
    size_t n = l.start[i + 1] - l.start[i];
    bool has = bloomery_has(f, l.bytes + l.start[i], n);
    check(has == bloomery_has(&plain, l.bytes + l.start[i], n), "a plain query", i);
  }
  for (uint64_t i = 0; i < 100; i++) {
    uint64_t n = i % 2 ? i : below(~(uint64_t)0);
    check(bloomery_has_integer(f, n) == bloomery_has_integer(&plain, n), "a plain query of an integer", (size_t)i);
  }
  check_batches(f, &l);
  if (f->wide) check_batches(&plain, &l);
  filters++;
  wide += f->wide;
  list_clear(&l);
}

/* Offsets that are wrong must be refused, and nothing be written. */
static void check_bad_offsets(bloomery_filter *f) {
  enum { N = 20, LENGTH = 40 };
  static const int64_t bad[] = {-1, -2147483647 - 1, LENGTH + 1, 2147483647};
  int32_t offsets32[N + 1];
  int64_t offsets64[N + 1];
  uint8_t *bytes = allocate(LENGTH), out[N], none = 0;
  fill(bytes, LENGTH);
  for (size_t n = 0; n <= N; n++) {
    for (size_t i = 0; n > 0 && i <= n; i++) {
      for (size_t k = 0; k < sizeof bad / sizeof bad[0] + 2; k++) {
        bool good = false, kept = true;
        int result;
        for (size_t j = 0; j <= N; j++) offsets64[j] = (int64_t)(2 * j);
        if (k < sizeof bad / sizeof bad[0]) {
          offsets64[i] = bad[k];
        } else if (k == sizeof bad / sizeof bad[0]) {
          if (i == 0) continue;
          offsets64[i] = offsets64[i - 1] - 1; /* backwards by one */
        } else {
          offsets64[i] = i == n ? offsets64[i] : offsets64[i + 1]; /* right: an empty key */
          good = true;
        }
        for (size_t j = 0; j <= N; j++) offsets32[j] = (int32_t)offsets64[j];
        memset(out, 0xAA, N);
        result = bloomery_has_many_offsets32(f, bytes, LENGTH, offsets32, n, out);
        check(result == (good ? BLOOMERY_OK : BLOOMERY_BAD_OFFSETS), "bad offsets32", n);
        for (size_t j = 0; j < N; j++) kept &= out[j] == 0xAA || (good && j < n);
        memset(out, 0xAA, N);
        if (k == 1) offsets64[i] = INT64_MIN;
        if (k == 3) offsets64[i] = INT64_MAX;
        result = bloomery_has_many_offsets64(f, bytes, LENGTH, offsets64, n, out);
        check(result == (good ? BLOOMERY_OK : BLOOMERY_BAD_OFFSETS), "bad offsets64", n);
        for (size_t j = 0; j < N; j++) kept &= out[j] == 0xAA || (good && j < n);
        check(kept, "answers with bad offsets", n);
      }
    }
  }
  check(bloomery_has_many_offsets32(f, NULL, 0, NULL, 0, NULL) == BLOOMERY_OK, "no offsets32", 0);
  check(bloomery_has_many_offsets64(f, NULL, 0, NULL, 0, NULL) == BLOOMERY_OK, "no offsets64", 0);
  bloomery_has_many(f, NULL, 8, 0, NULL);
  bloomery_has_many(f, NULL, 0, 1, &none);
  check(none == (uint8_t)bloomery_has(f, NULL, 0), "an empty key", 1);
  bloomery_has_many_integers(f, NULL, 0, NULL);
  free(bytes);
}

/* Opens a filter, and closes the one before. With a path of NULL it only closes. */
static void open_filter(bloomery_filter *f, const char *path, const char *secret_hex) {
  static uint8_t *data, *memory;
  uint8_t secret[64];
  bool keyed;
  FILE *file;
  long length;
  size_t need;
  int result;
  free(data);
  free(memory);
  data = memory = NULL;
  if (!path) return;
  keyed = from_hex(secret_hex, secret) == 16;
  file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0 || (length = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0) {
    fprintf(stderr, "batches: cannot read %s\n", path);
    exit(1);
  }
  data = allocate((size_t)length);
  if (fread(data, 1, (size_t)length, file) != (size_t)length) exit(1);
  fclose(file);
  need = bloomery_memory(data, (size_t)length);
  memory = allocate(need);
  result = bloomery_open_in(f, data, (size_t)length, keyed ? secret : NULL, memory, need);
  if (result != BLOOMERY_OK) {
    fprintf(stderr, "batches: %s: %s\n", path, bloomery_message(result));
    exit(1);
  }
}

int main(int argc, char **argv) {
  static char line[1 << 18], path[4096];
  static uint8_t key[1 << 17];
  static bloomery_filter f;
  static list keys;
  bool open = false, checked = false; /* checked: bad offsets with the functions for AVX2 */
  FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (!file) {
    fprintf(stderr, "usage: batches FILE\n");
    return 1;
  }
  while (fgets(line, sizeof line, file)) {
    char *part[3], *rest = line;
    for (int i = 0; i < 3; i++) {
      part[i] = rest;
      rest += strcspn(rest, "\t\n");
      if (*rest) *rest++ = 0;
    }
    if (strcmp(part[0], "key") == 0) {
      if (keys.count < MOST) list_add(&keys, key, from_hex(part[1], key));
    } else if (strcmp(part[0], "file") == 0) {
      if (open) check_filter(&f, &keys);
      list_clear(&keys);
      snprintf(path, sizeof path, "%s", part[1]);
      name = path;
      open_filter(&f, path, part[2]);
      if (!open || (f.wide && !checked)) {
        check_bad_offsets(&f);
        checked = f.wide;
      }
      open = true;
    }
  }
  if (open) check_filter(&f, &keys);
  list_clear(&keys);
  open_filter(&f, NULL, NULL);
  fclose(file);
  check(filters > 100, "too few filters", filters);
  printf("batches: %lu filters, %lu of them with AVX2 and BMI2: %lu checks, %lu failures\n", filters, wide, checks,
         failures);
  return failures > 0;
}
