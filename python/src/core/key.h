/* One key: the bytes of a Python object. */

/* A key that is in use. p points into the object, or to room. */
typedef struct {
  const uint8_t *p;
  size_t n;
  bloomery_key made;
  Py_buffer view; /* obj is NULL without one */
} core_key;

/* A key that no value has: longer than all that a type makes. */
static const uint8_t core_no_key[272] = {0};

/* Whether the keys of a form are not text, nor bytes without a type. */
static bool core_typed(const bloomery_form *form) { return form && form->type > BLOOMERY_KEY_TEXT; }

/* Sets the key of a value in text form. An integer for BLOOMERY_KEY_DATE is a number of days. A value that the type
   does not have gets core_no_key: it is absent. */
static void core_key_value(core_key *key, const bloomery_form *form, const char *text, size_t n, bool integer) {
  bloomery_form as = *form;
  if (integer && form->type == BLOOMERY_KEY_DATE) as.type = BLOOMERY_KEY_INT32;
  if (bloomery_text_key(&as, text, n, &key->made)) {
    key->p = key->made.bytes;
    key->n = key->made.n;
  } else {
    key->p = core_no_key;
    key->n = sizeof core_no_key;
  }
}

/* Sets the key of an integer of up to 64 bits, whose decimal digits are written to digits if the type needs them. */
static void core_key_number(core_key *key, const bloomery_form *form, uint64_t n, bool negative, char digits[24]) {
  size_t at = 24;
  if (!form || form->type == BLOOMERY_KEY_BYTES) {
    bloomery_integer(key->made.room, n);
    key->p = key->made.room;
    key->n = 8;
    return;
  }
  if (negative) n = 0 - n;
  do {
    digits[--at] = (char)('0' + n % 10);
  } while (n /= 10);
  if (negative) digits[--at] = '-';
  core_key_value(key, form, digits + at, 24 - at, true);
}

/* Raises TypeError for keys of another type than a filter has. what is "an int" and so on. Returns false. */
static bool core_key_mistyped(const bloomery_form *form, const char *what) {
  static const char *const names[] = {
      "bytes",        "text",
      "int32: pass ints",   "uint32: pass ints", "int64: pass ints",        "uint64: pass ints",
      "date: pass datetime.date or days",  "decimal32: pass Decimal or int", "decimal64: pass Decimal or int",
      "decimal: pass Decimal or int", "of a fixed width: pass bytes"};
  PyErr_Format(PyExc_TypeError, "%s cannot be a key of this filter, whose keys are %s", what,
               names[form->type <= BLOOMERY_KEY_FIXED ? form->type : 0]);
  return false;
}

/* Takes the text of an object: its str, or with a format its format. */
static bool core_key_printed(core_key *key, const bloomery_form *form, PyObject *object, const char *format,
                             bool integer) {
  PyObject *spec = format ? PyUnicode_FromString(format) : NULL;
  PyObject *text = !format ? PyObject_Str(object) : spec ? PyObject_Format(object, spec) : NULL;
  Py_ssize_t n = 0;
  const char *p = text ? PyUnicode_AsUTF8AndSize(text, &n) : NULL;
  bool fits = p && n <= 1000;
  if (p && form->type == BLOOMERY_KEY_TEXT) {
    fits = n <= (Py_ssize_t)sizeof key->made.room;
    if (fits) {
      memcpy(key->made.room, p, (size_t)n);
      key->p = key->made.room;
      key->n = (size_t)n;
    }
  } else if (fits) {
    core_key_value(key, form, p, (size_t)n, integer);
  }
  if (p && !fits) {
    key->p = core_no_key;
    key->n = sizeof core_no_key;
  }
  Py_XDECREF(spec);
  Py_XDECREF(text);
  return p != NULL;
}

/* Takes an int: the eight bytes of -2^63 to 2^64-1, or what the type of the keys makes of it. Returns whether it is a
   key. */
static bool core_key_integer(core_key *key, PyObject *number, const bloomery_form *form) {
  int beyond;
  if (form && form->type == BLOOMERY_KEY_FIXED) return core_key_mistyped(form, "an int");
  if (form && form->type != BLOOMERY_KEY_BYTES) return core_key_printed(key, form, number, NULL, true);
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
  bloomery_integer(key->made.room, u);
  key->p = key->made.room;
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

/* Takes a datetime.date for BLOOMERY_KEY_DATE or a decimal.Decimal for decimals. Returns whether the object is one, or
   an exception was raised. */
static bool core_key_object(core_key *key, PyObject *object, const bloomery_form *form) {
  bool decimal = form->type >= BLOOMERY_KEY_DECIMAL32 && form->type <= BLOOMERY_KEY_DECIMAL;
  if (form->type == BLOOMERY_KEY_DATE && PyObject_HasAttrString(object, "isoformat") &&
      !PyObject_HasAttrString(object, "hour")) {
    return core_key_printed(key, form, object, NULL, false);
  }
  return decimal && PyObject_HasAttrString(object, "as_tuple") && core_key_printed(key, form, object, "f", false);
}

/* Takes the bytes of a key: by the type of the keys, if form is not NULL and has one; else text its UTF-8, bytes themselves, an integer its eight bytes. Returns false and raises
   TypeError, OverflowError or UnicodeEncodeError if the object is no key. If it returns true, release the key. */
static bool core_key_take(core_key *key, PyObject *object, const bloomery_form *form) {
  Py_ssize_t n;
  key->view.obj = NULL;
  if (core_typed(form) && PyUnicode_Check(object)) return core_key_mistyped(form, "a str");
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
  if (PyLong_CheckExact(object)) return core_key_integer(key, object, form);
  if (PyMemoryView_Check(object)) return core_key_view(key, object);
  if (PyByteArray_Check(object)) {
    if (PyObject_GetBuffer(object, &key->view, PyBUF_SIMPLE) < 0) return false;
    key->p = (const uint8_t *)key->view.buf;
    key->n = (size_t)key->view.len;
    return true;
  }
  if (!PyBool_Check(object) && PyIndex_Check(object)) {
    PyObject *number = PyNumber_Index(object);
    bool done = number && core_key_integer(key, number, form);
    Py_XDECREF(number);
    return done;
  }
  if (core_typed(form)) {
    if (core_key_object(key, object, form)) return true;
    if (PyErr_Occurred()) return false;
  }
  if (core_key_void(key, object)) return true; /* last, since it costs more than the other kinds */
  PyErr_Format(PyExc_TypeError, "a key is a str, bytes or an int, not %R", (PyObject *)Py_TYPE(object));
  return false;
}

static void core_key_release(core_key *key) {
  if (key->view.obj) PyBuffer_Release(&key->view);
}
