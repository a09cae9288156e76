/* Opened: a filter or an exact set in memory. It is immutable; any number of threads may ask it. */

typedef struct {
  PyObject_HEAD
  Py_buffer view; /* the file */
  void *memory;   /* of trimmed filters and exact sets */
  bool is_exact;
  bloomery_filter filter;
  bloomery_exact exact;
} Opened;

static void opened_free(PyObject *self) {
  Opened *o = (Opened *)self;
  free(o->memory);
  if (o->view.obj) PyBuffer_Release(&o->view);
  core_free(self);
}

/* Opens o->view. Needs no GIL. */
static int opened_open(Opened *o, const uint8_t *secret) {
  static const uint8_t magic[4] = {0x89, 'B', 'L', 'X'};
  const uint8_t *data = (const uint8_t *)o->view.buf;
  size_t length = (size_t)o->view.len, need;
  int result;
  o->is_exact = length >= 4 && memcmp(data, magic, 4) == 0;
  need = o->is_exact ? bloomery_exact_memory(data, length) : bloomery_memory(data, length);
  if (need > 0) {
    o->memory = malloc(need);
    if (!o->memory) return -1;
  }
  if (o->is_exact) return bloomery_exact_open(&o->exact, data, length, secret, o->memory, need);
  result = bloomery_open_in(&o->filter, data, length, secret, o->memory, need);
  if (result == BLOOMERY_OK && !o->filter.header.trimmed) { /* needed while it was opened */
    free(o->memory);
    o->memory = NULL;
  }
  return result;
}

/* Returns the place of the fault in a file that was refused, or -1 if it is not known. */
static long long opened_offset(const Opened *o, int result) {
  const uint8_t *data = (const uint8_t *)o->view.buf;
  size_t length = (size_t)o->view.len;
  bloomery_filter f;
  bloomery_file file;
  bloomery_crc_tables tables;
  if (result == BLOOMERY_BAD_MAGIC) return 0;
  if (result == BLOOMERY_TRUNCATED) return (long long)length;
  if (o->is_exact) return -1;
  if (result == BLOOMERY_BAD_VERSION) return 8;
  if (result == BLOOMERY_BAD_FAMILY) return 10;
  if (result == BLOOMERY_BAD_HASH) return 12;
  if (result != BLOOMERY_BAD_CHECKSUM) return -1;
  bloomery_crc_begin(&tables, length);
  if (bloomery_read_header(&f, &file, data, length, &tables) != BLOOMERY_OK) return 60;
  for (uint32_t i = 0; i < file.sections + file.exceptions; i++) {
    if (bloomery_crc(&tables, 0, bloomery_section(&file, i), 8 * file.words[i]) !=
        bloomery_load32(data + 64 + 24 * i + 16)) {
      return (long long)file.offset[i];
    }
  }
  return -1;
}

/* open(data, secret) -> Opened, or a tuple (result, message, offset) if the file is refused. data is held: its bytes
   must not change. secret has 16 bytes, or is None. */
static PyObject *core_open(PyObject *module, PyObject *args) {
  core_state *s = (core_state *)PyModule_GetState(module);
  allocfunc allocate = (allocfunc)PyType_GetSlot(s->opened, Py_tp_alloc);
  PyObject *data, *refused;
  const char *secret;
  Py_ssize_t secret_length;
  Opened *o;
  int result;
  long long offset = -1;
  if (!PyArg_ParseTuple(args, "Oz#", &data, &secret, &secret_length)) return NULL;
  if (secret && secret_length != 16) {
    PyErr_SetString(PyExc_ValueError, "a secret has 16 bytes");
    return NULL;
  }
  o = (Opened *)allocate(s->opened, 0);
  if (!o) return NULL;
  if (PyObject_GetBuffer(data, &o->view, PyBUF_SIMPLE) < 0) {
    o->view.obj = NULL;
    Py_DECREF((PyObject *)o);
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS;
  result = opened_open(o, (const uint8_t *)secret);
  if (result > 0) offset = opened_offset(o, result);
  Py_END_ALLOW_THREADS;
  if (result == BLOOMERY_OK) return (PyObject *)o;
  Py_DECREF((PyObject *)o);
  if (result < 0) return PyErr_NoMemory();
  refused = Py_BuildValue("isL", result, bloomery_message(result), offset);
  return refused;
}

/* Returns the form of the keys, or NULL for an exact set. */
static const bloomery_form *opened_form(const Opened *o) { return o->is_exact ? NULL : &o->filter.header.form; }

static bool opened_has_key(const Opened *o, const core_key *key) {
  return o->is_exact ? bloomery_exact_has(&o->exact, key->p, key->n) : bloomery_has(&o->filter, key->p, key->n);
}

/* has(key) -> bool. */
static PyObject *opened_has(PyObject *self, PyObject *object) {
  core_key key;
  bool has;
  if (!core_key_take(&key, object, opened_form((const Opened *)self))) return NULL;
  has = opened_has_key((const Opened *)self, &key);
  core_key_release(&key);
  return PyBool_FromLong(has);
}

/* has_in(name, key) -> bool: in a partition of an exact set. */
static PyObject *opened_has_in(PyObject *self, PyObject *args) {
  const Opened *o = (const Opened *)self;
  PyObject *first, *second;
  core_key name, key;
  bool has;
  if (!PyArg_ParseTuple(args, "OO", &first, &second) || !core_key_take(&name, first, NULL)) return NULL;
  if (!core_key_take(&key, second, NULL)) {
    core_key_release(&name);
    return NULL;
  }
  has = o->is_exact && bloomery_exact_has_in(&o->exact, name.p, name.n, key.p, key.n);
  core_key_release(&name);
  core_key_release(&key);
  return PyBool_FromLong(has);
}

/* count(key) -> int. */
static PyObject *opened_count(PyObject *self, PyObject *object) {
  core_key key;
  uint64_t count;
  const Opened *o = (const Opened *)self;
  if (!core_key_take(&key, object, opened_form((const Opened *)self))) return NULL;
  count = o->is_exact ? 0 : bloomery_count(&o->filter, key.p, key.n);
  core_key_release(&key);
  return PyLong_FromUnsignedLongLong(count);
}

/* get(key) -> int, or None. */
static PyObject *opened_get(PyObject *self, PyObject *object) {
  core_key key;
  uint64_t value = 0;
  bool found;
  const Opened *o = (const Opened *)self;
  if (!core_key_take(&key, object, opened_form((const Opened *)self))) return NULL;
  found = !o->is_exact && bloomery_get(&o->filter, key.p, key.n, &value);
  core_key_release(&key);
  if (!found) Py_RETURN_NONE;
  return PyLong_FromUnsignedLongLong(value);
}

static void opened_sink(const void *self, const core_block *b, uint8_t *out) {
  const Opened *o = (const Opened *)self;
  if (!o->is_exact) {
    bloomery_many(&o->filter, &b->keys, b->way, b->n, out);
    return;
  }
  for (size_t i = 0; i < b->n; i++) {
    size_t n;
    const uint8_t *p = block_key(b, i, &n);
    out[i] = bloomery_exact_has(&o->exact, p, n);
  }
}

/* ask(keys, answers): writes a byte, 0 or 1, for each key. */
static PyObject *opened_ask(PyObject *self, PyObject *args) {
  core_state *s = (core_state *)PyType_GetModuleState(Py_TYPE(self));
  PyObject *keys, *answers;
  if (!PyArg_ParseTuple(args, "O!O", s->keys, &keys, &answers)) return NULL;
  return block_answer((const Keys *)keys, opened_form((const Opened *)self), opened_sink, self, answers);
}

/* info() -> dict of the header. */
static PyObject *opened_info(PyObject *self, PyObject *unused) {
  const Opened *o = (const Opened *)self;
  const bloomery_header *h = bloomery_info(&o->filter);
  const bloomery_exact_header *e = bloomery_exact_info(&o->exact);
  (void)unused;
  if (o->is_exact) {
    return Py_BuildValue("{sKsKsKsKsKsKsIsI}", "bytes", e->bytes, "universe", e->universe, "members", e->members,
                         "partitions", e->partitions, "seed", e->seed, "key_check", e->key_check, "hash", e->hash,
                         "records", e->records);
  }
  return Py_BuildValue("{ss#sKsKsKsKsKsKsdsIsIsIsNsNs(iiiii)}", "spec", h->spec, (Py_ssize_t)h->spec_length, "bytes", h->bytes,
                       "keys", h->keys, "seed", h->seed, "key_check", h->key_check, "allowed", h->allowed, "exceptions",
                       h->exceptions, "fpr_planned", h->fpr_planned, "family", h->family, "hash", h->hash, "value_bits",
                       h->value_bits, "counts", PyBool_FromLong(h->counts), "trimmed", PyBool_FromLong(h->trimmed),
                       "key_form", h->form.trimmed, h->form.lowered, h->form.type, h->form.scale, h->form.width);
}

static PyMethodDef opened_methods[] = {
    {"has", opened_has, METH_O, "has(key) -> bool"},
    {"has_in", opened_has_in, METH_VARARGS, "has_in(partition, key) -> bool"},
    {"count", opened_count, METH_O, "count(key) -> int"},
    {"get", opened_get, METH_O, "get(key) -> int | None"},
    {"ask", opened_ask, METH_VARARGS, "ask(keys, answers)"},
    {"info", opened_info, METH_NOARGS, "info() -> dict"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot opened_slots[] = {
    {Py_tp_dealloc, (void *)opened_free},
    {Py_tp_methods, opened_methods},
    {0, NULL},
};

static PyType_Spec opened_spec = {
    "bloomery_filters._core.Opened", sizeof(Opened), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    opened_slots,
};
