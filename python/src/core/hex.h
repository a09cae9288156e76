/* hex: Keys as lines of hexadecimal digits, as `bloomery build --input-format hex` reads them. */

/* Text that grows. */
typedef struct {
  char *text;
  size_t used, room;
} core_text;

/* Appends the digits of n bytes. Returns whether there was memory. */
static bool text_hex(core_text *t, const uint8_t *p, size_t n) {
  static const char digits[] = "0123456789abcdef";
  char *to;
  if (n > SIZE_MAX / 8 - t->used) return false;
  if (2 * n + 1 > t->room - t->used) { /* and a line end */
    size_t room = 2 * (t->used + 2 * n) + 4096;
    char *text = (char *)realloc(t->text, room);
    if (!text) return false;
    t->text = text;
    t->room = room;
  }
  to = t->text + t->used;
  for (size_t i = 0; i < n; i++) {
    *to++ = digits[p[i] >> 4];
    *to++ = digits[p[i] & 15];
  }
  t->used += 2 * n;
  return true;
}

/* Writes the lines of a block whose first key is number at. values is NULL or has a value for each key. */
static int hex_block(core_text *t, const Keys *k, const core_block *b, size_t at, size_t n, const uint64_t *values) {
  for (size_t i = 0; i < n; i++) {
    char value[24];
    size_t length;
    const uint8_t *p = block_key(b, i, &length);
    if (!keys_valid(k, at + i) || k->form == KEYS_NULLS) {
      if (values) return CORE_NULL;
      continue;
    }
    if (!text_hex(t, p, length)) return CORE_MEMORY;
    if (values) {
      int digits = snprintf(value, sizeof value, "\t%llu", (unsigned long long)values[at + i]);
      if (!text_hex(t, (const uint8_t *)value, (size_t)digits)) return CORE_MEMORY;
    }
    t->text[t->used++] = '\n';
  }
  return 0;
}

/* Writes the lines of keys [from, to). */
static int hex_lines(core_text *t, const Keys *k, size_t from, size_t to, const uint64_t *values) {
  core_block *b = (core_block *)calloc(1, sizeof *b);
  int error = b ? 0 : CORE_MEMORY;
  for (size_t at = from; error == 0 && at < to; at += b->n) {
    error = block_take(b, k, at, to);
    if (error == 0) error = hex_block(t, k, b, at, b->n, values);
  }
  if (b) block_free(b);
  free(b);
  return error;
}

/* hex(from, to, values) -> bytes: a line for each of these keys that is not null. values is None, or a buffer of
   integers of 64 bits, one for each of all keys: the line then has the digits of the key, a tab and the decimal value,
   and a key that is null is an error. Not for dictionaries. */
static PyObject *keys_hex(PyObject *self, PyObject *args) {
  const Keys *k = (const Keys *)self;
  Py_ssize_t from, to;
  PyObject *object, *lines;
  Py_buffer values;
  core_text t = {NULL, 0, 0};
  int error;
  values.buf = NULL;
  if (!PyArg_ParseTuple(args, "nnO", &from, &to, &object)) return NULL;
  if (!Py_IsNone(object) && PyObject_GetBuffer(object, &values, PyBUF_SIMPLE) < 0) return NULL;
  if (from < 0 || to < from || (size_t)to > k->n || k->form == KEYS_DICTIONARY ||
      (!Py_IsNone(object) && (size_t)values.len != 8 * k->n)) {
    if (!Py_IsNone(object)) PyBuffer_Release(&values);
    PyErr_SetString(PyExc_ValueError, "hex: a range, a dictionary, or the number of values");
    return NULL;
  }
  if (block_fits(NULL, k) != 0) { /* the command has no forms of dates and decimals */
    PyErr_SetString(PyExc_TypeError, "dates and decimals have no keys: convert them to integers or text");
    if (!Py_IsNone(object)) PyBuffer_Release(&values);
    return NULL;
  }
  if (k->form == KEYS_LIST) {
    error = hex_lines(&t, k, (size_t)from, (size_t)to, (const uint64_t *)values.buf);
  } else {
    Py_BEGIN_ALLOW_THREADS;
    error = hex_lines(&t, k, (size_t)from, (size_t)to, (const uint64_t *)values.buf);
    Py_END_ALLOW_THREADS;
  }
  if (!Py_IsNone(object)) PyBuffer_Release(&values);
  lines = error == 0 ? PyBytes_FromStringAndSize(t.text, (Py_ssize_t)t.used) : core_raise(error);
  free(t.text);
  return lines;
}
