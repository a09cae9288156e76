/* queries: times queries of filter files for eval/cbench/main.go.

   usage: queries KEYS WIDTH

   KEYS is a file of keys of WIDTH bytes each. Lines of standard input:

   open PATH          opens a filter and prints nanoseconds of processor time and the length of the file
   plain              the filter is queried without AVX2 and BMI2 from now on; prints two zeros
   time FROM TO       queries keys FROM to TO-1 one by one and prints nanoseconds of processor time and the number of
                      keys that were found
   WAY FROM TO        the same, where WAY is integer (keys of 8 bytes, one by one), width, integers, offsets32 or
                      offsets64 (batches of all keys) */

#define _POSIX_C_SOURCE 200809L
#include "../bloomery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void die(const char *what, const char *text) {
  fprintf(stderr, "queries: %s: %s\n", what, text);
  exit(1);
}

/* Reads a whole file. */
static uint8_t *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  uint8_t *data;
  long n;
  if (!file || fseek(file, 0, SEEK_END) != 0 || (n = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0) {
    die("cannot read", path);
    return NULL;
  }
  *length = (size_t)n;
  data = (uint8_t *)aligned_alloc(64, (*length + 63) / 64 * 64 + 64);
  if (!data || fread(data, 1, *length, file) != *length) die("cannot read", path);
  fclose(file);
  return data;
}

/* Returns the processor time of this process in nanoseconds: other processes do not disturb it. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The keys, and offsets of them. */
typedef struct {
  const uint8_t *bytes;
  size_t width, length, count;
  int32_t *offsets32;
  int64_t *offsets64;
  uint8_t *out;
} key_file;

static key_file open_keys(const char *path, const char *width) {
  key_file k;
  k.bytes = read_file(path, &k.length);
  k.width = strtoul(width, NULL, 10);
  k.count = k.width > 0 ? k.length / k.width : 0;
  k.offsets32 = (int32_t *)malloc((k.count + 1) * sizeof *k.offsets32);
  k.offsets64 = (int64_t *)malloc((k.count + 1) * sizeof *k.offsets64);
  k.out = (uint8_t *)malloc(k.count + 1);
  if (k.width == 0 || !k.offsets32 || !k.offsets64 || !k.out) die("cannot use", path);
  for (size_t i = 0; i <= k.count; i++) {
    k.offsets32[i] = (int32_t)(i * k.width);
    k.offsets64[i] = (int64_t)(i * k.width);
  }
  memset(k.out, 0, k.count + 1);
  return k;
}

/* Queries keys from to to-1 and writes the answers to k->out. */
static void query(const bloomery_filter *f, const key_file *k, const char *way, size_t from, size_t to) {
  const uint8_t *first = k->bytes + from * k->width;
  const uint64_t *integers = (const uint64_t *)(const void *)k->bytes;
  size_t n = to - from;
  if (strcmp(way, "time") == 0) {
    for (size_t i = 0; i < n; i++) k->out[i] = bloomery_has(f, first + i * k->width, k->width);
  } else if (strcmp(way, "integer") == 0 && k->width == 8) {
    for (size_t i = 0; i < n; i++) k->out[i] = bloomery_has_integer(f, integers[from + i]);
  } else if (strcmp(way, "width") == 0) {
    bloomery_has_many(f, first, k->width, n, k->out);
  } else if (strcmp(way, "integers") == 0 && k->width == 8) {
    bloomery_has_many_integers(f, integers + from, n, k->out);
  } else if (strcmp(way, "offsets32") == 0) {
    if (bloomery_has_many_offsets32(f, k->bytes, k->length, k->offsets32 + from, n, k->out)) die("offsets", way);
  } else if (strcmp(way, "offsets64") == 0) {
    if (bloomery_has_many_offsets64(f, k->bytes, k->length, k->offsets64 + from, n, k->out)) die("offsets", way);
  } else {
    die("unknown command", way);
  }
}

int main(int argc, char **argv) {
  static bloomery_filter f;
  static char line[4096];
  char way[16];
  uint8_t *data = NULL;
  size_t length;
  key_file keys;
  if (argc != 3) die("usage", "queries KEYS WIDTH");
  keys = open_keys(argv[1], argv[2]);
  while (fgets(line, sizeof line, stdin)) {
    unsigned long from, to, hits;
    double start;
    line[strcspn(line, "\n")] = 0;
    if (strncmp(line, "open ", 5) == 0) {
      int result;
      free(data);
      data = read_file(line + 5, &length);
      start = now();
      result = bloomery_open(&f, data, length, NULL);
      if (result != BLOOMERY_OK) die(line + 5, bloomery_message(result));
      printf("%.0f %zu\n", now() - start, length);
    } else if (strcmp(line, "plain") == 0) {
      f.wide = false;
      printf("0 0\n");
    } else if (sscanf(line, "%15s %lu %lu", way, &from, &to) == 3 && from <= to && to <= keys.count) {
      double used;
      start = now();
      query(&f, &keys, way, from, to);
      used = now() - start;
      for (size_t i = hits = 0; i < to - from; i++) hits += keys.out[i];
      printf("%.0f %lu\n", used, hits);
    } else {
      die("unknown command", line);
    }
    fflush(stdout);
  }
  return 0;
}
