"""Builds wheels of bloomery-filters for other platforms, with the C compiler of the package ziglang.

    pip install -r requirements-release.txt
    python cross.py                              those for Linux and macOS, into dist
    python cross.py --cpython Python-3.13.5      those for Windows, too, with this source tree of CPython
    python cross.py musllinux_1_2_aarch64        one

The wheel of this machine is built first; the others are copies of it with another binary. That needs a CPython with the
GIL, of 64 bits, not on Windows: its headers are those of the stable ABI for Linux and macOS. cibuildwheel makes the
wheels for free-threaded CPython, see wheels.py.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

# Tags of wheels, and the targets of zig. macOS 11 is the first one with arm64.
TARGETS = {
    "manylinux_2_17_x86_64.manylinux2014_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64.manylinux2014_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
    "musllinux_1_2_aarch64": "aarch64-linux-musl",
    "macosx_11_0_x86_64": "x86_64-macos.11.0",
    "macosx_11_0_arm64": "aarch64-macos.11.0",
}


WINDOWS = {"win_amd64": "x86_64-windows-gnu", "win_arm64": "aarch64-windows-gnu"}


def zig(*arguments: object) -> None:
    """Runs zig."""
    subprocess.run([sys.executable, "-m", "ziglang", *map(str, arguments)], check=True)


def windows(target: str, cpython: Path, folder: Path) -> list[str]:
    """Makes pyconfig.h and the import library of python3.dll in folder. Returns the flags of the compiler."""
    named = [cpython / "PC" / name for name in ("pyconfig.h", "pyconfig.h.in")]
    (folder / "pyconfig.h").write_text(next(p for p in named if p.exists()).read_text())
    exported = re.findall(r"^EXPORT_(FUNC|DATA)\((\w+)\)", (cpython / "PC" / "python3dll.c").read_text(), re.MULTILINE)
    lines = [name + " DATA" * (kind == "DATA") for kind, name in exported]
    (folder / "python3.def").write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *lines, ""]))
    machine = "arm64" if target.startswith("aarch64") else "i386:x86-64"
    library = folder / "libpython3.a"
    zig("dlltool", "-m", machine, "-D", "python3.dll", "-d", folder / "python3.def", "-l", library)
    return [f"-I{folder}", f"-I{cpython / 'Include'}", str(library)]


def compiled(target: str, cpython: Path | None) -> bytes:
    """Returns the extension module for a target of zig."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "_core"
        flags = [
            "-shared",
            "-std=c11",
            "-O2",
            "-g0",
            "-s",
            "-DNDEBUG",
            "-DPy_LIMITED_API=0x030B0000",
            "-Wall",
            "-Werror",
        ]
        if "windows" in target:
            assert cpython
            flags += windows(target, cpython, Path(folder))
        else:
            flags += ["-fPIC", "-fvisibility=hidden"]
            flags += [f"-I{sysconfig.get_path(name)}" for name in ("include", "platinclude")]
        if "macos" in target:
            flags += ["-undefined", "dynamic_lookup"]  # the functions of Python are in the program
            flags += ["-Wl,-install_name,_core.abi3.so"]  # else it is the path of out
        zig("cc", "-target", target, HERE / "src" / "core" / "core.c", *flags, "-o", out)
        return out.read_bytes()


def retagged(native: Path, out: Path, tags: str, binary: bytes) -> Path:
    """Writes a copy of a wheel with other tags and another binary. Returns its path."""
    name, version, python, _, _ = native.stem.split("-")
    path = out / f"{name}-{version}-{python}-abi3-{tags}.whl"
    lines: list[str] = []
    with zipfile.ZipFile(native) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for member in old.infolist():
            data, record = old.read(member), member.filename.endswith(".dist-info/RECORD")
            if member.filename.endswith(".abi3.so"):
                data = binary
                if tags in WINDOWS:
                    member.filename = member.filename.replace(".abi3.so", ".pyd")
            elif member.filename.endswith(".dist-info/METADATA") and tags in WINDOWS:  # mingw-w64 is linked
                data = data.replace(b"\nLicense-Expression: ", b"\nLicense-Expression: ZPL-2.1 AND ", 1)
            elif member.filename.endswith(".dist-info/WHEEL"):
                kept = [line for line in data.decode().splitlines() if line and not line.startswith("Tag: ")]
                kept += [f"Tag: {python}-abi3-{tag}" for tag in tags.split(".")]
                data = "".join(f"{line}\n" for line in kept).encode()
            elif record:
                data = "".join([*lines, f"{member.filename},,\n"]).encode()  # it is the last member
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            lines.append(f"{member.filename},sha256={digest},{len(data)}\n")
            new.writestr(member, data)
    return path


def main() -> None:
    """Runs the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tags", nargs="*", metavar="TAGS", help="tags of wheels, as in their names (default: all)")
    parser.add_argument("--cpython", type=Path, metavar="DIR", help="source tree of CPython, 3.11 or newer")
    parser.add_argument("--out", type=Path, default=HERE / "dist", help="folder of the files (default: dist)")
    flags = parser.parse_args()
    targets = TARGETS | (WINDOWS if flags.cpython else {})
    if unknown := set(flags.tags) - targets.keys():
        parser.error(
            f"no platform {unknown.pop()}; there are {', '.join(targets)}, and with --cpython those of Windows"
        )
    if sysconfig.get_config_var("Py_GIL_DISABLED") or sys.platform == "win32" or sys.maxsize < 2**32:
        sys.exit("cross.py: run it with a CPython with the GIL, of 64 bits, on Linux or macOS")
    flags.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        build = [sys.executable, str(HERE / "wheels.py"), "native", "--out", folder]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
        (native,) = Path(folder).glob("*-abi3-*.whl")
        for tags in flags.tags or targets:
            path = retagged(native, flags.out, tags, compiled(targets[tags], flags.cpython))
            print(f"{path} ({path.stat().st_size / 1e3:.0f} kB)")


if __name__ == "__main__":
    main()
