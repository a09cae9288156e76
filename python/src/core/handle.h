/* Handle: the base class of bloomery_filters.Filter. It keeps the object that answers the queries, so that `key in f`
   runs no Python code. One thread may close or replace this object while others ask it: each query holds a reference
   until it ends. */

typedef struct {
  PyObject_HEAD
  PyObject *opened; /* Opened, or Shards of the Python side; NULL: closed */
  PyObject *router; /* the router of Shards, or NULL */
} Handle;

static int handle_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((Handle *)self)->opened);
  Py_VISIT(((Handle *)self)->router);
  return 0;
}

static int handle_clear(PyObject *self) {
  Py_CLEAR(((Handle *)self)->opened);
  Py_CLEAR(((Handle *)self)->router);
  return 0;
}

static void handle_free(PyObject *self) {
  PyObject_GC_UnTrack(self);
  handle_clear(self);
  core_free(self);
}

/* Raises ValueError. */
static PyObject *handle_refuse(void) {
  PyErr_SetString(PyExc_ValueError, "the filter is closed");
  return NULL;
}

/* Returns new references to what answers and its router, or NULL with ValueError. */
static PyObject *handle_take(PyObject *self, PyObject **router) {
  PyObject *opened;
  CORE_LOCK(self);
  opened = ((Handle *)self)->opened;
  *router = ((Handle *)self)->router;
  Py_XINCREF(opened);
  Py_XINCREF(*router);
  CORE_UNLOCK();
  return opened ? opened : handle_refuse();
}

static PyObject *handle_opened(PyObject *self, PyObject *unused) {
  PyObject *router, *opened = handle_take(self, &router);
  (void)unused;
  Py_XDECREF(router);
  return opened;
}

/* _set(opened, router=None, expected=None) -> bool: replaces what answers; None closes. Shards come with their router.
   With expected, it replaces that only. If something else answers now, it returns False; after close it raises
   ValueError. */
static PyObject *handle_set(PyObject *self, PyObject *args) {
  Handle *h = (Handle *)self;
  PyObject *opened, *router = NULL, *expected = NULL, *now, *old = NULL, *old_router = NULL;
  bool done;
  if (!PyArg_ParseTuple(args, "O|OO", &opened, &router, &expected)) return NULL;
  if (router && Py_IsNone(router)) router = NULL;
  if (router && PyType_GetSlot(Py_TYPE(router), Py_tp_dealloc) != (void *)router_free) {
    PyErr_SetString(PyExc_TypeError, "_set: router");
    return NULL;
  }
  CORE_LOCK(self);
  now = h->opened;
  done = !expected || now == expected;
  if (done) {
    old = now;
    old_router = h->router;
    h->opened = Py_IsNone(opened) ? NULL : Py_NewRef(opened);
    h->router = Py_XNewRef(router);
  }
  CORE_UNLOCK();
  Py_XDECREF(old);
  Py_XDECREF(old_router);
  if (!done && !now) return handle_refuse();
  return PyBool_FromLong(done);
}

static PyObject *handle_closed(PyObject *self, void *unused) {
  bool closed;
  (void)unused;
  CORE_LOCK(self);
  closed = ((Handle *)self)->opened == NULL;
  CORE_UNLOCK();
  return PyBool_FromLong(closed);
}

/* key in self. */
static int handle_contains(PyObject *self, PyObject *object) {
  core_key key;
  PyObject *router, *opened = handle_take(self, &router);
  int has = -1;
  if (!opened) return -1;
  if (router) {
    has = router_has(router, opened, object);
  } else if (PyType_GetSlot(Py_TYPE(opened), Py_tp_dealloc) != (void *)opened_free) {
    PyErr_SetString(PyExc_TypeError, "the filter is not one file");
  } else if (core_key_take(&key, object, opened_form((const Opened *)opened))) {
    has = opened_has_key((const Opened *)opened, &key);
    core_key_release(&key);
  }
  Py_XDECREF(router);
  Py_DECREF(opened);
  return has;
}

static PyMethodDef handle_methods[] = {
    {"_get", handle_opened, METH_NOARGS, "Returns what answers, or raises ValueError after close."},
    {"_set", handle_set, METH_VARARGS, "_set(opened, router=None, expected=None) -> bool: replaces what answers."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef handle_getters[] = {
    {"closed", handle_closed, NULL, "Whether the filter was closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot handle_slots[] = {
    {Py_tp_dealloc, (void *)handle_free},
    {Py_tp_traverse, (void *)handle_traverse},
    {Py_tp_clear, (void *)handle_clear},
    {Py_tp_methods, handle_methods},
    {Py_tp_getset, handle_getters},
    {Py_sq_contains, (void *)handle_contains},
    {0, NULL},
};

static PyType_Spec handle_spec = {
    "bloomery_filters._core.Handle", sizeof(Handle), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    handle_slots,
};
