"""What the tests share: the golden files and vectors of the repository, and packages that may be missing."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import struct
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import bloomery_filters as bl
from bloomery_filters import _command

REPOSITORY = Path(__file__).resolve().parents[2]
CONTAINER = REPOSITORY / "internal" / "container" / "testdata"
SETS = REPOSITORY / "shard" / "testdata" / "sets"
EXACT = REPOSITORY / "exact" / "testdata"

# The secret of files with a keyed hash in refused.json and of the golden files.
SECRET = bytes([1, 2, 3]) + bytes(13)

with contextlib.suppress(ImportError):
    import hypothesis

    # Emulated processors are slow: that is no fault of a test.
    slow = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
    hypothesis.settings.register_profile("slow", slow)
    hypothesis.settings.load_profile("slow")


def package(name: str) -> ModuleType:
    """Imports a package that some users have, or skips the test and says so."""
    try:
        return importlib.import_module(name)
    except ImportError:
        if os.environ.get("BLOOMERY_ALL_PACKAGES"):
            raise
        pytest.skip(f"NOT RUN: {name} is not installed", allow_module_level=True)


def key_of(vector: dict[str, Any]) -> str | bytes | int:
    """Returns the key of a vector, as a caller of this package would write it."""
    if "bytes" in vector:
        return bytes.fromhex(vector["bytes"])
    if "integer" in vector:
        return int(vector["integer"])
    text: str = vector["text"] if "text" in vector else vector["key"]
    return text


def key_bytes(key: str | bytes | int) -> bytes:
    """Returns the bytes of a key, by the words of docs/format/hashes.md."""
    if isinstance(key, str):
        return key.encode()
    return key if isinstance(key, bytes) else struct.pack("<Q", key % 2**64)


def vectors(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Returns the vectors of a folder and their paths."""
    found = [(path, json.loads(path.read_text())) for path in sorted(folder.glob("*.json"))]
    assert found, f"{folder} has no vectors"
    return found


def secret_of(vector: dict[str, Any]) -> str | None:
    """Returns the secret of a file of vectors."""
    return vector.get("secret") or None


@pytest.fixture(scope="session")
def golden() -> dict[str, bytes]:
    """The golden filters, by their names."""
    return {path.name: path.read_bytes() for path in sorted(CONTAINER.glob("*.bloom"))}


@pytest.fixture(scope="session")
def command() -> str:
    """The path of the command of Bloomery."""
    try:
        return _command.find()
    except bl.CommandNotFoundError:
        if "BLOOMERY_COMMAND" in os.environ:
            raise
        pytest.skip("NOT RUN: the command of Bloomery is not installed")
