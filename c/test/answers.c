/* answers: answers keys of filter files, for trials that compare readers.

   Standard input has lines FILE<TAB>SECRET<TAB>KEYS<TAB>OUT. SECRET is 32 hex digits or "-". The program opens FILE, or
   a folder of a sharded set, answers the keys of the file KEYS, writes OUT and prints one line: "ok" or
   "refused MESSAGE". With KEYS "-" it only opens.

   FILE may also be an exact set. KEYS is a sequence of records: kind (1 byte: 0 bytes, 1 text, 2 integer, 3 partition),
   length (4 bytes, little endian), the bytes; kind 3: length of the partition's name (1 byte), the name, the key.
   OUT has 18 bytes for each key: has (0 or 1), count (8), 1 if there is a value, value (8); little endian. */

#define _POSIX_C_SOURCE 200809L
#include "../bloomery.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The bytes of a file. */
typedef struct {
  uint8_t *data;
  size_t length;
} mapped;

static void die(const char *what, const char *path) {
  fprintf(stderr, "answers: %s %s\n", what, path);
  exit(1);
}

/* Maps a file. Returns false if it cannot be read. An empty file has no mapping. */
static bool map_file(const char *path, mapped *m) {
  struct stat st;
  int fd = open(path, O_RDONLY);
  m->data = NULL;
  m->length = 0;
  if (fd < 0) return false;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    close(fd);
    return false;
  }
  m->length = (size_t)st.st_size;
  if (m->length > 0) {
    void *p = mmap(NULL, m->length, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) die("cannot map", path);
    m->data = p;
  }
  close(fd);
  return true;
}

static void unmap(mapped *m) {
  if (m->length > 0) munmap(m->data, m->length);
}

/* A filter file, or all of a sharded set. */
typedef struct {
  size_t count; /* of shards; 0: one file */
  mapped *file;
  void **memory;
  bloomery_filter *filter;
  bool is_exact;
  bloomery_exact exact;
} set;

/* Opens one file. Returns a message, or NULL. */
static const char *open_one(set *s, size_t i, const char *path, const uint8_t *secret) {
  size_t need;
  int result;
  if (!map_file(path, &s->file[i])) return "the file cannot be read";
  s->is_exact = s->file[i].length >= 4 && memcmp(s->file[i].data, "\x89" "BLX", 4) == 0;
  need = s->is_exact ? bloomery_exact_memory(s->file[i].data, s->file[i].length)
                     : bloomery_memory(s->file[i].data, s->file[i].length);
  s->memory[i] = NULL;
  if (need > 0) {
    s->memory[i] = malloc(need);
    if (!s->memory[i]) return "out of memory";
  }
  result = s->is_exact ? bloomery_exact_open(&s->exact, s->file[i].data, s->file[i].length, secret, s->memory[i], need)
                       : bloomery_open_in(&s->filter[i], s->file[i].data, s->file[i].length, secret, s->memory[i], need);
  return result == BLOOMERY_OK ? NULL : bloomery_message(result);
}

/* Finds "name": and its value in the JSON of a manifest from text on. Returns the place of the value, or NULL. */
static char *field(char *text, const char *name) {
  char key[64];
  char *at;
  snprintf(key, sizeof key, "\"%s\":", name);
  at = strstr(text, key);
  if (!at) return NULL;
  at += strlen(key);
  while (*at == ' ' || *at == '"') at++;
  return at;
}

static void allocate(set *s, size_t n) {
  s->file = calloc(n, sizeof *s->file);
  s->memory = calloc(n, sizeof *s->memory);
  s->filter = calloc(n, sizeof *s->filter);
  if (!s->file || !s->memory || !s->filter) die("out of memory for", "shards");
}

/* Opens a folder: the files that its manifest names. */
static const char *open_folder(set *s, const char *folder, const uint8_t *secret) {
  char path[4096];
  mapped m;
  char *text, *at, *value;
  const char *error = NULL;
  unsigned long count;
  snprintf(path, sizeof path, "%s/manifest.json", folder);
  if (!map_file(path, &m)) return "no manifest";
  text = calloc(m.length + 1, 1);
  if (!text) die("out of memory for", path);
  if (m.length > 0) memcpy(text, m.data, m.length);
  unmap(&m);
  value = field(text, "count");
  count = value ? strtoul(value, NULL, 10) : 0;
  if (count < 1 || count > 1 << 20) {
    free(text);
    return "the manifest has no count";
  }
  allocate(s, count);
  s->count = count;
  at = text;
  for (size_t i = 0; i < count && !error; i++) {
    int n = 0;
    at = field(at, "file");
    while (at && at[n] && at[n] != '"') n++;
    if (!at || snprintf(path, sizeof path, "%s/%.*s", folder, n, at) >= (int)sizeof path) {
      error = "the manifest names too few files";
    } else {
      error = open_one(s, i, path, secret);
    }
  }
  free(text);
  return error;
}

static const char *open_set(set *s, const char *path, const uint8_t *secret) {
  struct stat st;
  memset(s, 0, sizeof *s);
  if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return open_folder(s, path, secret);
  allocate(s, 1);
  return open_one(s, 0, path, secret);
}

static void close_set(set *s) {
  for (size_t i = 0; s->file && i < (s->count > 0 ? s->count : 1); i++) {
    unmap(&s->file[i]);
    free(s->memory[i]);
  }
  free(s->file);
  free(s->memory);
  free(s->filter);
}

static void answer(const set *s, const char *keys, const char *out) {
  mapped m;
  size_t at = 0;
  FILE *file = fopen(out, "wb");
  if (!file) die("cannot write", out);
  if (!map_file(keys, &m)) die("cannot read", keys);
  while (at < m.length) {
    const uint8_t *key;
    uint8_t record[18];
    size_t length;
    const bloomery_filter *f = s->filter;
    uint64_t value;
    if (m.length - at < 5 || (length = bloomery_load32(m.data + at + 1)) > m.length - at - 5) die("damaged", keys);
    key = m.data + at + 5;
    at += 5 + length;
    if (s->is_exact) {
      size_t name = m.data[at - 5 - length] == 3 ? key[0] : 0, from = m.data[at - 5 - length] == 3;
      memset(record, 0, sizeof record);
      record[0] = bloomery_exact_has_in(&s->exact, key + from, name, key + from + name, length - from - name);
      if (fwrite(record, 1, sizeof record, file) != sizeof record) die("cannot write", out);
      continue;
    }
    if (s->count > 0) f += bloomery_shard(f, key, length, s->count);
    record[0] = bloomery_has(f, key, length);
    bloomery_integer(record + 1, bloomery_count(f, key, length));
    record[9] = bloomery_get(f, key, length, &value);
    bloomery_integer(record + 10, value);
    if (fwrite(record, 1, sizeof record, file) != sizeof record) die("cannot write", out);
  }
  unmap(&m);
  if (fclose(file) != 0) die("cannot write", out);
}

/* Reads 32 hex digits. Returns false if text is something else. */
static bool parse_secret(const char *text, uint8_t secret[16]) {
  if (strlen(text) != 32) return false;
  for (int i = 0; i < 16; i++) {
    unsigned byte;
    if (strspn(text + 2 * i, "0123456789abcdefABCDEF") < 2 || sscanf(text + 2 * i, "%2x", &byte) != 1) return false;
    secret[i] = (uint8_t)byte;
  }
  return true;
}

int main(void) {
  static char line[16384];
  while (fgets(line, sizeof line, stdin)) {
    char *part[4], *rest = line;
    uint8_t secret[16];
    const char *error;
    set s;
    bool keyed;
    line[strcspn(line, "\n")] = 0;
    for (int i = 0; i < 4; i++) {
      part[i] = rest;
      if (i < 3 && !strchr(rest, '\t')) die("want FILE, SECRET, KEYS and OUT in", line);
      rest += strcspn(rest, "\t");
      if (*rest) *rest++ = 0;
    }
    keyed = strcmp(part[1], "-") != 0;
    if (keyed && !parse_secret(part[1], secret)) die("a secret has 32 hex digits, not", part[1]);
    error = open_set(&s, part[0], keyed ? secret : NULL);
    if (error) {
      printf("refused %s\n", error);
    } else {
      if (strcmp(part[2], "-") != 0) answer(&s, part[2], part[3]);
      puts("ok");
    }
    fflush(stdout);
    close_set(&s);
  }
  return 0;
}
