"""This package beside PyPI's bloomery, another project, whose wheel installs a module and a script of that name.

check.sh runs this file as a step of its own: pytest tests/beside.py. It needs PyPI and Python 3.12 to 3.14.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_wheels import script

PACKAGE = Path(__file__).resolve().parents[1]
OURS, THEIRS = "bloomery-filters", "bloomery"

BUILD = """
import sys, bloomery_filters as bl
assert bl.build(sys.argv[1], ["a", "b"]).contains(["a", "b"]) == [True, True]
"""


class Environment:
    """A virtual environment, first in PATH, in which both projects can be installed and checked."""

    def __init__(self, folder: Path, base: str, wheels: list[Path]) -> None:
        subprocess.run([base, "-m", "venv", folder], check=True)
        self.folder, self.wheels = folder, wheels
        self.programs = folder / ("Scripts" if sys.platform == "win32" else "bin")

    def run(self, *command: object) -> str:
        variables = {name: value for name, value in os.environ.items() if name != "BLOOMERY_COMMAND"}
        variables["PATH"] = os.pathsep.join([str(self.programs), os.environ["PATH"]])
        argv = [str(self.programs / str(command[0])), *map(str, command[1:])]
        return subprocess.run(argv, capture_output=True, text=True, check=True, env=variables, cwd=self.folder).stdout

    def install(self, project: str, *options: str) -> None:
        wanted = self.wheels if project == OURS else ["bloomery==0.7.0"]
        self.run("python", "-m", "pip", "install", "-q", "--no-compile", *options, *wanted)

    def uninstall(self, project: str) -> None:
        names = [OURS, "bloomery-filters-bin"] if project == OURS else [project]
        self.run("python", "-m", "pip", "uninstall", "-q", "-y", *names)

    def check(self, project: str) -> None:
        """Checks that the module and the command of a project work."""
        if project == OURS:
            self.run("python", "-c", BUILD, self.folder / "f.bloom")
            assert "file format" in self.run("python", "-m", "bloomery_filters", "version")
        else:
            assert self.run("python", "-c", "import bloomery; print(bloomery.__version__)") == "0.7.0\n"
            assert self.run("bloomery", "--version") == "bloomery 0.7.0\n"


def newer_python() -> str:
    """Returns an interpreter that PyPI's bloomery accepts, of PATH or pyenv. Skips if there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [shutil.which(f"python3.{minor}") for minor in (12, 13, 14)]
    for python in [sys.executable, *found, *sorted(pyenv.glob("versions/3.1[234].*/bin/python"))]:
        code = "import sys, venv, ensurepip; sys.exit(not (3, 12) <= sys.version_info < (3, 15))"
        if python and subprocess.run([python, "-c", code], capture_output=True).returncode == 0:
            return str(python)
    pytest.skip("NOT RUN: PyPI's bloomery needs Python 3.12 to 3.14")


@pytest.fixture(scope="module")
def environment(command: str, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("beside")
    base = newer_python()
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps"]
    subprocess.run([*pip, "--wheel-dir", folder, PACKAGE], check=True)
    wheels = script("wheels")
    wheels.wheel(folder, wheels.native(), Path(command).read_bytes(), b"licenses")
    environment = Environment(folder / "venv", base, sorted(folder.glob("*.whl")))
    try:
        environment.install(THEIRS)  # its dependencies stay installed
    except subprocess.CalledProcessError as e:
        pytest.skip(f"NOT RUN: PyPI's bloomery cannot be installed: {e.stderr}")
    environment.uninstall(THEIRS)
    return environment


@pytest.mark.parametrize("removed", [OURS, THEIRS])
@pytest.mark.parametrize("first", [OURS, THEIRS])
def test_beside(environment: Environment, first: str, removed: str) -> None:
    second, kept = (THEIRS if name == OURS else OURS for name in (first, removed))
    for project in first, second:
        environment.install(project, "--no-deps")
    for project in first, second:
        environment.check(project)

    environment.uninstall(removed)
    environment.check(kept)
    environment.uninstall(kept)
