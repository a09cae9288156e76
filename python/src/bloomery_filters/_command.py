"""The command of Bloomery: where it is, and how it runs."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import metadata
from typing import IO

from ._errors import CommandError, CommandNotFoundError, FormatError
from ._source import contents, open_file

BINARY = "bloomery-filters-bin"
"""The distribution of the command, which wheels.py makes."""

GO_MODULE = b"github.com/bloomery/bloomery"
"""The Go module of the command. The linker writes its name into the program."""


def find() -> str:
    """Returns the path of the command.

    It is, in this order, the program that BLOOMERY_COMMAND names, the program of the distribution bloomery-filters-bin,
    or the first `bloomery` in PATH that is Bloomery's. Raises CommandNotFoundError.
    """
    if named := os.environ.get("BLOOMERY_COMMAND"):
        if found := shutil.which(named):
            return found
        raise CommandNotFoundError(f"BLOOMERY_COMMAND is {named!r}, which is not a program")

    if found := _installed() or _in_path():
        return found

    raise CommandNotFoundError(
        "the command of Bloomery is not installed: in a checkout run `go build -o bloomery ./cmd/bloomery`, and set "
        "BLOOMERY_COMMAND to the path of the program"
    )


def _installed() -> str | None:
    """Returns the path of the program that the distribution of the command has installed, or None.

    It imports no module, because a module of this name may come from anybody, and returns only the file with the
    digest in the distribution's record.
    """
    try:
        installed = metadata.distribution(BINARY)
    except metadata.PackageNotFoundError:
        return None

    name = "bloomery" + (sysconfig.get_config_var("EXE") or "")
    for path, digest, _ in csv.reader((installed.read_text("RECORD") or "").splitlines()):
        program = str(installed.locate_file(path))
        if path.rpartition("/")[2] == name and os.path.isfile(program) and _digest(program) == digest:
            return program
    return None


def _digest(path: str) -> str:
    """Returns the SHA-256 of a file in the form of a distribution's record."""
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _in_path() -> str | None:
    """Returns the path of the first `bloomery` in PATH that was built from Bloomery's Go module, or None.

    Another project installs a command of this name: the distribution bloomery of PyPI.
    """
    for folder in os.get_exec_path():
        program = shutil.which("bloomery", path=folder)
        if program is not None and _is_bloomery(program):
            return program
    return None


def _is_bloomery(program: str) -> bool:
    try:
        with open_file(program) as file:
            return contents(file).find(GO_MODULE) >= 0
    except (OSError, FormatError):  # what cannot be read is not taken
        return False


@contextmanager
def secret_file(secret: bytes | None) -> Iterator[list[str]]:
    """Yields the command's arguments for a secret: a temporary file that only this user can read."""
    if secret is None:
        yield []
        return
    descriptor, path = tempfile.mkstemp(prefix="bloomery-")
    try:
        with open(descriptor, "w") as file:
            file.write(secret.hex() + "\n")
        yield ["--secret-file", path]
    finally:
        os.unlink(path)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a running command. The command gets 10 seconds to remove its temporary files."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _drain(stream: IO[bytes], into: bytearray) -> threading.Thread:
    """Starts a thread that reads a stream to its end, so that the command never waits for a reader."""
    thread = threading.Thread(target=lambda: into.extend(stream.read()), daemon=True)
    thread.start()
    return thread


def run(arguments: Sequence[str], feed: Iterable[bytes] | None = None) -> bytes:
    """Runs the command with --json, writes feed to its standard input, and returns its output.

    Warnings of the command become warnings of Python. If feed raises, or the caller is interrupted, the command is
    ended. Raises CommandNotFoundError, and CommandError if the command fails.
    """
    process = subprocess.Popen(
        [find(), arguments[0], "--json", "-q", *arguments[1:]],
        stdin=subprocess.DEVNULL if feed is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )

    out, errors = bytearray(), bytearray()
    assert process.stdout and process.stderr
    with process.stdout, process.stderr:
        drains = [_drain(process.stdout, out), _drain(process.stderr, errors)]
        try:
            if feed is not None:
                assert process.stdin
                _write(process.stdin, feed)
            process.wait()
        finally:
            end(process)
            if process.stdin:
                with suppress(BrokenPipeError):
                    process.stdin.close()
            for thread in drains:
                thread.join()

    lines = bytes(errors).decode(errors="replace").splitlines()
    if process.returncode != 0:
        raise failed(lines, process.returncode)
    for line in lines:
        if line.startswith("bloomery: note: --fpr "):  # it is for people who type the rate
            continue
        warnings.warn(line, RuntimeWarning, stacklevel=3)
    return bytes(out)


def _write(to: IO[bytes], feed: Iterable[bytes]) -> None:
    with suppress(BrokenPipeError):  # a command that ends early prints the reason
        for piece in feed:
            to.write(piece)
        to.close()


def failed(lines: Sequence[str], exit_code: int) -> CommandError:
    """Returns the exception for the lines that a command printed to standard error."""
    for line in lines:
        try:
            report = json.loads(line)
            return CommandError(str(report["error"]), report.get("hint"), exit_code)
        except (ValueError, KeyError, TypeError):
            continue
    return CommandError("\n".join(lines) or f"the command ended with exit code {exit_code}", None, exit_code)
