/* queries: times queries of filter files for bench/main.go.

   usage: queries KEYS WIDTH

   KEYS is a file of keys of WIDTH bytes each. Lines of standard input: "open PATH" opens a filter, "time FROM TO"
   queries keys FROM to TO-1 and prints nanoseconds of processor time and the number of keys that were found. */

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

int main(int argc, char **argv) {
  static bloomery_filter f;
  static char line[4096];
  uint8_t *data = NULL;
  size_t length, width, keys_length;
  const uint8_t *keys;
  if (argc != 3) die("usage", "queries KEYS WIDTH");
  keys = read_file(argv[1], &keys_length);
  width = strtoul(argv[2], NULL, 10);
  while (fgets(line, sizeof line, stdin)) {
    unsigned long from, to, hits = 0;
    line[strcspn(line, "\n")] = 0;
    if (strncmp(line, "open ", 5) == 0) {
      double start;
      int result;
      free(data);
      data = read_file(line + 5, &length);
      start = now();
      result = bloomery_open(&f, data, length, NULL);
      if (result != BLOOMERY_OK) die(line + 5, bloomery_message(result));
      printf("%.0f %zu\n", now() - start, length);
    } else if (sscanf(line, "time %lu %lu", &from, &to) == 2 && from <= to && to * width <= keys_length) {
      double start = now();
      for (unsigned long i = from; i < to; i++) hits += bloomery_has(&f, keys + i * width, width);
      printf("%.0f %lu\n", now() - start, hits);
    } else {
      die("unknown command", line);
    }
    fflush(stdout);
  }
  return 0;
}
