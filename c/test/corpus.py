"""Writes the corpus of Go's fuzz tests as files.

usage: corpus.py FOLDER OUT

Each file of FOLDER has a line []byte("..."), with the escapes of Go.
"""

import os
import re
import sys

ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92, '"': 34, "'": 39}
TOKEN = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})|\\([0-7]{3})|\\(.)|([^\\]+)")


def unquote(text):
    """Returns the bytes of the inside of a Go string literal."""
    out, at = bytearray(), 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise ValueError(f"not a Go string: {text[at : at + 20]!r}")
        byte, short, long, octal, letter, plain = match.groups()
        if byte:
            out.append(int(byte, 16))
        elif short or long:
            out += chr(int(short or long, 16)).encode()
        elif octal:
            out.append(int(octal, 8))
        elif letter:
            out.append(ESCAPES[letter])
        else:
            out += plain.encode()
        at = match.end()
    return bytes(out)


def main():
    folder, to = sys.argv[1:]
    os.makedirs(to, exist_ok=True)
    names = sorted(os.listdir(folder))
    if not names:
        sys.exit(f"{folder} has no seeds")
    for name in names:
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            match = re.search(r'^\[\]byte\("(.*)"\)$', f.read(), re.MULTILINE)
        if not match:
            sys.exit(f"{folder}/{name} has no []byte")
        with open(os.path.join(to, name + ".bloom"), "wb") as f:
            f.write(unquote(match.group(1)))


if __name__ == "__main__":
    main()
