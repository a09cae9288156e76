/* What the functions of the module share. */

typedef struct {
  PyTypeObject *opened, *keys, *router, *handle;
} core_state;

/* What can go wrong while the GIL is released. 0: nothing. */
enum {
  CORE_MEMORY = 1, /* malloc failed */
  CORE_RAISED,     /* a Python exception is set */
  CORE_VIEW,       /* a view of an Arrow array is outside of its buffers */
  CORE_INDEX,      /* an index of a dictionary is outside of it */
  CORE_OFFSETS,    /* an offset is negative or less than the one before it */
  CORE_TYPE,       /* the keys of the filter have another type */
  CORE_TEXT,       /* a character of a NumPy text has no UTF-8 */
  CORE_NULL        /* a key is null where it may not be */
};

/* Sets the exception of an error. Returns NULL. */
static PyObject *core_raise(int error) {
  switch (error) {
  case CORE_MEMORY: return PyErr_NoMemory();
  case CORE_VIEW: PyErr_SetString(PyExc_ValueError, "arrow: a view is outside of its buffers"); break;
  case CORE_INDEX: PyErr_SetString(PyExc_ValueError, "arrow: an index is outside of the dictionary"); break;
  case CORE_OFFSETS: PyErr_SetString(PyExc_ValueError, "arrow: an offset is less than the one before it"); break;
  case CORE_NULL: PyErr_SetString(PyExc_ValueError, "a key is null, and has a value"); break;
  case CORE_TYPE:
    PyErr_SetString(PyExc_TypeError, "a column of this type has no keys in this filter: see key_form of its info");
    break;
  case CORE_TEXT: PyErr_SetString(PyExc_ValueError, "a key has a surrogate, which has no UTF-8"); break;
  }
  return NULL;
}

/* Free-threaded Python: a lock of an object. */
#ifdef Py_GIL_DISABLED
#define CORE_LOCK(self) Py_BEGIN_CRITICAL_SECTION(self)
#define CORE_UNLOCK() Py_END_CRITICAL_SECTION()
#else
#define CORE_LOCK(self) {
#define CORE_UNLOCK() }
#endif

/* Frees an object of one of our types, whose own resources are gone. */
static void core_free(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
  free_object(self);
  Py_DECREF(type);
}
