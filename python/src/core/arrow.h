/* The C data interface of Apache Arrow: structs, and capsules with the answers. The layout of the structs is fixed by
   https://arrow.apache.org/docs/format/CDataInterface.html. */

struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

static void arrow_schema_free(PyObject *capsule) {
  struct ArrowSchema *schema = (struct ArrowSchema *)PyCapsule_GetPointer(capsule, "arrow_schema");
  if (schema->release) schema->release(schema);
  free(schema);
}

static void arrow_array_free(PyObject *capsule) {
  struct ArrowArray *array = (struct ArrowArray *)PyCapsule_GetPointer(capsule, "arrow_array");
  if (array->release) array->release(array);
  free(array);
}

/* Our schema has constant parts only. */
static void arrow_schema_release(struct ArrowSchema *schema) { schema->release = NULL; }

/* The buffers of our arrays lie in one block. */
static void arrow_array_release(struct ArrowArray *array) {
  free(array->private_data);
  array->release = NULL;
}

/* Returns capsules of a schema and an array that are not filled, as a tuple, or NULL with an exception. */
static PyObject *arrow_capsules(struct ArrowSchema **schema, struct ArrowArray **array) {
  PyObject *first, *second, *both;
  *schema = (struct ArrowSchema *)calloc(1, sizeof **schema);
  *array = (struct ArrowArray *)calloc(1, sizeof **array);
  if (!*schema || !*array) {
    free(*schema);
    free(*array);
    return PyErr_NoMemory();
  }
  first = PyCapsule_New(*schema, "arrow_schema", arrow_schema_free);
  if (!first) free(*schema);
  second = PyCapsule_New(*array, "arrow_array", arrow_array_free);
  if (!second) free(*array);
  both = first && second ? PyTuple_Pack(2, first, second) : NULL;
  Py_XDECREF(first);
  Py_XDECREF(second);
  return both;
}

/* Makes a boolean array of n answers of a byte each. valid has a byte each, 0 for null; NULL: there are none. Returns a
   tuple of capsules. */
static PyObject *arrow_booleans(const uint8_t *answers, const uint8_t *valid, size_t n) {
  size_t bytes = (n + 7) / 8, words = (bytes + 63) / 64 * 64; /* Arrow recommends multiples of 64 bytes */
  struct ArrowSchema *schema;
  struct ArrowArray *array;
  PyObject *both = arrow_capsules(&schema, &array);
  uint8_t *block, *bits, *nulls;
  if (!both) return NULL;
  block = (uint8_t *)calloc(1, 2 * sizeof(void *) + 64 + 2 * words);
  if (!block) {
    Py_DECREF(both);
    return PyErr_NoMemory();
  }
  nulls = block + 2 * sizeof(void *);
  nulls += (64 - (uintptr_t)nulls % 64) % 64;
  bits = nulls + words;
  schema->format = "b";
  schema->name = "";
  schema->flags = 2; /* nullable */
  schema->release = arrow_schema_release;
  array->length = (int64_t)n;
  array->n_buffers = 2;
  array->buffers = (const void **)(void *)block;
  array->private_data = block;
  array->release = arrow_array_release;
  for (size_t i = 0; i < n; i++) {
    bool exists = !valid || valid[i];
    bits[i / 8] |= (uint8_t)((answers[i] & exists) << i % 8);
    nulls[i / 8] |= (uint8_t)(exists << i % 8);
    array->null_count += !exists;
  }
  array->buffers[0] = array->null_count > 0 ? nulls : NULL;
  array->buffers[1] = bits;
  return both;
}

/* chunks(stream) -> list of (schema, array): reads a stream to its end. stream is a capsule, which it uses up. */
static PyObject *core_chunks(PyObject *module, PyObject *capsule) {
  struct ArrowArrayStream *stream = (struct ArrowArrayStream *)PyCapsule_GetPointer(capsule, "arrow_array_stream");
  PyObject *list;
  (void)module;
  if (!stream) return NULL;
  if (!stream->release) {
    PyErr_SetString(PyExc_ValueError, "arrow: the stream was read already");
    return NULL;
  }
  list = PyList_New(0);
  while (list) {
    struct ArrowSchema *schema;
    struct ArrowArray *array;
    PyObject *both = arrow_capsules(&schema, &array);
    int failed = both ? stream->get_schema(stream, schema) : 0;
    if (both && failed == 0) failed = stream->get_next(stream, array);
    if (failed != 0) {
      const char *why = stream->get_last_error(stream);
      PyErr_Format(PyExc_OSError, "arrow: %s", why ? why : "the stream cannot be read");
    }
    if (!both || failed != 0 || (array->release && PyList_Append(list, both) < 0)) {
      Py_CLEAR(list);
    } else if (!array->release) {
      Py_DECREF(both);
      break;
    }
    Py_XDECREF(both);
  }
  stream->release(stream);
  return list;
}
