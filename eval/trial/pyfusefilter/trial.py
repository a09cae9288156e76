"""pyfusefilter: binary fuse filters of FastFilter's library for C. The form is the width of a slot, 8 or 16 bits."""

import importlib.metadata

from pyfusefilter import Fuse8, Fuse16

from peer import read_keys, serve, write_answers

FILTERS = {"8": Fuse8, "16": Fuse16}


def strings(path):
    """Return the keys of a file."""
    return [k.decode() for k in read_keys(path)]


class PyFuseFilter:
    version = "pyfusefilter " + importlib.metadata.version("pyfusefilter")

    def load(self, form, path):
        with open(path, "rb") as f:
            return FILTERS[form].deserialize(f.read())

    def save(self, form, filter_, out):
        data = bytes(filter_.serialize())
        # With 16 bits the library states 4 bytes more than it writes. The number of slots is before them.
        size = 28 + int(form) // 8 * int.from_bytes(data[24:28], "little")
        with open(out, "wb") as f:
            f.write(data[:size])

    def build(self, kind, form, keys, rate, path, out):
        self.save(form, FILTERS[form](strings(path)), out)
        return ""

    def ask(self, kind, form, path, keys, out):
        filter_ = self.load(form, path)
        write_answers(out, (key in filter_ for key in strings(keys)))

    def again(self, kind, form, path, out):
        self.save(form, self.load(form, path), out)


serve(PyFuseFilter())
