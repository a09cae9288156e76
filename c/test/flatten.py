"""Turns the test vectors (JSON) into lines that vectors.c reads.

usage: flatten.py REPOSITORY SCRATCH > vectors.txt

Lines of fields, separated by tabs:

    file     PATH SECRET                               the next keys are those of this filter
    key      KEY HI LO HAS COUNT VALUE                 bytes of the key, hash, answers; "-": not stated
    exact    PATH SECRET COUNTS                        the next members are of this exact set; universe/members/...
    member   PARTITION KEY HI LO HAS                   names and bytes of keys; "-" is none
    refused  PATH SECRET REFUSED                       0: a reader must open the file, 1: it must refuse it, 2: since
                                                       it does not know the family, 3: since the file is newer
    route    HI LO COUNT SHARD                         the shard of a hash in a set of COUNT shards
    hash     NAME SEED KEY HI LO                       hash of a key; SEED of siphash-128 is the secret
    murmur3  KEY WORDS                                 the four words of murmur3-x64-128-twice
    form     TYPE SCALE WIDTH HOW VALUE KEY            key of a value: HOW is "text" or "integer"; "-" is none
    value    TEXT INTEGER                              a value of the column of the filter, and whether it is an integer
"""

import json
import os
import struct
import sys

# The secret of files with a keyed hash in refused.json.
SECRET = "010203" + 13 * "00"

POLYNOMIAL = 0x82F63B78
TABLE = []
for number in range(256):
    for _ in range(8):
        number = number >> 1 ^ (POLYNOMIAL if number & 1 else 0)
    TABLE.append(number)


def crc32c(data):
    """Returns the CRC-32C of data."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def fix_checksums(data):
    """Computes the checksums of a file again: those of all sections that lie in it, then that of the header."""
    sections = data[14]
    (spec,) = struct.unpack_from("<I", data, 56)
    for i in range(sections):
        at = 64 + 24 * i
        if at + 24 > len(data):
            return
        offset, length = struct.unpack_from("<QQ", data, at)
        if offset + length <= len(data):
            struct.pack_into("<I", data, at + 16, crc32c(data[offset : offset + length]))
    end = 64 + 24 * sections + spec
    if end <= len(data):
        struct.pack_into("<I", data, 60, crc32c(data[:60] + data[64:end]))


def key_bytes(key):
    """Returns the bytes of a key of a vector."""
    if "key" in key:
        return key["key"].encode()
    if "text" in key:
        return key["text"].encode()
    if "bytes" in key:
        return bytes.fromhex(key["bytes"])
    return struct.pack("<Q", int(key["integer"]) % 2**64)


def edited(case, folder):
    """Returns the bytes of a case of refused.json."""
    with open(os.path.join(folder, case["file"]), "rb") as f:
        data = bytearray(f.read())
    if "length" in case:
        data = data[: case["length"]] + bytes(max(0, case["length"] - len(data)))
    for edit in case.get("edits", []):
        replacement = bytes.fromhex(edit["hex"])
        at = edit["offset"]
        if at + len(replacement) > len(data):
            raise ValueError(f"{case['name']}: an edit behind the end of the file")
        data[at : at + len(replacement)] = replacement
    if case.get("checksums"):
        fix_checksums(data)
    return bytes(data)


def vector_files(repository):
    """Yields the path of each file of vectors."""
    folder = os.path.join(repository, "internal", "container", "testdata", "vectors")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            yield os.path.join(folder, name)


def refused(repository):
    """Yields name, bytes, secret and the expected result of each case of refused.json."""
    path = os.path.join(repository, "internal", "container", "testdata", "refused.json")
    with open(path, encoding="utf-8") as f:
        cases = json.load(f)
    for case in cases:
        expected = int(case["refused"]) + int(case.get("unknown", False)) + 2 * int(case.get("newer", False))
        yield case["name"], edited(case, os.path.dirname(path)), case.get("secret"), expected


def routing(repository):
    """Returns the vectors of routing."""
    with open(os.path.join(repository, "shard", "testdata", "routing.json"), encoding="utf-8") as f:
        return json.load(f)


def hashes(repository):
    """Yields the fields of the lines of hashes."""
    for vector in routing(repository)["keys"]:
        seed = vector.get("secret") or vector["seed"]
        yield "hash", vector["hash"], seed, key_bytes(vector).hex() or "-", vector["hi"], vector["lo"]
    with open(os.path.join(repository, "filter", "testdata", "hashes.json"), encoding="utf-8") as f:
        vectors = json.load(f)
    keys = [bytes((i * i + 7 * i + n) % 251 for i in range(n)).hex() or "-" for n in vectors["lengths"]]
    for hasher, sums in vectors["hashes"].items():
        name, _, seed = hasher.partition("(")
        seed = vectors["secret"] if name == "siphash-128" else seed[len("seed=") : -1] or "0"
        for key, sum128 in zip(keys, sums, strict=True):
            yield "hash", name, seed, key, sum128[:16], sum128[16:]
    for key, words in zip(keys, vectors["quarters"], strict=True):
        yield "murmur3", key, words


def set_shards(repository):
    """Yields each shard of the golden sets: path, secret, vectors, number of shards, its own number."""
    folder = os.path.join(repository, "shard", "testdata", "sets")
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".json"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            vectors = json.load(f)
        path = os.path.join(folder, vectors["set"])
        with open(os.path.join(path, "manifest.json"), encoding="utf-8") as f:
            shards = json.load(f)["shards"]
        for number, shard in enumerate(shards):
            keys = [key for key in vectors["keys"] if key["shard"] == number]
            yield os.path.join(path, shard["file"]), vectors.get("secret"), keys, len(shards), number


def print_keys(path, secret, keys):
    """Prints the lines of a filter and its keys."""
    print("file", path, secret or "-", sep="\t")
    for key in keys:
        answers = [str(int(key["has"])), key.get("count", "-"), key.get("value", "-")]
        print("key", key_bytes(key).hex() or "-", key["hi"], key["lo"], *answers, sep="\t")


def exact_sets(repository):
    """Yields path and vectors of each golden exact set."""
    folder = os.path.join(repository, "exact", "testdata")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                vectors = json.load(f)
            yield os.path.join(folder, vectors["file"]), vectors


def print_members(path, vectors):
    """Prints the lines of an exact set and its keys."""
    counts = [vectors[name] for name in ("universe", "members", "partitions", "updates")]
    print("exact", path, vectors.get("secret", "-"), "/".join(map(str, counts)), sep="\t")
    for key in vectors["keys"]:
        partition = key.get("partition", "").encode().hex() or "-"
        print("member", partition, key_bytes(key).hex() or "-", key["hi"], key["lo"], int(key["has"]), sep="\t")


# The types of keys, by their numbers in files.
TYPES = "bytes text int32 uint32 int64 uint64 date decimal32 decimal64 decimal fixed".split()


def key_forms(repository):
    """Yields the values of keyforms.json as lines. An integer of C has 64 bits, and its type says whether it has a sign."""
    with open(os.path.join(repository, "filter/testdata/keyforms.json"), encoding="utf-8") as f:
        vectors = json.load(f)
    for v in vectors:
        name, *parameters = v["form"].split(",")
        given = dict(p.split("=") for p in parameters)
        form = ["form", TYPES.index(name), given.get("scale", 0), given.get("width", 0)]
        key = "-" if v["key"] is None else v["key"]
        integer = v.get("integer", False)
        if not integer or name not in ("bytes", "date", "fixed"):
            yield [*form, "text", v["text"].encode().hex() or "-", key]
        unsigned = name in ("text", "uint32", "uint64")
        number = int(v["text"]) if integer else 0
        if integer and (number >= 0 if unsigned else number < 1 << 63):
            yield [*form, "integer", number % (1 << 64), key]


def print_columns(repository):
    """Prints the values of columns of Parquet files. Type fixed has none in text form."""
    folder = os.path.join(repository, "interop/testdata")
    with open(os.path.join(folder, "types.tsv"), encoding="utf-8") as f:
        values = [line.rstrip("\n").split("\t") for line in f]
    for name in sorted(os.listdir(os.path.join(folder, "types"))):
        column = name.removesuffix(".bloom").rsplit("-", 1)[1]
        if column != "double":
            print("file", os.path.join(folder, "types", name), "-", sep="\t")
            for of, text in values:
                if of == column:
                    print("value", text.encode().hex(), int(column[0] in "iu"), sep="\t")


def main():
    repository, scratch = sys.argv[1:]
    os.makedirs(scratch, exist_ok=True)
    for path in vector_files(repository):
        with open(path, encoding="utf-8") as f:
            vectors = json.load(f)
        path = os.path.join(os.path.dirname(path), vectors["file"])
        print_keys(path, vectors.get("secret"), vectors["keys"])
    for path, secret, keys, count, number in set_shards(repository):
        print_keys(path, secret, keys)
        for key in keys:
            print("route", key["hi"], key["lo"], count, number, sep="\t")
    for path, vectors in exact_sets(repository):
        print_members(path, vectors)
    for number, (_, data, secret, expected) in enumerate(refused(repository)):
        path = os.path.join(scratch, f"refused-{number}.bloom")
        with open(path, "wb") as f:
            f.write(data)
        print("refused", path, secret or SECRET, expected, sep="\t")
    for vector in routing(repository)["hashes"] + routing(repository)["keys"]:
        for count, shard in vector["shards"].items():
            print("route", vector["hi"], vector["lo"], count, shard, sep="\t")
    print_columns(repository)
    for line in key_forms(repository):
        print(*line, sep="\t")
    for line in hashes(repository):
        print(*line, sep="\t")


if __name__ == "__main__":
    main()
