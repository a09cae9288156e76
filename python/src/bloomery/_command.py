"""The command bloomery: where it is, and how it runs."""

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

from ._errors import CommandError, CommandNotFoundError

BINARY = "bloomery-filters-bin"
"""The distribution of the command, which wheels.py makes."""


def find() -> str:
    """Returns the path of the command: that of BLOOMERY_COMMAND, of the package bloomery-filters-bin, or of PATH.

    Raises CommandNotFoundError.
    """
    if named := os.environ.get("BLOOMERY_COMMAND"):
        if found := shutil.which(named):
            return found
        raise CommandNotFoundError(f"BLOOMERY_COMMAND is {named!r}, which is no program")
    if found := _installed() or shutil.which("bloomery"):
        return found
    raise CommandNotFoundError(
        "the command bloomery is not installed: build it from a checkout (go build ./cmd/bloomery) and name it in "
        "BLOOMERY_COMMAND, or install the wheel that python/wheels.py makes of it"
    )


def _installed() -> str | None:
    """Returns the path of the program that the distribution of the command has installed, or None.

    It imports nothing, since a module of any name may be anybody's, and takes no file but the one in the record.
    """
    try:
        installed = metadata.distribution(BINARY)
    except metadata.PackageNotFoundError:
        return None
    name = "bloomery" + (sysconfig.get_config_var("EXE") or "")
    for path, digest, _ in csv.reader((installed.read_text("RECORD") or "").splitlines()):
        if path.rpartition("/")[2] != name:
            continue
        for place in (path, f"bin/{name}"):  # pip install --target moves it there, and leaves the record as it was
            program = str(installed.locate_file(place))
            if os.path.isfile(program) and _digest(program) == digest:
                return program
    return None


def _digest(path: str) -> str:
    """Returns the SHA-256 of a file, as a record of a distribution has it."""
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).decode().rstrip("=")


@contextmanager
def secret_file(secret: bytes | None) -> Iterator[list[str]]:
    """Yields the arguments for a secret. It is in a file that only this user can read, and that is removed."""
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
    """Ends a command that runs, so that it leaves nothing half-written."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _drain(stream: IO[bytes], into: bytearray) -> threading.Thread:
    thread = threading.Thread(target=lambda: into.extend(stream.read()), daemon=True)
    thread.start()
    return thread


def run(arguments: Sequence[str], feed: Iterable[bytes] | None = None) -> bytes:
    """Runs the command with --json, writes feed to its input, and returns its output.

    Warnings of the command become warnings of Python. If feed raises, or the caller is interrupted, the command is
    ended. Raises CommandError if it fails, and CommandNotFoundError.
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
        warnings.warn(line, RuntimeWarning, stacklevel=3)
    return bytes(out)


def _write(to: IO[bytes], feed: Iterable[bytes]) -> None:
    with suppress(BrokenPipeError):  # if the command has ended, it says why
        for piece in feed:
            to.write(piece)
        to.close()


def failed(lines: Sequence[str], exit_code: int) -> CommandError:
    """Returns the exception for what a command printed to standard error."""
    for line in lines:
        try:
            report = json.loads(line)
            return CommandError(str(report["error"]), report.get("hint"), exit_code)
        except (ValueError, KeyError, TypeError):
            continue
    return CommandError("\n".join(lines) or f"bloomery ended with exit code {exit_code}", None, exit_code)
