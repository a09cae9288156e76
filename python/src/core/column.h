/* Columns: Keys of Arrow arrays, and what else Python asks of Keys. */

/* Returns what is wrong with an array, or NULL. It sets all of k that depends on the array. */
static const char *column_set(Keys *k, const char *format, const struct ArrowArray *array) {
  static const char letters[] = "cCsSiIlL"; /* int8, uint8, int16, ... */
  const char *integer = format[0] && !format[1] ? strchr(letters, format[0]) : NULL;
  const uint8_t *data;
  size_t from;
  if (array->length < 0 || array->offset < 0 || array->offset > INT64_MAX - array->length) return "length";
  if ((uint64_t)array->offset + (uint64_t)array->length > SIZE_MAX / 32) return "length";
  k->n = (size_t)array->length;
  k->from = from = (size_t)array->offset;
  if (k->form == KEYS_NULLS || k->n == 0) return NULL;
  if (array->n_buffers < 2) return "number of buffers";
  k->validity = (const uint8_t *)array->buffers[0];
  data = (const uint8_t *)array->buffers[1];
  if (!data) return "a buffer is missing";
  if (integer || k->form == KEYS_WIDTH) {
    k->data = data + from * k->width;
  } else if (k->form == KEYS_VIEWS) {
    if (array->n_buffers < 3) return "number of buffers";
    k->buffer_count = (size_t)array->n_buffers - 3;
    k->buffers = (const uint8_t **)(void *)(array->buffers + 2);
    k->sizes = (const int64_t *)array->buffers[array->n_buffers - 1];
    k->data = data + 16 * from;
  } else {
    if (array->n_buffers < 3) return "number of buffers";
    if (array->buffers[2]) k->data = (const uint8_t *)array->buffers[2];
    if (k->form == KEYS_OFFSETS32) {
      k->offsets32 = (const int32_t *)(const void *)data + from;
      if (k->offsets32[0] < 0 || !bloomery_ordered32(k->offsets32, k->n)) return "offsets";
    } else {
      k->offsets64 = (const int64_t *)(const void *)data + from;
      if (k->offsets64[0] < 0 || !bloomery_ordered64(k->offsets64, k->n)) return "offsets";
    }
  }
  return NULL;
}

/* Sets form and width of k. Returns whether arrays of that format have keys. */
static bool column_form(Keys *k, const char *format) {
  static const char letters[] = "cCsSiIlL", texts[] = "uzUZ";
  const char *at = format[0] && !format[1] ? strchr(letters, format[0]) : NULL;
  if (at) {
    k->width = (size_t)1 << (at - letters) / 2;
    k->is_signed = (at - letters) % 2 == 0;
    k->form = k->is_signed ? KEYS_SIGNED : KEYS_UNSIGNED;
    return true;
  }
  at = format[0] && !format[1] ? strchr(texts, format[0]) : NULL;
  if (at) {
    k->form = at - texts < 2 ? KEYS_OFFSETS32 : KEYS_OFFSETS64;
    k->kind = (at - texts) % 2 == 0 ? KEYS_TEXT : KEYS_PLAIN;
  } else if (strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0) {
    k->form = KEYS_VIEWS;
    k->kind = format[1] == 'u' ? KEYS_TEXT : KEYS_PLAIN;
  } else if (strcmp(format, "n") == 0) {
    k->form = KEYS_NULLS;
  } else if (strncmp(format, "w:", 2) == 0) {
    unsigned long width = strtoul(format + 2, NULL, 10);
    if (width > 1 << 30) return false;
    k->form = KEYS_WIDTH;
    k->width = (size_t)width;
  } else {
    return false;
  }
  return true;
}

/* Whether the metadata of a schema, pairs of texts behind their lengths, name an extension type. Only that type knows
   what its storage means. */
static bool column_extends(const char *metadata) {
  static const char name[] = "ARROW:extension:name";
  int32_t pairs, length;
  if (!metadata) return false;
  memcpy(&pairs, metadata, sizeof pairs);
  metadata += sizeof pairs;
  for (int64_t i = 0; i < 2 * (int64_t)pairs; i++) {
    memcpy(&length, metadata, sizeof length);
    metadata += sizeof length;
    if (i % 2 == 0 && length == (int32_t)sizeof name - 1 && memcmp(metadata, name, sizeof name - 1) == 0) return true;
    metadata += length;
  }
  return false;
}

/* Returns Keys of an array, which its owner, a capsule, keeps. */
static Keys *column_new(core_state *s, const struct ArrowSchema *schema, const struct ArrowArray *array,
                        PyObject *owner) {
  Keys *k = keys_new(s->keys, KEYS_NULLS);
  const char *wrong;
  bool is_dictionary = schema->dictionary != NULL;
  if (!k) return NULL;
  k->owner = Py_NewRef(owner);
  if (column_extends(schema->metadata)) {
    PyErr_SetString(PyExc_TypeError, "an Arrow array of an extension type has no keys: pass its storage, or cast it "
                                     "to text, binary or integers");
    Py_DECREF((PyObject *)k);
    return NULL;
  }
  if (!column_form(k, schema->format) || (is_dictionary && k->form != KEYS_SIGNED && k->form != KEYS_UNSIGNED)) {
    PyErr_Format(PyExc_TypeError, "an Arrow array of format %.40s has no keys: cast it to text, binary or integers",
                 schema->format);
    Py_DECREF((PyObject *)k);
    return NULL;
  }
  wrong = is_dictionary && !array->dictionary ? "no dictionary" : column_set(k, schema->format, array);
  if (wrong) {
    PyErr_Format(PyExc_ValueError, "arrow: %s", wrong);
    Py_DECREF((PyObject *)k);
    return NULL;
  }
  if (is_dictionary) {
    k->form = KEYS_DICTIONARY;
    k->dictionary = column_new(s, schema->dictionary, array->dictionary, owner);
    if (k->dictionary && k->dictionary->form == KEYS_DICTIONARY) {
      PyErr_SetString(PyExc_TypeError, "a dictionary of dictionaries has no keys");
      Py_CLEAR(k->dictionary);
    }
    if (!k->dictionary) {
      Py_DECREF((PyObject *)k);
      return NULL;
    }
  }
  return k;
}

/* keys_of_arrow(schema, array) -> Keys of the capsules, which stay in use. */
static PyObject *core_keys_of_arrow(PyObject *module, PyObject *args) {
  PyObject *first, *second;
  struct ArrowSchema *schema;
  struct ArrowArray *array;
  if (!PyArg_ParseTuple(args, "OO", &first, &second)) return NULL;
  schema = (struct ArrowSchema *)PyCapsule_GetPointer(first, "arrow_schema");
  array = schema ? (struct ArrowArray *)PyCapsule_GetPointer(second, "arrow_array") : NULL;
  if (!array) return NULL;
  if (!schema->release || !array->release) {
    PyErr_SetString(PyExc_ValueError, "arrow: the array was moved");
    return NULL;
  }
  return (PyObject *)column_new((core_state *)PyModule_GetState(module), schema, array, second);
}

/* Whether key i is not null, in a dictionary either. */
static bool column_exists(const Keys *k, size_t i) {
  uint64_t index;
  if (k->form == KEYS_NULLS || !keys_valid(k, i)) return false;
  if (k->form != KEYS_DICTIONARY) return true;
  index = keys_index(k, i);
  return index < k->dictionary->n && column_exists(k->dictionary, (size_t)index);
}

static Py_ssize_t keys_length(PyObject *self) { return (Py_ssize_t)((Keys *)self)->n; }

/* booleans(answers) -> (schema, array): an Arrow array of the answers, a byte each, null where the key is. */
static PyObject *keys_booleans(PyObject *self, PyObject *answers) {
  const Keys *k = (const Keys *)self;
  Py_buffer view;
  uint8_t *valid = NULL;
  PyObject *result = NULL;
  if (PyObject_GetBuffer(answers, &view, PyBUF_SIMPLE) < 0) return NULL;
  if ((size_t)view.len != k->n) {
    PyErr_SetString(PyExc_ValueError, "the answers have another length than the keys");
  } else if (k->validity || k->form == KEYS_NULLS || (k->dictionary && k->dictionary->validity)) {
    valid = (uint8_t *)malloc(k->n + 1);
    for (size_t i = 0; valid && i < k->n; i++) valid[i] = column_exists(k, i);
    result = valid ? arrow_booleans((const uint8_t *)view.buf, valid, k->n) : PyErr_NoMemory();
  } else {
    result = arrow_booleans((const uint8_t *)view.buf, NULL, k->n);
  }
  free(valid);
  PyBuffer_Release(&view);
  return result;
}

/* mark(kind) -> self: kind is "date" for integers that are days, or "decimal" for numbers in text form. */
static PyObject *keys_mark(PyObject *self, PyObject *kind) {
  Keys *k = (Keys *)self;
  const char *name = PyUnicode_AsUTF8AndSize(kind, NULL);
  bool date;
  if (!name) return NULL;
  date = strcmp(name, "date") == 0;
  if (date ? k->form == KEYS_SIGNED : k->form == KEYS_OFFSETS32 || k->form == KEYS_OFFSETS64 || k->form == KEYS_VIEWS) {
    k->kind = date ? KEYS_DATE : KEYS_DECIMAL;
  }
  return Py_NewRef(self);
}

static PyMethodDef keys_methods[] = {
    {"mark", keys_mark, METH_O, "mark(kind) -> self"},
    {"booleans", keys_booleans, METH_O, "booleans(answers) -> (schema, array)"},
    {"hex", keys_hex, METH_VARARGS, "hex(from, to, values) -> bytes"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot keys_slots[] = {
    {Py_tp_dealloc, (void *)keys_free},
    {Py_tp_methods, keys_methods},
    {Py_sq_length, (void *)keys_length},
    {0, NULL},
};

static PyType_Spec keys_spec = {
    "bloomery_filters._core.Keys", sizeof(Keys), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, keys_slots,
};
