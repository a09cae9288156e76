/* Blocks: Keys -> the keys of bloomery.h, which lie one after the other or have offsets. Keys in another form are
   copied in blocks of CORE_BLOCK. */

#define CORE_BLOCK 1024

/* Keys from one place on, and memory for copies. */
typedef struct {
  const bloomery_form *form; /* of the keys of the filter; NULL: none */
  bloomery_keys keys;
  int way;
  size_t n; /* number of keys */
  uint8_t *bytes;
  size_t used, room;
  int64_t offsets[CORE_BLOCK + 1];
} core_block;

static void block_free(core_block *b) { free(b->bytes); }

/* Returns room for n bytes behind those that are used, or NULL. */
static uint8_t *block_room(core_block *b, size_t n) {
  if (!b->bytes || n > b->room - b->used) {
    size_t room = b->used + n < 16 * CORE_BLOCK ? 32 * CORE_BLOCK : 2 * (b->used + n);
    uint8_t *bytes = n > SIZE_MAX / 4 - b->used ? NULL : (uint8_t *)realloc(b->bytes, room);
    if (!bytes) return NULL;
    b->bytes = bytes;
    b->room = room;
  }
  return b->bytes + b->used;
}

/* Appends key i of a block. */
static int block_add(core_block *b, size_t i, const uint8_t *p, size_t n) {
  uint8_t *to = block_room(b, n);
  if (!to) return CORE_MEMORY;
  if (n > 0) memcpy(to, p, n);
  b->used += n;
  b->offsets[i + 1] = (int64_t)b->used;
  return 0;
}

/* Appends a Python object. A list may have become shorter meanwhile, since __index__ of a key may be Python code. */
static int block_object(core_block *b, size_t i, const Keys *k, size_t at) {
  PyObject *object = PyList_CheckExact(k->owner) ? PyList_GetItem(k->owner, (Py_ssize_t)at)
                                                 : PyTuple_GetItem(k->owner, (Py_ssize_t)at);
  core_key key;
  int error = CORE_RAISED;
  Py_XINCREF(object);
  if (object == Py_None) {
    PyErr_Format(PyExc_TypeError, "a key is a str, bytes or an int, not None: number %zu of the keys, from 0, is None",
                 k->before + at);
  } else if (object && core_key_take(&key, object, b->form)) {
    error = block_add(b, i, key.p, key.n);
    core_key_release(&key);
  }
  Py_XDECREF(object);
  return error;
}

/* Appends a NumPy text as UTF-8. */
static int block_ucs4(core_block *b, size_t i, const uint8_t *p, size_t width) {
  size_t n = width / 4;
  uint32_t c;
  uint8_t *to;
  while (n > 0 && memcmp(p + 4 * (n - 1), keys_none, 4) == 0) n--;
  to = block_room(b, 4 * n);
  if (!to) return CORE_MEMORY;
  for (const uint8_t *end = p + 4 * n; p < end; p += 4) {
    memcpy(&c, p, 4);
    if (c < 0x80) {
      *to++ = (uint8_t)c;
    } else if (c < 0x800) {
      *to++ = (uint8_t)(0xC0 | c >> 6);
      *to++ = (uint8_t)(0x80 | (c & 63));
    } else if (c < 0x10000) {
      if (c >= 0xD800 && c < 0xE000) return CORE_TEXT;
      *to++ = (uint8_t)(0xE0 | c >> 12);
      *to++ = (uint8_t)(0x80 | (c >> 6 & 63));
      *to++ = (uint8_t)(0x80 | (c & 63));
    } else {
      if (c > 0x10FFFF) return CORE_TEXT;
      *to++ = (uint8_t)(0xF0 | c >> 18);
      *to++ = (uint8_t)(0x80 | (c >> 12 & 63));
      *to++ = (uint8_t)(0x80 | (c >> 6 & 63));
      *to++ = (uint8_t)(0x80 | (c & 63));
    }
  }
  b->used = (size_t)(to - b->bytes);
  b->offsets[i + 1] = (int64_t)b->used;
  return 0;
}

/* Appends an Arrow view: its length, then the bytes if they are at most 12, else a buffer and the place in it. */
static int block_view(core_block *b, size_t i, const Keys *k, size_t at) {
  const uint8_t *view = k->data + 16 * at;
  int32_t place[4];
  if (!keys_valid(k, at)) return block_add(b, i, keys_none, 0);
  memcpy(place, view, sizeof place);
  if (place[0] < 0) return CORE_VIEW;
  if (place[0] <= 12) return block_add(b, i, view + 4, (size_t)place[0]);
  if (place[2] < 0 || (size_t)place[2] >= k->buffer_count || place[3] < 0) return CORE_VIEW;
  if (k->sizes[place[2]] < (int64_t)place[3] + place[0]) return CORE_VIEW;
  return block_add(b, i, k->buffers[place[2]] + place[3], (size_t)place[0]);
}

/* Whether keys of a kind can be keys of a filter: 0, or CORE_TYPE. */
static int block_fits(const bloomery_form *form, const Keys *k) {
  int type = form ? form->type : BLOOMERY_KEY_BYTES;
  bool decimal = type >= BLOOMERY_KEY_DECIMAL32 && type <= BLOOMERY_KEY_DECIMAL;
  if (k->form == KEYS_DICTIONARY) return block_fits(form, k->dictionary);
  if (k->kind == KEYS_TEXT || k->form == KEYS_UCS4) return core_typed(form) ? CORE_TYPE : 0;
  if (k->kind == KEYS_DATE) return type == BLOOMERY_KEY_DATE ? 0 : CORE_TYPE;
  if (k->kind == KEYS_DECIMAL) return decimal ? 0 : CORE_TYPE;
  return 0;
}

/* Appends one key. Not for forms that need no copy. */
static int block_one(core_block *b, size_t i, const Keys *k, size_t at) {
  const uint8_t *p = k->data + at * k->width;
  size_t n = k->width;
  switch (k->form) {
  case KEYS_LIST: return block_object(b, i, k, at);
  case KEYS_VIEWS: {
    core_key key;
    int error = block_view(b, i, k, at);
    if (error != 0 || k->kind != KEYS_DECIMAL || !b->form) return error;
    core_key_value(&key, b->form, (const char *)b->bytes + b->offsets[i], b->used - (size_t)b->offsets[i], false);
    b->used = (size_t)b->offsets[i];
    return block_add(b, i, key.p, key.n);
  }
  case KEYS_UCS4: return block_ucs4(b, i, p, n);
  case KEYS_UNSIGNED:
  case KEYS_SIGNED: {
    char digits[24];
    core_key key;
    uint64_t v = keys_index(k, at);
    if (b->form && b->form->type == BLOOMERY_KEY_FIXED) return CORE_TYPE;
    core_key_number(&key, b->form, v, k->is_signed && v >> 63, digits);
    return block_add(b, i, key.p, key.n);
  }
  case KEYS_WIDTH: return block_add(b, i, p, n);
  case KEYS_OFFSETS32:
  case KEYS_OFFSETS64: { /* values in text form */
    core_key key;
    int64_t start = k->offsets32 ? k->offsets32[at] : k->offsets64[at];
    int64_t end = k->offsets32 ? k->offsets32[at + 1] : k->offsets64[at + 1];
    core_key_value(&key, b->form, (const char *)k->data + start, (size_t)(end - start), false);
    return block_add(b, i, key.p, key.n);
  }
  }
  return block_add(b, i, keys_none, 0); /* KEYS_NULLS */
}

/* Whether the machine has the byte order of integer keys. */
static bool block_little(void) {
  uint8_t key[8];
  uint64_t one = 1;
  bloomery_integer(key, one);
  return memcmp(key, &one, 8) == 0;
}

/* Makes a block of keys [at, to): at least the first one, if at is below to. Not for dictionaries. */
static int block_take(core_block *b, const Keys *k, size_t at, size_t to) {
  bool plain = k->form == KEYS_WIDTH;
  plain |= (k->form == KEYS_UNSIGNED || k->form == KEYS_SIGNED) && k->width == 8 && block_little() &&
           (!b->form || b->form->type == BLOOMERY_KEY_BYTES);
  memset(&b->keys, 0, sizeof b->keys);
  b->n = to - at;
  b->keys.bytes = k->data;
  if (plain) {
    b->way = BLOOMERY_WIDTH;
    b->keys.bytes += at * k->width;
    b->keys.width = k->width;
    return 0;
  }
  if (k->form == KEYS_OFFSETS32 && k->kind != KEYS_DECIMAL) {
    b->way = BLOOMERY_OFFSETS32;
    b->keys.offsets32 = k->offsets32 + at;
    return 0;
  }
  b->way = BLOOMERY_OFFSETS64;
  if (k->form == KEYS_OFFSETS64 && k->kind != KEYS_DECIMAL) {
    b->keys.offsets64 = k->offsets64 + at;
    return 0;
  }
  b->used = 0;
  b->offsets[0] = 0;
  if (b->n > CORE_BLOCK) b->n = CORE_BLOCK;
  for (size_t i = 0; i < b->n; i++) {
    int error = block_one(b, i, k, at + i);
    if (error != 0) return error;
  }
  b->keys.bytes = b->bytes ? b->bytes : keys_none;
  b->keys.offsets64 = b->offsets;
  return 0;
}

/* Returns key i of a block, and sets *n to its length. */
static const uint8_t *block_key(const core_block *b, size_t i, size_t *n) {
  size_t start = bloomery_key_start(&b->keys, b->way, i);
  *n = bloomery_key_start(&b->keys, b->way, i + 1) - start;
  return b->keys.bytes + start;
}

/* Writes a byte to out for each key of a block. */
typedef void (*block_sink)(const void *self, const core_block *b, uint8_t *out);

/* Writes the byte of its entry, of which values has one each, to out for each row of a dictionary; 0 for null. */
static int block_rows(const Keys *k, const uint8_t *values, uint8_t *out) {
  for (size_t i = 0; i < k->n; i++) {
    uint64_t index = keys_valid(k, i) ? keys_index(k, i) : 0;
    if (!keys_valid(k, i)) {
      out[i] = 0;
    } else if (index < k->dictionary->n) {
      out[i] = values[(size_t)index];
    } else {
      return CORE_INDEX;
    }
  }
  return 0;
}

/* Passes all keys to a sink. out has a byte for each key. The GIL is needed for KEYS_LIST only. */
static int block_each(const Keys *k, const bloomery_form *form, block_sink sink, const void *self, uint8_t *out) {
  core_block *b;
  int error = block_fits(form, k);
  if (error != 0) return error;
  if (k->form == KEYS_DICTIONARY) {
    uint8_t *values = (uint8_t *)malloc(k->dictionary->n + 1);
    error = values ? block_each(k->dictionary, form, sink, self, values) : CORE_MEMORY;
    if (error == 0) error = block_rows(k, values, out);
    free(values);
    return error;
  }
  b = (core_block *)calloc(1, sizeof *b);
  if (!b) return CORE_MEMORY;
  b->form = form;
  for (size_t at = 0; error == 0 && at < k->n; at += b->n) {
    error = block_take(b, k, at, k->n);
    if (error == 0) sink(self, b, out + at);
  }
  block_free(b);
  free(b);
  return error;
}

/* Takes a writable buffer of a byte for each key. Returns false with an exception. */
static bool block_answers(const Keys *k, PyObject *answers, Py_buffer *view) {
  if (PyObject_GetBuffer(answers, view, PyBUF_WRITABLE) < 0) return false;
  if ((size_t)view->len == k->n) return true;
  PyBuffer_Release(view);
  PyErr_SetString(PyExc_ValueError, "the answers have another length than the keys");
  return false;
}

/* Passes all keys to a sink, without the GIL if they are not Python objects. answers is a writable buffer of a byte for
   each key. Returns None, or NULL with an exception. */
static PyObject *block_answer(const Keys *k, const bloomery_form *form, block_sink sink, const void *self,
                              PyObject *answers) {
  Py_buffer view;
  int error;
  if (!block_answers(k, answers, &view)) return NULL;
  if (k->form == KEYS_LIST) {
    error = block_each(k, form, sink, self, (uint8_t *)view.buf);
  } else {
    Py_BEGIN_ALLOW_THREADS;
    error = block_each(k, form, sink, self, (uint8_t *)view.buf);
    Py_END_ALLOW_THREADS;
  }
  PyBuffer_Release(&view);
  if (error != 0) return core_raise(error);
  Py_RETURN_NONE;
}
