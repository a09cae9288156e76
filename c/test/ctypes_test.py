"""Asks the golden filters from Python, by ctypes and a shared library of bloomery.h.

usage: ctypes_test.py REPOSITORY LIBRARY
"""

import ctypes
import itertools
import json
import os
import sys

import flatten


class Header(ctypes.Structure):
    """bloomery_header"""

    _fields_ = [
        ("spec", ctypes.POINTER(ctypes.c_char)),
        ("spec_length", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("keys", ctypes.c_uint64),
        ("seed", ctypes.c_uint64),
        ("key_check", ctypes.c_uint64),
        ("allowed", ctypes.c_uint64),
        ("exceptions", ctypes.c_uint64),
        ("fpr_planned", ctypes.c_double),
        ("family", ctypes.c_uint32),
        ("hash", ctypes.c_uint32),
        ("value_bits", ctypes.c_uint32),
        ("counts", ctypes.c_bool),
        ("trimmed", ctypes.c_bool),
        ("form", ctypes.c_uint8 * 5),
    ]


def load(path):
    """Returns the library with the types of its functions."""
    library = ctypes.CDLL(path)
    key = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    for name, result, arguments in [
        ("size", ctypes.c_size_t, []),
        ("open", ctypes.c_int, [*key, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]),
        ("memory", ctypes.c_size_t, key[1:]),
        ("message", ctypes.c_char_p, [ctypes.c_int]),
        ("info", ctypes.POINTER(Header), key[:1]),
        ("has", ctypes.c_bool, key),
        ("count", ctypes.c_uint64, key),
        ("get", ctypes.c_bool, [*key, ctypes.POINTER(ctypes.c_uint64)]),
        ("has_integer", ctypes.c_bool, [ctypes.c_char_p, ctypes.c_uint64]),
        ("shard", ctypes.c_uint64, [*key, ctypes.c_uint64]),
        ("has_many", None, [*key, ctypes.c_size_t, ctypes.c_char_p]),
        ("has_many_integers", None, [key[0], ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]),
        ("has_many_offsets32", ctypes.c_int, [*key, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]),
        ("has_many_offsets64", ctypes.c_int, [*key, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]),
    ]:
        function = getattr(library, "shared_" + name)
        function.restype, function.argtypes = result, arguments
    return library


class Filter:
    """A filter in memory."""

    def __init__(self, library, data, secret=None):
        self.shared, self.data = library, data
        need = library.shared_memory(data, len(data))
        self.memory = ctypes.create_string_buffer(need or 1)
        self.filter = ctypes.create_string_buffer(library.shared_size())
        result = library.shared_open(self.filter, data, len(data), secret, self.memory, need)
        if result:
            raise ValueError(library.shared_message(result).decode())

    def info(self):
        """Returns the header."""
        return self.shared.shared_info(self.filter).contents

    def has(self, key):
        """Returns whether the key may be in the set."""
        return self.shared.shared_has(self.filter, key, len(key))

    def has_integer(self, number):
        """Returns has of an integer."""
        return self.shared.shared_has_integer(self.filter, number)

    def count(self, key):
        """Returns how often the key was added."""
        return self.shared.shared_count(self.filter, key, len(key))

    def get(self, key):
        """Returns the value of the key, or None."""
        value = ctypes.c_uint64()
        found = self.shared.shared_get(self.filter, key, len(key), ctypes.byref(value))
        return value.value if found else None

    def has_many(self, keys, bits):
        """Returns has of each key, through offsets of that many bits."""
        integer = ctypes.c_int32 if bits == 32 else ctypes.c_int64
        offsets = (integer * (len(keys) + 1))(0, *itertools.accumulate(map(len, keys)))
        out = ctypes.create_string_buffer(len(keys))
        data = b"".join(keys)
        function = getattr(self.shared, f"shared_has_many_offsets{bits}")
        if function(self.filter, data, len(data), offsets, len(keys), out):
            raise ValueError("offsets")
        if function(self.filter, data, len(data) - 1, offsets, len(keys), out) == 0 and data:
            raise ValueError("an offset behind the bytes is taken")
        return [byte == 1 for byte in out.raw]

    def has_many_integers(self, numbers):
        """Returns has_integer of each number."""
        out = ctypes.create_string_buffer(len(numbers))
        self.shared.shared_has_many_integers(
            self.filter, (ctypes.c_uint64 * len(numbers))(*numbers), len(numbers), out
        )
        wide = b"".join(number.to_bytes(8, "little") for number in numbers)
        same = ctypes.create_string_buffer(len(numbers))
        self.shared.shared_has_many(self.filter, wide, 8, len(numbers), same)
        equal(same.raw, out.raw, "integers and keys of 8 bytes")
        return [byte == 1 for byte in out.raw]

    def shard(self, key, shards):
        """Returns the shard of the key."""
        return self.shared.shared_shard(self.filter, key, len(key), shards)


def equal(got, want, what):
    """Ends the test unless got is want."""
    if got != want:
        sys.exit(f"ctypes: {what}: got {got!r}, want {want!r}")


def check_keys(opened, keys, path):
    """Compares the answers of a filter with its vectors."""
    for vector in keys:
        key = flatten.key_bytes(vector)
        what = f"{path}, key {key!r}"
        equal(opened.has(key), vector["has"], what)
        if "integer" in vector:
            equal(opened.has_integer(int(vector["integer"]) % 2**64), vector["has"], what)
        if "count" in vector:
            equal(opened.count(key), int(vector["count"]), what)
        valued = "value" in vector and opened.info().value_bits > 0
        equal(opened.get(key), int(vector["value"]) if valued else None, what)
    wanted = [vector["has"] for vector in keys]
    for bits in (32, 64):
        equal(opened.has_many([flatten.key_bytes(vector) for vector in keys], bits), wanted, path)
    integers = [vector for vector in keys if "integer" in vector]
    numbers = [int(vector["integer"]) % 2**64 for vector in integers]
    equal(opened.has_many_integers(numbers), [vector["has"] for vector in integers], path)


def read(path):
    """Returns the bytes of a file."""
    with open(path, "rb") as f:
        return f.read()


def main():
    repository, path = sys.argv[1:]
    library = load(path)
    filters = keys = 0
    for path in flatten.vector_files(repository):
        with open(path, encoding="utf-8") as f:
            vectors = json.load(f)
        secret = bytes.fromhex(vectors["secret"]) if vectors.get("secret") else None
        opened = Filter(library, read(os.path.join(os.path.dirname(path), vectors["file"])), secret)
        info = opened.info()
        equal(ctypes.string_at(info.spec, info.spec_length).decode(), vectors["spec"], path)
        equal(info.seed, int(vectors["seed"]), path)
        equal(info.trimmed, "trimmed=" in vectors["spec"], path)
        flags = [word in vectors.get("form", "") for word in ("trim", "lower")]
        equal(list(info.form[3:]), flags, path)
        check_keys(opened, vectors["keys"], path)
        filters, keys = filters + 1, keys + len(vectors["keys"])
    for path, secret, vectors, count, number in flatten.set_shards(repository):
        opened = Filter(library, read(path), bytes.fromhex(secret) if secret else None)
        check_keys(opened, vectors, path)
        for vector in vectors:
            equal(opened.shard(flatten.key_bytes(vector), count), number, path)
        filters, keys = filters + 1, keys + len(vectors)
    for name, data, secret, refused in flatten.refused(repository):
        try:
            Filter(library, data, bytes.fromhex(secret or flatten.SECRET))
        except ValueError:
            equal(True, refused > 0, name)
        else:
            equal(0, refused, name)
    if filters < 100 or keys < 2000:
        sys.exit("ctypes: too few vectors")
    print(f"ctypes: {filters} filters, {keys} keys: all answers agree")


if __name__ == "__main__":
    main()
