/* Router: the shards of keys in a sharded set, without a filter of the set: the hash is in the manifest. */

typedef struct {
  PyObject_HEAD
  bloomery_filter hasher; /* only its hash is used */
} Router;

static void router_free(PyObject *self) { core_free(self); }

/* router(hash, seed, key_check, secret) -> Router, or the result of bloomery.h that says what is wrong with the secret.
   hash is the number of the hash function, but not that of bits-and-blooms. */
static PyObject *core_router(PyObject *module, PyObject *args) {
  core_state *s = (core_state *)PyModule_GetState(module);
  allocfunc allocate = (allocfunc)PyType_GetSlot(s->router, Py_tp_alloc);
  unsigned int hash;
  unsigned long long seed, key_check;
  const char *secret;
  Py_ssize_t length;
  Router *r;
  int result;
  if (!PyArg_ParseTuple(args, "IKKz#", &hash, &seed, &key_check, &secret, &length)) return NULL;
  if (secret && length != 16) {
    PyErr_SetString(PyExc_ValueError, "a secret has 16 bytes");
    return NULL;
  }
  r = (Router *)allocate(s->router, 0);
  if (!r) return NULL;
  r->hasher.header.hash = hash;
  r->hasher.header.seed = seed;
  r->hasher.header.key_check = key_check;
  result = bloomery_take_secret(r->hasher.secret, hash, key_check, (const uint8_t *)secret);
  if (result == BLOOMERY_OK) return (PyObject *)r;
  Py_DECREF((PyObject *)r);
  return Py_BuildValue("isL", result, bloomery_message(result), (long long)-1);
}

/* shard(key, count) -> int. */
static PyObject *router_shard(PyObject *self, PyObject *args) {
  PyObject *object;
  unsigned long long count;
  core_key key;
  uint64_t shard;
  if (!PyArg_ParseTuple(args, "OK", &object, &count) || !core_key_take(&key, object)) return NULL;
  shard = bloomery_shard(&((const Router *)self)->hasher, key.p, key.n, count);
  core_key_release(&key);
  return PyLong_FromUnsignedLongLong(shard);
}

static void router_sink(const void *self, const core_block *b, uint8_t *out) {
  const Router *r = (const Router *)self;
  for (size_t i = 0; i < b->n; i++) {
    size_t n;
    const uint8_t *p = block_key(b, i, &n);
    bloomery_key_hash h = bloomery_hash(&r->hasher, p, n);
    memcpy(out + 16 * i, &h, 16);
  }
}

/* ask(keys, hashes): writes the hash of each key, 16 bytes. */
static PyObject *router_ask(PyObject *self, PyObject *args) {
  core_state *s = (core_state *)PyType_GetModuleState(Py_TYPE(self));
  PyObject *keys, *hashes;
  if (!PyArg_ParseTuple(args, "O!O", s->keys, &keys, &hashes)) return NULL;
  return block_answer((const Keys *)keys, router_sink, self, 16, hashes);
}

/* Writes the shard of each hash to shards, and sets used[shard]. */
static void router_route(const uint8_t *hashes, size_t n, uint64_t count, uint32_t *shards, uint8_t *used) {
  for (size_t i = 0; i < n; i++) {
    bloomery_key_hash h;
    memcpy(&h, hashes + 16 * i, 16);
    shards[i] = (uint32_t)bloomery_route(h, count);
    used[shards[i]] = 1;
  }
}

/* Answers hashes. filters has a filter for each shard that is used. */
static void router_answer(const Opened *const *filters, const uint8_t *hashes, const uint32_t *shards, size_t n,
                          uint8_t *out) {
  for (size_t i = 0; i < n; i++) {
    bloomery_key_hash h;
    memcpy(&h, hashes + 16 * i, 16);
    out[i] = bloomery_has_hash(&filters[shards[i]]->filter, h);
  }
}

/* Fills filters with the Opened that load(shard) returns for each shard that is used. They are kept in list. */
static bool router_load(core_state *s, PyObject *load, const uint8_t *used, size_t count, const Opened **filters,
                        PyObject *list) {
  for (size_t i = 0; i < count; i++) {
    PyObject *shard;
    bool done;
    if (!used[i]) continue;
    shard = PyObject_CallFunction(load, "n", (Py_ssize_t)i);
    if (!shard) return false;
    done = PyObject_TypeCheck(shard, s->opened) && !((const Opened *)shard)->is_exact;
    if (!done) PyErr_SetString(PyExc_TypeError, "load: not a filter");
    done = done && PyList_Append(list, shard) == 0;
    filters[i] = (const Opened *)shard;
    Py_DECREF(shard); /* list has it */
    if (!done) return false;
  }
  return true;
}

/* answer(hashes, count, load, answers): writes a byte, 0 or 1, for each hash. load(shard) returns the Opened of a
   shard; it is called once for each shard of a hash, before anything is answered. */
static PyObject *router_answers(PyObject *self, PyObject *args) {
  core_state *s = (core_state *)PyType_GetModuleState(Py_TYPE(self));
  Py_buffer hashes, answers;
  PyObject *load, *list = NULL, *result = NULL;
  Py_ssize_t count;
  size_t n;
  uint32_t *shards = NULL;
  uint8_t *used = NULL;
  const Opened **filters = NULL;
  if (!PyArg_ParseTuple(args, "y*nOw*", &hashes, &count, &load, &answers)) return NULL;
  n = (size_t)hashes.len / 16;
  if (hashes.len % 16 != 0 || (size_t)answers.len != n || count < 1 || count > 1 << 20) {
    PyErr_SetString(PyExc_ValueError, "answer: lengths");
    goto end;
  }
  shards = (uint32_t *)malloc(n * sizeof *shards + 1);
  used = (uint8_t *)calloc((size_t)count, 1);
  filters = (const Opened **)calloc((size_t)count, sizeof *filters);
  list = PyList_New(0);
  if (!shards || !used || !filters || !list) {
    if (!PyErr_Occurred()) PyErr_NoMemory();
    goto end;
  }
  Py_BEGIN_ALLOW_THREADS;
  router_route((const uint8_t *)hashes.buf, n, (uint64_t)count, shards, used);
  Py_END_ALLOW_THREADS;
  if (!router_load(s, load, used, (size_t)count, filters, list)) goto end;
  Py_BEGIN_ALLOW_THREADS;
  router_answer(filters, (const uint8_t *)hashes.buf, shards, n, (uint8_t *)answers.buf);
  Py_END_ALLOW_THREADS;
  result = Py_NewRef(Py_None);
end:
  free(shards);
  free(used);
  free((void *)filters);
  Py_XDECREF(list);
  PyBuffer_Release(&hashes);
  PyBuffer_Release(&answers);
  return result;
}

static PyMethodDef router_methods[] = {
    {"shard", router_shard, METH_VARARGS, "shard(key, count) -> int"},
    {"ask", router_ask, METH_VARARGS, "ask(keys, hashes)"},
    {"answer", router_answers, METH_VARARGS, "answer(hashes, count, load, answers)"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot router_slots[] = {
    {Py_tp_dealloc, (void *)router_free},
    {Py_tp_methods, router_methods},
    {0, NULL},
};

static PyType_Spec router_spec = {
    "bloomery._core.Router", sizeof(Router), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, router_slots,
};
