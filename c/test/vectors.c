/* vectors: checks the header against the lines of flatten.py, given as a file. */

#include "../bloomery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long checks, failures;
static uint8_t key[1 << 17];

/* Counts a check. Reports it if it fails. */
static void check(bool good, const char *what, const char *line) {
  checks++;
  if (good) return;
  failures++;
  if (failures <= 20) printf("FAIL %s: %s\n", what, line);
}

/* A filter file. The file lies at an odd address, in memory that ends with it: a reader needs no alignment. */
typedef struct {
  uint8_t *block, *memory;
  bloomery_filter filter;
  bloomery_exact set; /* of the file of an exact set */
  int result;
} opened;

static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

/* Writes the bytes of hex digits to out and returns their number. "-" has none. */
static size_t from_hex(const char *hex, uint8_t *out) {
  size_t n = 0;
  if (hex[0] == '-') return 0;
  for (; hex[2 * n]; n++) out[n] = (uint8_t)(digit(hex[2 * n]) << 4 | digit(hex[2 * n + 1]));
  return n;
}

static void open_file(opened *o, const char *path, const char *secret_hex, bool exact) {
  uint8_t secret[64];
  const uint8_t *with;
  bool keyed = from_hex(secret_hex, secret) == 16;
  FILE *file = fopen(path, "rb");
  long length;
  size_t need;
  free(o->block);
  free(o->memory);
  if (!file || fseek(file, 0, SEEK_END) != 0 || (length = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0) {
    fprintf(stderr, "vectors: cannot read %s\n", path);
    exit(1);
  }
  o->block = (uint8_t *)malloc((size_t)length + 1);
  if (!o->block || fread(o->block + 1, 1, (size_t)length, file) != (size_t)length) {
    fprintf(stderr, "vectors: cannot read %s\n", path);
    exit(1);
  }
  fclose(file);
  need = exact ? bloomery_exact_memory(o->block + 1, (size_t)length) : bloomery_memory(o->block + 1, (size_t)length);
  o->memory = (uint8_t *)malloc(need + 1);
  if (!o->memory) exit(1);
  with = keyed ? secret : NULL;
  o->result = exact ? bloomery_exact_open(&o->set, o->block + 1, (size_t)length, with, o->memory + 1, need)
                    : bloomery_open_in(&o->filter, o->block + 1, (size_t)length, with, o->memory + 1, need);
}

static void check_key(const opened *o, char **part, const char *line) {
  const bloomery_filter *f = &o->filter;
  size_t n = from_hex(part[1], key);
  bloomery_key_hash h = bloomery_hash(f, n > 0 ? key : NULL, n);
  uint64_t value;
  bool has = part[4][0] == '1', counts = part[5][0] != '-', got;
  check(h.hi == strtoull(part[2], NULL, 16) && h.lo == strtoull(part[3], NULL, 16), "hash", line);
  check(bloomery_has(f, key, n) == has, "has", line);
  check(!has || bloomery_has_hash(f, h), "has of the hash", line);
  check(bloomery_info(f)->family == BLOOMERY_BITSANDBLOOMS || bloomery_has_hash(f, h) == has, "has of the hash", line);
  check(!counts || bloomery_count(f, key, n) == strtoull(part[5], NULL, 10), "count", line);
  check(bloomery_info(f)->counts || bloomery_count(f, key, n) == 0, "count without counts", line);
  got = bloomery_get(f, key, n, &value);
  check(got == (bloomery_info(f)->value_bits > 0 && has), "value present", line);
  check(value == (part[6][0] == '-' ? 0 : strtoull(part[6], NULL, 10)), "value", line);
}

static void check_counts(const opened *o, const char *want, const char *line) {
  const bloomery_exact_header *h = bloomery_exact_info(&o->set);
  char text[100];
  snprintf(text, sizeof text, "%llu/%llu/%llu/%lu", (unsigned long long)h->universe, (unsigned long long)h->members,
           (unsigned long long)h->partitions, (unsigned long)h->records - 1);
  check(strcmp(text, want) == 0, "counts of an exact set", line);
}

static void check_member(const opened *o, char **part, const char *line) {
  static uint8_t name[1 << 16];
  size_t name_length = from_hex(part[1], name), n = from_hex(part[2], key);
  bool has = part[5][0] == '1';
  if (o->set.header.partitions == 0) {
    bloomery_joined all = bloomery_whole(key, n);
    bloomery_key_hash h = bloomery_exact_hash(&o->set, &all);
    check(h.hi == strtoull(part[3], NULL, 16) && h.lo == strtoull(part[4], NULL, 16), "hash of a member", line);
  }
  check(bloomery_exact_has_in(&o->set, name, name_length, n > 0 ? key : NULL, n) == has, "exact", line);
  if (name_length == 0) check(bloomery_exact_has(&o->set, key, n) == has, "exact without a partition", line);
}

static void check_route(char **part, const char *line) {
  bloomery_key_hash h;
  h.hi = strtoull(part[1], NULL, 16);
  h.lo = strtoull(part[2], NULL, 16);
  check(bloomery_route(h, strtoull(part[3], NULL, 10)) == strtoull(part[4], NULL, 10), "route", line);
}

static uint32_t hash_named(const char *name) {
  static const char *const names[] = {"xxh3-128",        "siphash-128",           "xxh64",
                                      "murmur3-x64-128", "murmur3-x64-128-twice", "murmur64a-twice",
                                      "murmur3-x86-32-twice", "uint64", "fnv1-64"};
  for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(name, names[i]) == 0) return i + 1;
  }
  return 0;
}

static void check_hash(char **part, const char *line) {
  uint8_t secret[64];
  bloomery_filter f;
  bloomery_key_hash h;
  size_t n = from_hex(part[3], key);
  memset(&f, 0, sizeof f);
  f.header.hash = hash_named(part[1]);
  check(f.header.hash != 0, "unknown hash", line);
  if (f.header.hash == BLOOMERY_SIPHASH) {
    check(from_hex(part[2], secret) == 16, "secret", line);
    f.secret[0] = bloomery_load64(secret);
    f.secret[1] = bloomery_load64(secret + 8);
  } else {
    f.header.seed = strtoull(part[2], NULL, 10);
  }
  h = bloomery_hash(&f, key, n);
  check(h.hi == strtoull(part[4], NULL, 16) && h.lo == strtoull(part[5], NULL, 16), "hash", line);
}

static void check_murmur3(char **part, const char *line) {
  uint64_t four[4];
  char text[65];
  bloomery_murmur3(key, from_hex(part[1], key), four);
  for (int i = 0; i < 4; i++) snprintf(text + 16 * i, 17, "%016llx", (unsigned long long)four[i]);
  check(strcmp(text, part[2]) == 0, "murmur3", line);
}

/* The key of a value of a type. */
static void check_form(char **part, const char *line) {
  uint8_t text[1 << 10], want[300];
  bloomery_form form = {0, 0, 0, false, false};
  bloomery_key made;
  bool good;
  size_t n = 0;
  form.type = (uint8_t)strtoul(part[1], NULL, 10);
  form.scale = (uint8_t)strtoul(part[2], NULL, 10);
  form.width = (uint8_t)strtoul(part[3], NULL, 10);
  if (strcmp(part[4], "integer") == 0) {
    good = bloomery_integer_key(&form, strtoull(part[5], NULL, 10), &made);
  } else {
    n = from_hex(part[5], text);
    good = bloomery_text_key(&form, (const char *)text, n, &made);
  }
  check(good == (part[6] == NULL || part[6][0] != '-'), "value with a key", line);
  if (!good) return;
  n = part[6] ? from_hex(part[6], want) : 0;
  check(made.n == n && memcmp(made.bytes, want, n) == 0, "key of a value", line);
}

/* A value of the column of a filter. */
static void check_value(const opened *o, char **part, const char *line) {
  static char text[1 << 10];
  size_t n = from_hex(part[1], (uint8_t *)text);
  text[n] = 0;
  check(bloomery_has_text(&o->filter, text, n), "value of a column", line);
  if (part[2][0] == '1') {
    uint64_t number = text[0] == '-' ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
    uint8_t has = 0;
    bloomery_has_many_integers(&o->filter, &number, 1, &has);
    check(bloomery_has_integer(&o->filter, number) && has, "integer of a column", line);
  }
}

/* Every result has a message. */
static void check_messages(void) {
  check(bloomery_message(BLOOMERY_OK) != NULL && strcmp(bloomery_message(-1), "unknown result") == 0, "message", "-1");
  for (int i = 1; i <= BLOOMERY_BAD_OFFSETS; i++) {
    check(strcmp(bloomery_message(i), "unknown result") != 0, "message", "a result");
  }
}

int main(int argc, char **argv) {
  static char line[1 << 18], copy[1 << 18];
  opened o;
  FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
  unsigned long files = 0, keys = 0, refused = 0, routes = 0, hashes = 0, sets = 0, members = 0, forms = 0, values = 0;
  memset(&o, 0, sizeof o);
  if (!file) {
    fprintf(stderr, "usage: vectors FILE\n");
    return 1;
  }
  check_messages();
  while (fgets(line, sizeof line, file)) {
    char *part[8] = {0}, *rest = copy;
    line[strcspn(line, "\n")] = 0;
    memcpy(copy, line, strlen(line) + 1);
    for (int i = 0; i < 8 && *rest; i++) {
      part[i] = rest;
      rest += strcspn(rest, "\t");
      if (*rest) *rest++ = 0;
    }
    if (strcmp(part[0], "file") == 0) {
      open_file(&o, part[1], part[2], false);
      check(o.result == BLOOMERY_OK, bloomery_message(o.result), line);
      if (o.result != BLOOMERY_OK) return 1;
      files++;
    } else if (strcmp(part[0], "key") == 0) {
      check_key(&o, part, line);
      keys++;
    } else if (strcmp(part[0], "exact") == 0) {
      open_file(&o, part[1], part[2], true);
      check(o.result == BLOOMERY_OK, bloomery_message(o.result), line);
      if (o.result != BLOOMERY_OK) return 1;
      check_counts(&o, part[3], line);
      sets++;
    } else if (strcmp(part[0], "member") == 0) {
      check_member(&o, part, line);
      members++;
    } else if (strcmp(part[0], "refused") == 0) {
      open_file(&o, part[1], part[2], false);
      check((o.result != BLOOMERY_OK) == (part[3][0] != '0'), bloomery_message(o.result), line);
      check(part[3][0] != '2' || o.result == BLOOMERY_BAD_FAMILY, bloomery_message(o.result), line);
      check(part[3][0] != '3' || o.result == BLOOMERY_BAD_VERSION, bloomery_message(o.result), line);
      refused++;
    } else if (strcmp(part[0], "route") == 0) {
      check_route(part, line);
      routes++;
    } else if (strcmp(part[0], "hash") == 0) {
      check_hash(part, line);
      hashes++;
    } else if (strcmp(part[0], "value") == 0) {
      check_value(&o, part, line);
      values++;
    } else if (strcmp(part[0], "form") == 0) {
      check_form(part, line);
      forms++;
    } else if (strcmp(part[0], "murmur3") == 0) {
      check_murmur3(part, line);
    } else {
      check(false, "unknown line", line);
    }
  }
  fclose(file);
  free(o.block);
  free(o.memory);
  check(files > 100 && keys > 2000 && refused > 500 && routes > 200 && hashes > 3000 && sets > 10 && members > 500 &&
            forms > 500 && values > 1500,
        "too few vectors", argv[1]);
  printf("vectors: %lu filters, %lu keys, %lu damaged files, %lu routes, %lu hashes, %lu exact sets, "
         "%lu of their keys: %lu checks, %lu failures\n",
         files, keys, refused, routes, hashes, sets, members, checks, failures);
  return failures > 0;
}
