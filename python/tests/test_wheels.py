"""Wheels of bloomery-filters-bin, what pip installs from them, and the wheels that cross.py makes of this package."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from conftest import package

import bloomery_filters as bl


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
        path = wheels.wheel(tmp_path, target, binary, b"licenses")
        assert path.read_bytes() == wheels.wheel(tmp_path / "again", target, binary, b"licenses").read_bytes()
        name, version, _, parsed = tags.parse_wheel_filename(path.name)
        assert (name, str(version)) == ("bloomery-filters-bin", wheels.version())
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
            files = {m.filename: archive.read(m) for m in archive.infolist()}
            info = f"bloomery_filters_bin-{wheels.version()}.dist-info"
            stated = {line[5:] for line in files[f"{info}/WHEEL"].decode().splitlines() if line.startswith("Tag: ")}
            assert stated == {str(tag) for tag in parsed}
            check_record(archive, info)
            (program,) = [m for m in archive.infolist() if m.external_attr >> 16 == 0o100755]
            assert not [name for name in files if ".data/" in name], "the wheel installs a script"
            assert files[program.filename] == binary
            assert program.filename.endswith(".exe") == target.startswith("windows")


def test_copies(tmp_path: Path) -> None:
    cross, tags = script("cross"), package("packaging.utils")
    native, info = tmp_path / "bloomery_filters-1.2-cp311-abi3-linux_x86_64.whl", "bloomery_filters-1.2.dist-info"
    with zipfile.ZipFile(native, "w") as archive:
        archive.writestr("bloomery_filters/_core.abi3.so", b"native")
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
            name = "bloomery_filters/_core.pyd" if platform.startswith("win") else "bloomery_filters/_core.abi3.so"
            assert archive.read(name) == platform.encode()


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """The interpreter of an environment with this package alone."""
    if sys.platform == "win32":
        pytest.skip("NOT RUN: the binary of this test is a shell script")
    venv.create(tmp_path / "venv", symlinks=True)
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (site / "bloomery_filters").symlink_to(Path(bl.__file__).parent)
    return tmp_path / "venv" / "bin" / "python"


def test_installs(wheels: ModuleType, python: Path, tmp_path: Path) -> None:
    target = wheels.native()
    if target not in wheels.PLATFORMS:
        pytest.skip(f"NOT RUN: there is no wheel for {target}")
    path = wheels.wheel(tmp_path, target, b"#!/bin/sh\necho ran $1\n", b"licenses")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--target", tmp_path / "site", path], check=True)
    assert found(python, tmp_path / "site") == str(tmp_path / "site" / "bloomery_filters_bin" / "bloomery")
    subprocess.run([*pip, path], check=True)
    program = found(python)
    assert Path(program).parts[-2:] == ("bloomery_filters_bin", "bloomery")
    assert not (tmp_path / "venv" / "bin" / "bloomery").exists()
    assert subprocess.run([program, "x"], capture_output=True, text=True, check=True).stdout == "ran x\n"
    # A file that this distribution did not install is not run, wherever the record leads.
    Path(program).write_text("#!/bin/sh\necho another\n")
    assert found(python) == "CommandNotFoundError"


def found(python: Path, folder: str | Path = "") -> str:
    """Returns the path of the command that the package finds there and in a folder, or the exception."""
    code = (
        "from bloomery_filters import _command\n"
        "try:\n    print(_command.find())\n"
        "except Exception as e:\n    print(type(e).__name__)\n"
    )
    variables = {"PYTHONPATH": str(folder), "PATH": ""}
    ran = subprocess.run([python, "-c", code], capture_output=True, text=True, env=variables, cwd="/", check=True)
    return ran.stdout.strip()


@pytest.mark.parametrize("name", ["bloomery_bin", "bloomery_filters_bin"])
def test_runs_no_module(python: Path, tmp_path: Path, name: str) -> None:
    """Whoever registers a name on the index, or leaves a module on the path, runs nothing."""
    (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\ndef path():\n    return '/bin/true'\n")
    assert found(python, tmp_path) == "CommandNotFoundError"
    assert not (tmp_path / "ran").exists()


def test_names_of_the_index() -> None:
    """The package asks the index for nothing: nobody may hold there what is not published yet."""
    with open(Path(__file__).resolve().parents[1] / "pyproject.toml", "rb") as file:
        assert not tomllib.load(file)["project"].keys() & {"dependencies", "optional-dependencies", "dynamic"}
