/* Keys: many keys, in the form in which they came. */

/* The forms. */
enum {
  KEYS_LIST = 0,   /* Python objects */
  KEYS_WIDTH,      /* width bytes each */
  KEYS_UNSIGNED,   /* integers of width bytes, in the byte order of the machine */
  KEYS_SIGNED,     /* the same, signed */
  KEYS_UCS4,       /* width characters of 4 bytes each, less the zeros at their end: NumPy's U */
  KEYS_OFFSETS32,  /* Arrow: binary, utf8 */
  KEYS_OFFSETS64,  /* Arrow: large binary, large utf8 */
  KEYS_VIEWS,      /* Arrow: binary view, utf8 view */
  KEYS_DICTIONARY, /* Arrow: indices of a dictionary */
  KEYS_NULLS       /* Arrow: all are null */
};

/* What the values are, if it is not what the form says. */
enum {
  KEYS_PLAIN = 0,
  KEYS_TEXT,    /* text */
  KEYS_DATE,    /* days since 1970-01-01 */
  KEYS_DECIMAL  /* decimal numbers in text form */
};

typedef struct Keys {
  PyObject_HEAD
  int form, kind;
  size_t n, width;
  const uint8_t *data; /* keys, or the bytes that offsets lead to, or indices of width bytes; never NULL */
  const int32_t *offsets32;
  const int64_t *offsets64;
  const uint8_t *validity; /* bit from + i is 0 if key i is null; NULL: none is */
  size_t from;
  size_t before;             /* keys of the same iterable that other Keys had, for errors */
  bool is_signed;            /* indices */
  const uint8_t **buffers;   /* of views */
  const int64_t *sizes;      /* their lengths in bytes */
  size_t buffer_count;
  struct Keys *dictionary;
  PyObject *owner;           /* a list or tuple of the keys, or the capsule of the array */
  Py_buffer view;            /* obj is NULL without one */
} Keys;

static const uint8_t keys_none[16] = {0};

/* Whether key i is not null. Of a dictionary only the indices are looked at. */
static bool keys_valid(const Keys *k, size_t i) {
  return !k->validity || (k->validity[(k->from + i) / 8] >> (k->from + i) % 8 & 1);
}

/* Returns the index of key i, which is not null. */
static uint64_t keys_index(const Keys *k, size_t i) {
  const uint8_t *p = k->data + i * k->width;
  switch (k->width) {
  case 1: return k->is_signed ? (uint64_t)(int64_t)*(const int8_t *)p : *p;
  case 2: {
    uint16_t v;
    memcpy(&v, p, 2);
    return k->is_signed ? (uint64_t)(int64_t)(int16_t)v : v;
  }
  case 4: {
    uint32_t v;
    memcpy(&v, p, 4);
    return k->is_signed ? (uint64_t)(int64_t)(int32_t)v : v;
  }
  }
  uint64_t v;
  memcpy(&v, p, 8);
  return v;
}

static Keys *keys_new(PyTypeObject *type, int form) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Keys *k = (Keys *)allocate(type, 0); /* zeroed */
  if (k) {
    k->form = form;
    k->data = keys_none;
  }
  return k;
}

static void keys_free(PyObject *self) {
  Keys *k = (Keys *)self;
  if (k->view.obj) PyBuffer_Release(&k->view);
  Py_XDECREF((PyObject *)k->dictionary);
  Py_XDECREF(k->owner);
  core_free(self);
}

/* keys_of_list(iterable, before=0) -> Keys. before is the number of keys of the whole before this iterable. */
static PyObject *core_keys_of_list(PyObject *module, PyObject *args) {
  core_state *s = (core_state *)PyModule_GetState(module);
  PyObject *iterable;
  Py_ssize_t before = 0;
  if (!PyArg_ParseTuple(args, "O|n", &iterable, &before)) return NULL;
#ifdef Py_GIL_DISABLED
  bool is_list = false; /* another thread might change it meanwhile */
#else
  bool is_list = PyList_CheckExact(iterable);
#endif
  PyObject *objects = is_list ? Py_NewRef(iterable) : PySequence_Tuple(iterable);
  Keys *k = objects ? keys_new(s->keys, KEYS_LIST) : NULL;
  if (!k) {
    Py_XDECREF(objects);
    return NULL;
  }
  k->owner = objects;
  k->before = (size_t)before;
  k->n = (size_t)(is_list ? PyList_Size(objects) : PyTuple_Size(objects));
  return (PyObject *)k;
}

/* keys_of_buffer(data, kind, width) -> Keys. data is contiguous. kind is "bytes", "unsigned", "signed" or "ucs4",
   width the bytes of a key, above 0. */
static PyObject *core_keys_of_buffer(PyObject *module, PyObject *args) {
  static const char *const names[] = {"bytes", "unsigned", "signed", "ucs4"};
  core_state *s = (core_state *)PyModule_GetState(module);
  PyObject *data;
  const char *kind;
  Py_ssize_t width;
  Keys *k;
  int form = 0;
  if (!PyArg_ParseTuple(args, "Osn", &data, &kind, &width)) return NULL;
  for (int i = 0; i < 4; i++) {
    if (strcmp(kind, names[i]) == 0) form = KEYS_WIDTH + i;
  }
  if (form == 0 || width <= 0 || (form == KEYS_UCS4 && width % 4 != 0) ||
      ((form == KEYS_UNSIGNED || form == KEYS_SIGNED) && width != 1 && width != 2 && width != 4 && width != 8)) {
    PyErr_SetString(PyExc_ValueError, "keys_of_buffer: kind or width");
    return NULL;
  }
  k = keys_new(s->keys, form);
  if (!k) return NULL;
  if (PyObject_GetBuffer(data, &k->view, PyBUF_SIMPLE) < 0) {
    k->view.obj = NULL;
    Py_DECREF((PyObject *)k);
    return NULL;
  }
  if (k->view.len % width != 0) {
    PyErr_SetString(PyExc_ValueError, "keys_of_buffer: the length is not a multiple of the width");
    Py_DECREF((PyObject *)k);
    return NULL;
  }
  k->width = (size_t)width;
  k->n = (size_t)(k->view.len / width);
  k->is_signed = form == KEYS_SIGNED;
  if (k->n > 0) k->data = (const uint8_t *)k->view.buf;
  return (PyObject *)k;
}
