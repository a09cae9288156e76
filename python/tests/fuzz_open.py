"""Fuzzes open and queries with atheris, which the tests do not need: bytes -> a file that is refused, or answers.

    pip install atheris pytest
    CC=clang LDSHARED="clang -shared" CFLAGS=-fsanitize=address,fuzzer-no-link pip install .
    export ASAN_OPTIONS=detect_leaks=0
    export LD_PRELOAD=$(python -c "import atheris; print(atheris.path())")/asan_with_fuzzer.so
    python tests/fuzz_open.py -max_total_time=300

Arguments go to libFuzzer. Branches of the C code guide it, and AddressSanitizer watches memory; both are missing if the
package is built as usual. The first byte of an input says whether the checksums of the file are made right before it is
opened. The program leaves inputs that fail in the working folder.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["bloomery_filters"]):
    import bloomery_filters as bl

from conftest import CONTAINER, EXACT, SECRET
from crc import fix_checksums

KEYS = ["", "1", "key-1", "x" * 300, b"\xff", -1, 2**63]


def test_one_input(data: bytes) -> None:
    """Opens a file. Batches and single keys have the same answers."""
    file = bytearray(data[1:])
    if data[:1] == b"\1" and len(file) > 100:
        fix_checksums(file)
    try:
        f = bl.open(bytes(file), SECRET)
    except (bl.FormatError, bl.SecretError):
        return
    assert f.contains(KEYS) == [key in f for key in KEYS]
    if f.info.counts:
        f.count("1")
    if f.info.value_bits:
        f.get("1")
    if isinstance(f, bl.ExactSet):
        f.contains_in("", "1")


def main() -> None:
    """Runs the fuzzer on the golden files of the repository."""
    files = sorted(CONTAINER.glob("*.bloom")) + sorted(EXACT.glob("**/*.exact"))
    assert files, "there are no golden files"
    with tempfile.TemporaryDirectory() as seeds:
        for i, path in enumerate(files):
            for first in b"\0", b"\1":
                (Path(seeds) / f"{i}-{first[0]}").write_bytes(first + path.read_bytes())
        atheris.Setup([*sys.argv, seeds], test_one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
