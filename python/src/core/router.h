/* Router: the shards of keys in a sharded set. It needs no filter for that: the hash is in the manifest. */

typedef struct {
  PyObject_HEAD
  bloomery_filter hasher; /* only its hash is used */
  size_t count;           /* of shards */
  PyObject **loaded;      /* Opened of each shard, or NULL; they are never replaced */
} Router;

static void router_free(PyObject *self) {
  Router *r = (Router *)self;
  for (size_t i = 0; r->loaded && i < r->count; i++) Py_XDECREF(r->loaded[i]);
  free(r->loaded);
  core_free(self);
}

/* router(hash, seed, key_check, secret, count, type, scale, width) -> Router, or the result of bloomery.h that says what is wrong with the
   secret. hash is the number of the hash function, but not that of bits-and-blooms. */
static PyObject *core_router(PyObject *module, PyObject *args) {
  core_state *s = (core_state *)PyModule_GetState(module);
  allocfunc allocate = (allocfunc)PyType_GetSlot(s->router, Py_tp_alloc);
  unsigned int hash;
  unsigned long long seed, key_check;
  const char *secret;
  Py_ssize_t length, count;
  Router *r;
  int result;
  bloomery_form form = {0, 0, 0, false, false};
  if (!PyArg_ParseTuple(args, "IKKz#n|bbb", &hash, &seed, &key_check, &secret, &length, &count, &form.type, &form.scale,
                        &form.width)) {
    return NULL;
  }
  if (secret && length != 16) {
    PyErr_SetString(PyExc_ValueError, "a secret has 16 bytes");
    return NULL;
  }
  if (count < 1 || count > 1 << 20) {
    PyErr_SetString(PyExc_ValueError, "router: count");
    return NULL;
  }
  r = (Router *)allocate(s->router, 0);
  if (!r) return NULL;
  r->count = (size_t)count;
  r->loaded = (PyObject **)calloc(r->count, sizeof *r->loaded);
  if (!r->loaded) {
    Py_DECREF((PyObject *)r);
    return PyErr_NoMemory();
  }
  r->hasher.header.hash = hash;
  r->hasher.header.seed = seed;
  r->hasher.header.key_check = key_check;
  r->hasher.header.form = form;
  r->hasher.wide = bloomery_wide();
  result = bloomery_take_secret(r->hasher.secret, hash, key_check, (const uint8_t *)secret);
  if (result == BLOOMERY_OK) return (PyObject *)r;
  Py_DECREF((PyObject *)r);
  return Py_BuildValue("isL", result, bloomery_message(result), (long long)-1);
}

/* shard(key) -> int. */
static PyObject *router_shard(PyObject *self, PyObject *object) {
  const Router *r = (const Router *)self;
  core_key key;
  uint64_t shard;
  if (!core_key_take(&key, object, &r->hasher.header.form)) return NULL;
  shard = bloomery_shard(&r->hasher, key.p, key.n, r->count);
  core_key_release(&key);
  return PyLong_FromUnsignedLongLong(shard);
}

/* Whether an object is a filter, not an exact set. If not, raises TypeError. */
static bool router_takes(const core_state *s, PyObject *object) {
  if (PyObject_TypeCheck(object, s->opened) && !((const Opened *)object)->is_exact) return true;
  PyErr_SetString(PyExc_TypeError, "a shard is a filter");
  return false;
}

/* put(shard, opened): gives the filter of a shard. The first one stays. */
static PyObject *router_put(PyObject *self, PyObject *args) {
  core_state *s = (core_state *)PyType_GetModuleState(Py_TYPE(self));
  Router *r = (Router *)self;
  Py_ssize_t shard;
  PyObject *opened;
  if (!PyArg_ParseTuple(args, "nO", &shard, &opened) || !router_takes(s, opened)) return NULL;
  if (shard < 0 || (size_t)shard >= r->count) {
    PyErr_SetString(PyExc_ValueError, "put: shard");
    return NULL;
  }
  CORE_LOCK(self);
  if (!r->loaded[shard]) r->loaded[shard] = Py_NewRef(opened);
  CORE_UNLOCK();
  Py_RETURN_NONE;
}

/* Whether the set has a key: 0, 1, or -1 with an exception. The method shard of load returns the filter of a shard that
   was not given. */
static int router_has(PyObject *self, PyObject *load, PyObject *object) {
  core_state *s = (core_state *)PyType_GetModuleState(Py_TYPE(self));
  const Router *r = (const Router *)self;
  PyObject *opened, *held = NULL;
  core_key key;
  uint64_t shard;
  int has = -1;
  if (!core_key_take(&key, object, &r->hasher.header.form)) return -1;
  shard = bloomery_shard(&r->hasher, key.p, key.n, r->count);
  CORE_LOCK(self);
  opened = r->loaded[shard];
  CORE_UNLOCK();
  if (!opened) {
    opened = held = PyObject_CallMethod(load, "shard", "n", (Py_ssize_t)shard);
    if (opened && !router_takes(s, opened)) opened = NULL;
  }
  if (opened) has = opened_has_key((const Opened *)opened, &key);
  Py_XDECREF(held);
  core_key_release(&key);
  return has;
}

/* Sets r->shards[i] to the filter that load(i) returns, for each shard of the piece that is not loaded. held, a list,
   keeps them. Returns false with an exception. */
static bool router_load(core_state *s, route *r, PyObject *load, PyObject *held) {
  for (size_t i = 0; i < r->n; i++) {
    uint32_t number = r->piece[i].shard;
    PyObject *shard;
    bool done;
    if (r->shards[number]) continue;
    shard = PyObject_CallFunction(load, "n", (Py_ssize_t)number);
    if (!shard) return false;
    done = router_takes(s, shard) && PyList_Append(held, shard) == 0;
    if (done) r->shards[number] = &((const Opened *)shard)->filter;
    Py_DECREF(shard); /* held has it */
    if (!done) return false;
  }
  return true;
}

/* Answers all keys of a route. Returns false with an exception. */
static bool router_answer(core_state *s, route *r, PyObject *load) {
  PyObject *held = PyList_New(0);
  bool done = held != NULL;
  while (done && r->from < r->keys->n) {
    int error;
    if (r->keys->form == KEYS_LIST) {
      error = route_run(r);
    } else {
      Py_BEGIN_ALLOW_THREADS;
      error = route_run(r);
      Py_END_ALLOW_THREADS;
    }
    if (error != 0) core_raise(error);
    done = error == 0 && (r->from == r->to || router_load(s, r, load, held));
  }
  Py_XDECREF(held);
  return done;
}
/* Answers keys that are not a dictionary: writes 0 or 1 to out, which has a byte for each, 0 at first. asked is that of
   a route. Returns false with an exception. */
static bool router_keys(core_state *s, const Router *self, PyObject *load, const Keys *k, const uint8_t *asked,
                        uint8_t *out) {
  route *r;
  bool done;
  int error = block_fits(&self->hasher.header.form, k);
  if (error != 0) {
    core_raise(error);
    return false;
  }
  if (k->form == KEYS_NULLS) return true;
  r = route_new(&self->hasher, self->count, k->n);
  if (!r) {
    PyErr_NoMemory();
    return false;
  }
  r->keys = k;
  r->block.form = &self->hasher.header.form;
  r->asked = asked;
  r->out = out;
  done = router_answer(s, r, load);
  route_free(r);
  return done;
}

/* The same for the rows of a dictionary: answers each entry that has a row once. */
static bool router_rows(core_state *s, const Router *self, PyObject *load, const Keys *k, uint8_t *out) {
  const Keys *entries = k->dictionary;
  uint8_t *asked = (uint8_t *)calloc(entries->n + 1, 1), *answers = (uint8_t *)calloc(entries->n + 1, 1);
  bool done = asked && answers;
  if (done) {
    Py_BEGIN_ALLOW_THREADS;
    for (size_t i = 0; i < k->n; i++) {
      uint64_t index = keys_valid(k, i) ? keys_index(k, i) : entries->n;
      if (index < entries->n) asked[index] = 1;
    }
    Py_END_ALLOW_THREADS;
  } else {
    PyErr_NoMemory();
  }
  done = done && router_keys(s, self, load, entries, asked, answers);
  if (done) {
    int error;
    Py_BEGIN_ALLOW_THREADS;
    error = block_rows(k, answers, out);
    Py_END_ALLOW_THREADS;
    if (error != 0) core_raise(error);
    done = error == 0;
  }
  free(asked);
  free(answers);
  return done;
}

/* ask(keys, load, answers): writes a byte, 0 or 1, for each key. load(shard) returns the Opened of a shard; it is
   called once for each shard that has one of the keys. Keys that are null have no shard. */
static PyObject *router_ask(PyObject *self, PyObject *args) {
  core_state *s = (core_state *)PyType_GetModuleState(Py_TYPE(self));
  PyObject *keys, *load, *answers;
  const Keys *k;
  Py_buffer view;
  bool done;
  if (!PyArg_ParseTuple(args, "O!OO", s->keys, &keys, &load, &answers)) return NULL;
  k = (const Keys *)keys;
  if (!block_answers(k, answers, &view)) return NULL;
  memset(view.buf, 0, k->n);
  if (k->form == KEYS_DICTIONARY) {
    done = router_rows(s, (const Router *)self, load, k, (uint8_t *)view.buf);
  } else {
    done = router_keys(s, (const Router *)self, load, k, NULL, (uint8_t *)view.buf);
  }
  PyBuffer_Release(&view);
  if (!done) return NULL;
  Py_RETURN_NONE;
}

static PyMethodDef router_methods[] = {
    {"shard", router_shard, METH_O, "shard(key) -> int"},
    {"put", router_put, METH_VARARGS, "put(shard, opened)"},
    {"ask", router_ask, METH_VARARGS, "ask(keys, load, answers)"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot router_slots[] = {
    {Py_tp_dealloc, (void *)router_free},
    {Py_tp_methods, router_methods},
    {0, NULL},
};

static PyType_Spec router_spec = {
    "bloomery_filters._core.Router", sizeof(Router), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    router_slots,
};
