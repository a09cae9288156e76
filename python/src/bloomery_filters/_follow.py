"""follow: keeps a filter current with a published folder, with the command of Bloomery."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from ._command import end, failed, find, secret_file
from ._errors import CommandError
from ._filter import Filter
from ._open import open
from ._source import secret_bytes

Event = dict[str, Any]
"""A line that the command prints with `follow --json`. Its "event" is "updated", "unchanged", "failed" or "expired"."""


class Follower:
    """A file that a running command keeps current, and the filter in it. follow starts it; close ends it.

    It is safe for concurrent use.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        path: str,
        secret: bytes | None,
        on_event: Callable[[Event], object] | None,
    ) -> None:
        self._process, self._path, self._secret, self._on_event = process, path, secret, on_event
        self._filter: Filter | None = None
        self._event: Event | None = None
        self._polls = 0
        self._ended: CommandError | None = None
        self._changed = threading.Condition()
        self._errors: list[str] = []
        self._threads = [threading.Thread(target=t, daemon=True) for t in (self._read_errors, self._read)]
        for thread in self._threads:  # in this order: the second one joins the first
            thread.start()

    @property
    def filter(self) -> Filter:
        """The filter of the newest release: one object, which each update reloads.

        Raises CommandError if no release was loaded so far.
        """
        with self._changed:
            if self._filter is None:
                raise self._ended or CommandError(str((self._event or {}).get("error", "no release is loaded yet")))
            return self._filter

    @property
    def event(self) -> Event | None:
        """The last event, or None before the first one."""
        return self._event

    def wait(self, timeout: float | None = None) -> bool:
        """Waits at most timeout seconds for the next poll to end. Returns whether one ended. Raises CommandError if the
        command has ended."""
        with self._changed:
            seen = self._polls
            self._changed.wait_for(lambda: self._polls > seen or self._ended is not None, timeout)
            if self._polls == seen and self._ended:
                raise self._ended
            return self._polls > seen

    def close(self) -> None:
        """Ends the command. The filter stays open."""
        end(self._process)
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _first(self) -> None:
        """Waits until the first poll or the command has ended."""
        with self._changed:
            self._changed.wait_for(lambda: self._polls > 0 or self._ended is not None)

    def _read(self) -> None:
        assert self._process.stdout
        try:
            with self._process.stdout as lines:
                for line in lines:
                    self._take(line)
        except BaseException:  # on_event raised it
            end(self._process)
            raise
        finally:
            self._process.wait()
            self._threads[0].join()
            with self._changed:
                self._ended = failed(self._errors, self._process.returncode)
                self._changed.notify_all()

    def _read_errors(self) -> None:
        assert self._process.stderr
        with self._process.stderr as lines:
            for line in lines:
                self._errors.append(line.decode(errors="replace").rstrip("\n"))
                del self._errors[:-100]

    def _take(self, line: bytes) -> None:
        try:
            event: Event = json.loads(line)
            kind = event["event"]
        except (ValueError, KeyError, TypeError):
            return
        with self._changed:
            try:
                if kind in ("updated", "unchanged"):
                    self._load()
            except (ValueError, OSError) as e:  # a release that this version cannot open: the old filter stays
                event = {**event, "event": "failed", "error": str(e)}
            self._event = event
            self._polls += kind != "expired"
            self._changed.notify_all()
        if self._on_event is not None:
            self._on_event(event)

    def _load(self) -> None:
        if self._filter is None:
            self._filter = open(self._path, self._secret)
        else:
            self._filter.reload()


def follow(
    url: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    key: str | Sequence[str] | None = None,
    insecure: bool = False,
    interval: str | None = None,
    name: str | None = None,
    secret: bytes | str | None = None,
    options: Sequence[str] = (),
    on_event: Callable[[Event], object] | None = None,
) -> Follower:
    """Starts a command that keeps the file or folder path current with the folder published at url, and opens path.

    The command checks signatures and release numbers, and replaces path as a whole; each update reloads the filter. The
    state of the command is beside path: use the same path after a restart.

    - key: the public key of the publisher, "ed25519:..." or a file that contains it, or a list of keys
    - insecure: accept releases unchecked, without key
    - interval: the longest time between two polls, such as "30s"
    - name: refuse releases with another name
    - secret: the secret of a keyed hash, 16 bytes or 32 hexadecimal digits
    - options: further flags of the command; `python -m bloomery_filters follow --help` lists them
    - on_event: called with each Event in a thread of its own; if it raises, the command is ended

    Returns after the first poll. Raises CommandNotFoundError without the command, and CommandError if the first poll
    fails and path does not exist yet.
    """
    target, secret_key = os.path.abspath(path), secret_bytes(secret)
    arguments = ["follow", os.fspath(url), f"--output={target}", "--json"]
    for one in [key] if isinstance(key, str) else key or ():
        arguments.append(f"--key={one}")
    if insecure:
        arguments.append("--insecure")
    if interval is not None:
        arguments.append(f"--interval={interval}")
    if name is not None:
        arguments.append(f"--name={name}")

    with secret_file(secret_key) as secret_arguments:
        process = subprocess.Popen(
            [find(), *arguments, *options, *secret_arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        follower = Follower(process, target, secret_key, on_event)
        try:
            follower._first()
            if follower._filter is None:
                if follower._ended is None and os.path.exists(target):
                    with follower._changed:
                        follower._load()
                else:
                    follower.filter  # noqa: B018 (raises)
        except BaseException:
            follower.close()
            raise
    return follower
