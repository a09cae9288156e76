/* One key: the bytes of a Python object. */

/* A key that is in use. p points into the object, or to room. */
typedef struct {
  const uint8_t *p;
  size_t n;
  uint8_t room[8];
  Py_buffer view; /* obj is NULL without one */
} core_key;

/* Takes the eight bytes of an int from -2^63 to 2^64-1. Returns whether it is one. */
static bool core_key_integer(core_key *key, PyObject *number) {
  int beyond;
  long long v = PyLong_AsLongLongAndOverflow(number, &beyond);
  unsigned long long u = (unsigned long long)v;
  if (beyond > 0) {
    u = PyLong_AsUnsignedLongLong(number);
    if (u == (unsigned long long)-1 && PyErr_Occurred()) {
      if (PyErr_ExceptionMatches(PyExc_OverflowError)) beyond = -1;
    } else {
      beyond = 0;
    }
  }
  if (beyond < 0) {
    PyErr_SetString(PyExc_OverflowError, "an integer key has 64 bits: -2**63 to 2**64-1");
    return false;
  }
  if (PyErr_Occurred()) return false;
  bloomery_integer(key->room, u);
  key->p = key->room;
  key->n = 8;
  return true;
}

/* Takes the bytes of a memoryview of bytes. One of other items, such as pointers or floats, is no key. */
static bool core_key_view(core_key *key, PyObject *object) {
  const char *format;
  if (PyObject_GetBuffer(object, &key->view, PyBUF_FULL_RO) < 0) return false;
  format = key->view.format ? key->view.format : "B"; /* "<B" in ctypes: the last letter counts */
  if (key->view.itemsize == 1 && key->view.ndim == 1 && format[0] && strchr("Bbc", format[strlen(format) - 1]) &&
      PyBuffer_IsContiguous(&key->view, 'C')) {
    key->p = (const uint8_t *)key->view.buf;
    key->n = (size_t)key->view.len;
    return true;
  }
  PyErr_Format(PyExc_TypeError,
               "a memoryview is a key if it holds contiguous bytes in one dimension, not format %.40s in %d: pass its "
               "tobytes() if these are the key",
               format, key->view.ndim);
  PyBuffer_Release(&key->view);
  return false;
}

/* Takes the bytes of a numpy.void without fields, an element of a V array. Returns false, without an exception, if the
   object is something else. */
static bool core_key_void(core_key *key, PyObject *object) {
  const char *format;
  if (!PyObject_CheckBuffer(object) || !PyObject_HasAttrString(object, "dtype")) return false;
  if (PyObject_GetBuffer(object, &key->view, PyBUF_FULL_RO) < 0) {
    PyErr_Clear();
    return false;
  }
  format = key->view.format ? key->view.format : "";
  /* "16x" has 16 bytes; with fields it is T{...}. V0 arrays have no keys. */
  if (key->view.ndim == 0 && key->view.len > 0 && strcmp(format + strspn(format, "0123456789"), "x") == 0) {
    key->p = (const uint8_t *)key->view.buf;
    key->n = (size_t)key->view.len;
    return true;
  }
  PyBuffer_Release(&key->view);
  return false;
}

/* Takes the bytes of a key: text its UTF-8, bytes themselves, an integer its eight bytes. Returns false and raises
   TypeError, OverflowError or UnicodeEncodeError if the object is no key. If it returns true, release the key. */
static bool core_key_take(core_key *key, PyObject *object) {
  Py_ssize_t n;
  key->view.obj = NULL;
  if (PyUnicode_Check(object)) {
    key->p = (const uint8_t *)PyUnicode_AsUTF8AndSize(object, &n);
    key->n = (size_t)n;
    return key->p != NULL;
  }
  if (PyBytes_Check(object)) {
    char *p;
    if (!PyBytes_CheckExact(object) && PyObject_HasAttrString(object, "dtype")) {
      PyErr_SetString(PyExc_TypeError, "a numpy.bytes_ is no key: NumPy drops the zero bytes at the end of S values. "
                                       "Use a V array, or bytes(key) if no key ends in a zero byte");
      return false;
    }
    if (PyBytes_AsStringAndSize(object, &p, &n) < 0) return false;
    key->p = (const uint8_t *)p;
    key->n = (size_t)n;
    return true;
  }
  if (PyLong_CheckExact(object)) return core_key_integer(key, object);
  if (PyMemoryView_Check(object)) return core_key_view(key, object);
  if (PyByteArray_Check(object)) {
    if (PyObject_GetBuffer(object, &key->view, PyBUF_SIMPLE) < 0) return false;
    key->p = (const uint8_t *)key->view.buf;
    key->n = (size_t)key->view.len;
    return true;
  }
  if (!PyBool_Check(object) && PyIndex_Check(object)) {
    PyObject *number = PyNumber_Index(object);
    bool done = number && core_key_integer(key, number);
    Py_XDECREF(number);
    return done;
  }
  if (core_key_void(key, object)) return true; /* last, since it costs more than the other kinds */
  PyErr_Format(PyExc_TypeError, "a key is a str, bytes or an int, not %R", (PyObject *)Py_TYPE(object));
  return false;
}

static void core_key_release(core_key *key) {
  if (key->view.obj) PyBuffer_Release(&key->view);
}
