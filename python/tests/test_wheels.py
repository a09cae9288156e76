"""The wheels of bloomery-bin: names, contents, and what pip makes of them."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from conftest import package


@pytest.fixture(scope="session")
def wheels() -> ModuleType:
    path = Path(__file__).resolve().parents[1] / "wheels.py"
    spec = importlib.util.spec_from_file_location("wheels", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_contents(wheels: ModuleType, tmp_path: Path) -> None:
    tags = package("packaging.utils")
    for target in wheels.PLATFORMS:
        binary = target.encode() * 1000
        path = wheels.wheel(tmp_path, target, binary)
        assert path.read_bytes() == wheels.wheel(tmp_path / "again", target, binary).read_bytes()
        name, version, _, parsed = tags.parse_wheel_filename(path.name)
        assert (name, str(version)) == ("bloomery-bin", wheels.version())
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
            files = {m.filename: archive.read(m) for m in archive.infolist()}
            info = f"bloomery_bin-{wheels.version()}.dist-info"
            stated = {line[5:] for line in files[f"{info}/WHEEL"].decode().splitlines() if line.startswith("Tag: ")}
            assert stated == {str(tag) for tag in parsed}
            record = {line.rsplit(",", 2)[0]: line for line in files[f"{info}/RECORD"].decode().splitlines()}
            assert record.keys() == files.keys()
            (script,) = [m for m in archive.infolist() if ".data/scripts/" in m.filename]
            assert script.external_attr >> 16 == 0o100755
            assert files[script.filename] == binary
            assert script.filename.endswith(".exe") == target.startswith("windows")
            digest = base64.urlsafe_b64encode(hashlib.sha256(binary).digest()).decode().rstrip("=")
            assert record[script.filename].endswith(f",sha256={digest},{len(binary)}")


@pytest.mark.skipif(sys.platform == "win32", reason="NOT RUN: the binary of this test is a shell script")
def test_installs(wheels: ModuleType, tmp_path: Path) -> None:
    target = wheels.native()
    if target not in wheels.PLATFORMS:
        pytest.skip(f"NOT RUN: there is no wheel for {target}")
    path = wheels.wheel(tmp_path, target, b"#!/bin/sh\necho ran $1\n")
    into = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", into, path]
    subprocess.run(pip, check=True)
    code = f"import sys; sys.path.insert(0, {str(into)!r}); import bloomery_bin; print(bloomery_bin.path())"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert subprocess.run([found, "x"], capture_output=True, text=True, check=True).stdout == "ran x\n"
