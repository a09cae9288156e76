/* bloomery_filters._core: bloomery.h for Python, on the stable ABI of CPython 3.11 where there is one.

   A query has these parts, each with a file:

     key.h      a Python object -> the bytes of a key
     keys.h     many keys: a list, a NumPy buffer or (column.h) an Arrow array
     block.h    many keys -> blocks of keys as bloomery.h takes them
     hex.h      many keys -> text that the command reads
     opened.h   a filter or an exact set in memory, which answers one key or Keys
     route.h    the keys of a batch grouped by their shard
     router.h   a sharded set, which answers keys from the shards that it is given
     handle.h   the base of bloomery_filters.Filter

   The Python side (src/bloomery_filters) checks arguments, maps files and chooses the type of answers. Functions here
   check all that memory depends on: sizes of buffers, formats and offsets. They release the GIL while they open files
   and while they answer keys that are not Python objects. Objects are immutable once made, except Handle and Router,
   which locks protect in free-threaded Python. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#if !defined(Py_LIMITED_API) && !defined(Py_GIL_DISABLED)
#error "define Py_LIMITED_API, as setup.py does: only free-threaded Python has no stable ABI"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery.h"

#include "state.h"
#include "key.h"
#include "arrow.h"
#include "keys.h"
#include "block.h"
#include "hex.h"
#include "column.h"
#include "opened.h"
#include "route.h"
#include "router.h"
#include "handle.h"

/* bools(answers) -> list of bool: one for each byte. */
static PyObject *core_bools(PyObject *module, PyObject *answers) {
  Py_buffer view;
  PyObject *list;
  (void)module;
  if (PyObject_GetBuffer(answers, &view, PyBUF_SIMPLE) < 0) return NULL;
  list = PyList_New(view.len);
  for (Py_ssize_t i = 0; list && i < view.len; i++) {
    PyList_SetItem(list, i, PyBool_FromLong(((const uint8_t *)view.buf)[i]));
  }
  PyBuffer_Release(&view);
  return list;
}

static PyMethodDef functions[] = {
    {"open", (PyCFunction)core_open, METH_VARARGS, "open(data, secret) -> Opened, or (result, message, offset)"},
    {"router", (PyCFunction)core_router, METH_VARARGS,
     "router(hash, seed, key_check, secret, count, type, scale, width) -> Router, or a result"},
    {"keys_of_list", (PyCFunction)core_keys_of_list, METH_VARARGS, "keys_of_list(iterable, before=0) -> Keys"},
    {"keys_of_buffer", (PyCFunction)core_keys_of_buffer, METH_VARARGS, "keys_of_buffer(data, kind, width) -> Keys"},
    {"keys_of_arrow", (PyCFunction)core_keys_of_arrow, METH_VARARGS, "keys_of_arrow(schema, array) -> Keys"},
    {"chunks", (PyCFunction)core_chunks, METH_O, "chunks(stream) -> list of (schema, array)"},
    {"bools", (PyCFunction)core_bools, METH_O, "bools(answers) -> list of bool"},
    {NULL, NULL, 0, NULL},
};

static int core_exec(PyObject *module) {
  core_state *s = (core_state *)PyModule_GetState(module);
  s->opened = (PyTypeObject *)PyType_FromModuleAndSpec(module, &opened_spec, NULL);
  s->keys = (PyTypeObject *)PyType_FromModuleAndSpec(module, &keys_spec, NULL);
  s->router = (PyTypeObject *)PyType_FromModuleAndSpec(module, &router_spec, NULL);
  s->handle = (PyTypeObject *)PyType_FromModuleAndSpec(module, &handle_spec, NULL);
  if (!s->opened || !s->keys || !s->router || !s->handle) return -1;
  return PyModule_AddType(module, s->handle);
}

static int core_traverse(PyObject *module, visitproc visit, void *arg) {
  core_state *s = (core_state *)PyModule_GetState(module);
  Py_VISIT(s->opened);
  Py_VISIT(s->keys);
  Py_VISIT(s->router);
  Py_VISIT(s->handle);
  return 0;
}

static int core_clear(PyObject *module) {
  core_state *s = (core_state *)PyModule_GetState(module);
  Py_CLEAR(s->opened);
  Py_CLEAR(s->keys);
  Py_CLEAR(s->router);
  Py_CLEAR(s->handle);
  return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)core_exec},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "bloomery_filters._core", "Queries of filter files, from bloomery.h.",
    sizeof(core_state),    functions,        slots,
    core_traverse,         core_clear,       NULL,
};

PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&definition); }
