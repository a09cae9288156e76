/* shared: a shared library of the header, for ctypes_test.py and other languages. */

#include "../bloomery.h"

#include <stdlib.h>

size_t shared_size(void);
int shared_open(bloomery_filter *f, const void *data, size_t length, const uint8_t *secret, void *memory, size_t n);
size_t shared_memory(const void *data, size_t length);
const char *shared_message(int result);
const bloomery_header *shared_info(const bloomery_filter *f);
bool shared_has(const bloomery_filter *f, const void *key, size_t length);
uint64_t shared_count(const bloomery_filter *f, const void *key, size_t length);
bool shared_get(const bloomery_filter *f, const void *key, size_t length, uint64_t *value);
bool shared_has_integer(const bloomery_filter *f, uint64_t n);
uint64_t shared_shard(const bloomery_filter *f, const void *key, size_t length, uint64_t shards);
void shared_has_many(const bloomery_filter *f, const void *keys, size_t width, size_t n, uint8_t *out);
void shared_has_many_integers(const bloomery_filter *f, const uint64_t *integers, size_t n, uint8_t *out);
int shared_has_many_offsets32(const bloomery_filter *f, const void *bytes, size_t length, const int32_t *offsets,
                              size_t n, uint8_t *out);
int shared_has_many_offsets64(const bloomery_filter *f, const void *bytes, size_t length, const int64_t *offsets,
                              size_t n, uint8_t *out);

size_t shared_size(void) { return sizeof(bloomery_filter); }

int shared_open(bloomery_filter *f, const void *data, size_t length, const uint8_t *secret, void *memory, size_t n) {
  return bloomery_open_in(f, data, length, secret, memory, n);
}

size_t shared_memory(const void *data, size_t length) { return bloomery_memory(data, length); }

const char *shared_message(int result) { return bloomery_message(result); }

const bloomery_header *shared_info(const bloomery_filter *f) { return bloomery_info(f); }

bool shared_has(const bloomery_filter *f, const void *key, size_t length) { return bloomery_has(f, key, length); }

uint64_t shared_count(const bloomery_filter *f, const void *key, size_t length) {
  return bloomery_count(f, key, length);
}

bool shared_get(const bloomery_filter *f, const void *key, size_t length, uint64_t *value) {
  return bloomery_get(f, key, length, value);
}

bool shared_has_integer(const bloomery_filter *f, uint64_t n) { return bloomery_has_integer(f, n); }

uint64_t shared_shard(const bloomery_filter *f, const void *key, size_t length, uint64_t shards) {
  return bloomery_shard(f, key, length, shards);
}

void shared_has_many(const bloomery_filter *f, const void *keys, size_t width, size_t n, uint8_t *out) {
  bloomery_has_many(f, keys, width, n, out);
}

void shared_has_many_integers(const bloomery_filter *f, const uint64_t *integers, size_t n, uint8_t *out) {
  bloomery_has_many_integers(f, integers, n, out);
}

int shared_has_many_offsets32(const bloomery_filter *f, const void *bytes, size_t length, const int32_t *offsets,
                              size_t n, uint8_t *out) {
  return bloomery_has_many_offsets32(f, bytes, length, offsets, n, out);
}

int shared_has_many_offsets64(const bloomery_filter *f, const void *bytes, size_t length, const int64_t *offsets,
                              size_t n, uint8_t *out) {
  return bloomery_has_many_offsets64(f, bytes, length, offsets, n, out);
}
