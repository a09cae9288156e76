"""Wheels: those of bloomery-bin, what pip makes of them, and the copies that cross.py makes of one of this package."""

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


def script(name: str) -> ModuleType:
    path = Path(__file__).resolve().parents[1] / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def wheels() -> ModuleType:
    return script("wheels")


def check_record(archive: zipfile.ZipFile, info: str) -> None:
    """Checks that RECORD has each file, with its hash and its length."""
    record = {line.rsplit(",", 2)[0]: line for line in archive.read(f"{info}/RECORD").decode().splitlines()}
    assert sorted(record) == sorted(archive.namelist())
    for name in archive.namelist():
        data = archive.read(name)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        stated = "," if name.endswith("/RECORD") else f"sha256={digest},{len(data)}"
        assert record[name] == f"{name},{stated}"


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
            check_record(archive, info)
            (program,) = [m for m in archive.infolist() if ".data/scripts/" in m.filename]
            assert program.external_attr >> 16 == 0o100755
            assert files[program.filename] == binary
            assert program.filename.endswith(".exe") == target.startswith("windows")


def test_copies(tmp_path: Path) -> None:
    cross, tags = script("cross"), package("packaging.utils")
    native, info = tmp_path / "bloomery_filters-1.2-cp311-abi3-linux_x86_64.whl", "bloomery_filters-1.2.dist-info"
    with zipfile.ZipFile(native, "w") as archive:
        archive.writestr("bloomery/_core.abi3.so", b"native")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp311-abi3-linux_x86_64\n\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    for platform in [*cross.TARGETS, *cross.WINDOWS]:
        path = cross.retagged(native, tmp_path, platform, platform.encode())
        parsed = tags.parse_wheel_filename(path.name)[3]
        with zipfile.ZipFile(path) as archive:
            check_record(archive, info)
            lines = archive.read(f"{info}/WHEEL").decode().splitlines()
            assert {line[5:] for line in lines if line.startswith("Tag: ")} == {str(tag) for tag in parsed}
            assert "Root-Is-Purelib: false" in lines
            name = "bloomery/_core.pyd" if platform.startswith("win") else "bloomery/_core.abi3.so"
            assert archive.read(name) == platform.encode()


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
