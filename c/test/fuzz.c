/* fuzz: the target of libFuzzer. It opens the input as it is, and again with right checksums, and queries some keys. */

#include "../bloomery.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void store32(uint8_t *p, uint32_t v) {
  for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> 8 * i);
}

static void fix_checksums(uint8_t *data, size_t length) {
  bloomery_crc_tables tables;
  uint64_t sections = data[14], end = 64 + 24 * sections + bloomery_load32(data + 56);
  bloomery_crc_begin(&tables, length);
  for (uint64_t i = 0; i < sections && 64 + 24 * (i + 1) <= length; i++) {
    uint8_t *entry = data + 64 + 24 * i;
    uint64_t at = bloomery_load64(entry), bytes = bloomery_load64(entry + 8);
    if (at <= length && bytes <= length - at) store32(entry + 16, bloomery_crc(&tables, 0, data + at, bytes));
  }
  if (end <= length) {
    store32(data + 60, bloomery_crc(&tables, bloomery_crc(&tables, 0, data, 60), data + 64, end - 64));
  }
}

static void query(const uint8_t *data, size_t length) {
  static const uint8_t secret[16] = {1, 2, 3};
  bloomery_filter f;
  size_t need = bloomery_memory(data, length);
  uint8_t *memory;
  if (need > 64 * length + (1 << 20)) abort();
  memory = (uint8_t *)malloc(need + 1);
  if (memory && bloomery_open_in(&f, data, length, secret, memory, need) == BLOOMERY_OK) {
    for (size_t n = 0; n <= 64 && n <= length; n += 1 + n / 4) {
      uint64_t value;
      bool has = bloomery_has(&f, data, n);
      if (bloomery_get(&f, data, n, &value) && !has) abort();
      if (bloomery_info(&f)->counts && bloomery_info(&f)->family == BLOOMERY_RANKINDEXED &&
          (bloomery_count(&f, data, n) > 0) != has) {
        abort();
      }
    }
  }
  free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length) {
  uint8_t *copy;
  query(data, length);
  if (length < 64) return 0;
  copy = (uint8_t *)malloc(length);
  if (!copy) return 0;
  memcpy(copy, data, length);
  fix_checksums(copy, length);
  query(copy, length);
  free(copy);
  return 0;
}
