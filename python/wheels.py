"""Builds the files for a package index.

    python wheels.py native                      bloomery-filters: sdist, and the wheel of this machine
    python wheels.py sdist                       the first of these
    python wheels.py command                     bloomery-filters-bin: the command, for all platforms (needs Go)
    python wheels.py command --platform native   the same for this one

One abi3 wheel of bloomery-filters per platform serves CPython 3.11 and later; each version of free-threaded CPython
needs a wheel of its own. cross.py makes the abi3 wheels for other platforms, but cannot run them. cibuildwheel, whose
settings are in pyproject.toml, makes and tests all wheels: run `pipx run cibuildwheel python --output-dir dist` on
Linux (for glibc and for musl) with x86-64 and with arm64, on macOS with both, and on Windows.

The command is a static binary of Go, cross-compiled here. Its wheel installs it in the folder of a module, not as a
script: the distribution bloomery of PyPI installs a script of the same name. `python -m bloomery_filters` runs it.

native needs build and setuptools, in the versions of requirements-release.txt. The same commit gives files with
the same bytes, in any folder, if the versions of these, of the compiler and of Go are the same.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

# GOOS/GOARCH and the tags of wheels. A static binary runs with glibc and musl. Go 1.26 needs macOS 12.
PLATFORMS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}

# Zip files have no times before this one. All members of all files have it, here in UTC and as seconds.
TIME = (1980, 1, 1, 0, 0, 0)
SECONDS = 315532800

URL = "https://github.com/bloomery/bloomery"
DESCRIPTION = f"""
# bloomery-filters-bin

The command of [Bloomery]({URL}) for the package bloomery-filters, which builds filters with it and runs it as
`python -m bloomery_filters`. The folder of the module has the program, and no script is installed.
"""

MODULE = '''"""The command of Bloomery: `python -m bloomery_filters` runs it, from the package bloomery-filters."""

__version__ = "{version}"
'''


def version() -> str:
    """Returns the version of both packages."""
    with open(HERE / "pyproject.toml", "rb") as file:
        text: str = tomllib.load(file)["project"]["version"]
    return text


def native() -> str:
    """Returns the platform of this machine."""
    machine = platform.machine().lower()
    arch = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}.get(machine, machine)
    return f"{sys.platform.replace('win32', 'windows')}/{arch}"


def compiled(target: str) -> bytes:
    """Returns the command, compiled for a platform."""
    system, arch = target.split("/")
    environment = {**os.environ, "CGO_ENABLED": "0", "GOOS": system, "GOARCH": arch}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "bloomery"
        command = [
            "go",
            "build",
            "-C",
            str(HERE.parent),
            "-trimpath",
            "-ldflags=-s -w",
            "-o",
            str(out),
            "./cmd/bloomery",
        ]
        subprocess.run(command, env=environment, check=True)
        return out.read_bytes()


def licenses(binary: bytes) -> bytes:
    """Returns the licenses of what a command has."""
    with tempfile.TemporaryDirectory() as folder:
        program, out = Path(folder) / "bloomery", Path(folder) / "LICENSES.txt"
        program.write_bytes(binary)
        test = ["go", "test", "-C", HERE.parent, "./internal/docs", "-count=1", "-run=^TestLicensesOf$"]
        flags = ["-licenses-of", program, "-licenses-to", out]
        subprocess.run([*test, *flags], check=True, stdout=sys.stderr)
        return out.read_bytes()


def rewritten(sdist: Path, out: Path) -> None:
    """Writes a copy of a source distribution whose members have no owner, and one time."""
    with (
        tarfile.open(sdist) as old,
        out.open("wb") as file,
        gzip.GzipFile("", "wb", 9, file, SECONDS) as packed,
        tarfile.open(fileobj=packed, mode="w") as new,
    ):
        for member in sorted(old.getmembers(), key=lambda m: m.name):
            member.mtime, member.mode = SECONDS, 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)


def distributions(out: Path, with_wheel: bool) -> None:
    """Writes the source distribution of bloomery-filters, and from its files the wheel of this machine."""
    out.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(SECONDS)}  # of the members of the wheel
    build = [sys.executable, "-m", "build", "-q", "--no-isolation"]
    umask = os.umask(0o022)  # setuptools copies the modes that files get here
    try:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([*build, "--sdist", "--outdir", folder, str(HERE)], check=True, env=environment)
            (sdist,) = Path(folder).glob("*.tar.gz")
            rewritten(sdist, out / sdist.name)
            if not with_wheel:
                return
            with tarfile.open(out / sdist.name) as archive:
                archive.extractall(folder, filter="data")
            sources = Path(folder) / sdist.name.removesuffix(".tar.gz")
            subprocess.run([*build, "--wheel", "--outdir", str(out), str(sources)], check=True, env=environment)
    finally:
        os.umask(umask)


def wheel(out: Path, target: str, binary: bytes, licenses: bytes) -> Path:
    """Writes a wheel of bloomery-filters-bin with this binary, and its licenses. Returns its path."""
    tags, number = PLATFORMS[target], version()
    stem = f"bloomery_filters_bin-{number}"
    info, program = f"{stem}.dist-info", "bloomery.exe" if target.startswith("windows/") else "bloomery"
    metadata = (
        f"Metadata-Version: 2.4\nName: bloomery-filters-bin\nVersion: {number}\n"
        "Summary: The command of Bloomery, for bloomery-filters: builds, checks and publishes compact filter files\n"
        "License-Expression: MIT AND Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause AND CC0-1.0\n"
        "License-File: LICENSE\nLicense-File: LICENSES.txt\nRequires-Python: >=3.11\n"
        "Author: The Bloomery authors\nKeywords: bloom filter,ribbon filter,binary fuse filter,command\n"
        f"Project-URL: Homepage, {URL}/tree/main/python#readme\nProject-URL: Source, {URL}\n"
        f"Project-URL: Issues, {URL}/issues\nProject-URL: Changelog, {URL}/blob/main/CHANGELOG.md\n"
        "Classifier: Intended Audience :: Developers\nClassifier: Programming Language :: Go\n"
        "Classifier: Programming Language :: Python :: 3 :: Only\nClassifier: Topic :: Utilities\n"
        f"Description-Content-Type: text/markdown\n{DESCRIPTION}"
    )
    tag_lines = "".join(f"Tag: py3-none-{tag}\n" for tag in tags.split("."))
    files: dict[str, bytes] = {
        "bloomery_filters_bin/__init__.py": MODULE.format(version=number).encode(),
        "bloomery_filters_bin/py.typed": b"",
        f"bloomery_filters_bin/{program}": binary,
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: wheels.py\nRoot-Is-Purelib: false\n{tag_lines}".encode(),
        f"{info}/licenses/LICENSE": (HERE.parent / "LICENSE").read_bytes(),
        f"{info}/licenses/LICENSES.txt": licenses,
    }
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    files[f"{info}/RECORD"] = ("".join(lines) + f"{info}/RECORD,,\n").encode()
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{stem}-py3-none-{tags}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            member = zipfile.ZipInfo(name, TIME)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3  # Unix, on all machines
            member.external_attr = (0o100755 if data is binary else 0o100644) << 16
            archive.writestr(member, data)
    return path


def main() -> None:
    """Runs the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["native", "sdist", "command"])
    parser.add_argument("--out", type=Path, default=HERE / "dist", help="folder of the files (default: dist)")
    parser.add_argument("--platform", action="append", choices=["native", *PLATFORMS], help="default: all")
    parser.add_argument("--binary", type=Path, help="program to pack, instead of compiling it")
    flags = parser.parse_args()
    if flags.what != "command":
        distributions(flags.out, flags.what == "native")
        return
    for target in flags.platform or PLATFORMS:
        target = native() if target == "native" else target
        if target not in PLATFORMS:
            sys.exit(f"wheels.py: no wheel for {target}; there are {', '.join(PLATFORMS)}")
        binary = flags.binary.read_bytes() if flags.binary else compiled(target)
        path = wheel(flags.out, target, binary, licenses(binary))
        print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
