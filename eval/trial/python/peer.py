"""The protocol of the program trial, in Go, which describes the calls."""

import platform
import struct
import sys
import traceback


def read_keys(path):
    """Return the keys of a file, as bytes. A key has its length in 4 bytes before it, little endian."""
    with open(path, "rb") as f:
        data = f.read()
    at, keys = 0, []
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        at += 4 + length
        keys.append(data[at - length : at])
    return keys


def write_answers(path, answers):
    """Write an iterable of bools as bits, the lowest of a byte first."""
    answers = list(answers)
    out = bytearray((len(answers) + 7) // 8)
    for i, yes in enumerate(answers):
        if yes:
            out[i // 8] |= 1 << i % 8
    with open(path, "wb") as f:
        f.write(out)


def serve(peer):
    """Answer the lines of standard input until it ends.

    A peer has the attribute version and the methods build(kind, form, keys, rate, path, out), which returns where the
    filters lie or "", ask(kind, form, path, keys, out) and again(kind, form, path, out).
    """

    def call(words):
        match words:
            case ["hello"]:
                return f"{peer.version}, Python {platform.python_version()}"
            case ["build", kind, form, keys, rate, path, out]:
                return peer.build(kind, form, int(keys), float(rate), path, out)
            case ["ask", kind, form, path, keys, out]:
                peer.ask(kind, form, path, keys, out)
                return ""
            case ["again", kind, form, path, out]:
                peer.again(kind, form, path, out)
                return ""
        raise ValueError(words)

    for line in sys.stdin:
        try:
            reply = "ok " + call(line.rstrip("\n").split("\t"))
        except Exception as e:
            traceback.print_exc()
            reply = "error " + str(e).replace("\n", " ")
        print(reply, flush=True)
