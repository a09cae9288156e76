/* Handle: the base of bloomery.Filter. It holds what answers its queries, so that `key in f` needs no Python code, and
   that one thread may close or replace what others are asking: a query keeps it until it ends. */

typedef struct {
  PyObject_HEAD
  PyObject *opened; /* Opened, or another object; NULL: closed */
} Handle;

/* Free-threaded Python: a lock of the object. */
#ifdef Py_GIL_DISABLED
#define HANDLE_LOCK(self) Py_BEGIN_CRITICAL_SECTION(self)
#define HANDLE_UNLOCK() Py_END_CRITICAL_SECTION()
#else
#define HANDLE_LOCK(self) {
#define HANDLE_UNLOCK() }
#endif

static int handle_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((Handle *)self)->opened);
  return 0;
}

static int handle_clear(PyObject *self) {
  Py_CLEAR(((Handle *)self)->opened);
  return 0;
}

static void handle_free(PyObject *self) {
  PyObject_GC_UnTrack(self);
  handle_clear(self);
  core_free(self);
}

/* Returns a new reference, or NULL with ValueError. */
static PyObject *handle_get(PyObject *self) {
  PyObject *opened;
  HANDLE_LOCK(self);
  opened = ((Handle *)self)->opened;
  Py_XINCREF(opened);
  HANDLE_UNLOCK();
  if (!opened) PyErr_SetString(PyExc_ValueError, "the filter is closed");
  return opened;
}

static PyObject *handle_opened(PyObject *self, PyObject *unused) {
  (void)unused;
  return handle_get(self);
}

/* _set(opened): replaces what answers; None closes. */
static PyObject *handle_set(PyObject *self, PyObject *opened) {
  PyObject *old;
  HANDLE_LOCK(self);
  old = ((Handle *)self)->opened;
  ((Handle *)self)->opened = Py_IsNone(opened) ? NULL : Py_NewRef(opened);
  HANDLE_UNLOCK();
  Py_XDECREF(old);
  Py_RETURN_NONE;
}

static PyObject *handle_closed(PyObject *self, void *unused) {
  bool closed;
  (void)unused;
  HANDLE_LOCK(self);
  closed = ((Handle *)self)->opened == NULL;
  HANDLE_UNLOCK();
  return PyBool_FromLong(closed);
}

/* key in self. */
static int handle_contains(PyObject *self, PyObject *object) {
  core_key key;
  PyObject *opened = handle_get(self);
  int has = -1;
  if (!opened) return -1;
  if (PyType_GetSlot(Py_TYPE(opened), Py_tp_dealloc) != (void *)opened_free) {
    PyErr_SetString(PyExc_TypeError, "the filter is not one file");
  } else if (core_key_take(&key, object)) {
    has = opened_has_key((const Opened *)opened, &key);
    core_key_release(&key);
  }
  Py_DECREF(opened);
  return has;
}

static PyMethodDef handle_methods[] = {
    {"_get", handle_opened, METH_NOARGS, "Returns what answers, or raises ValueError after close."},
    {"_set", handle_set, METH_O, "Replaces what answers; None closes."},
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
    "bloomery._core.Handle", sizeof(Handle), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    handle_slots,
};
