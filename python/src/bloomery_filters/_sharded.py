"""Sharded sets: a folder of filters, each of the keys that routing gives it, loaded when they are first needed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import threading
from typing import IO, Any

from . import _core
from ._errors import CorruptError, FormatError, ManifestError, SecretError, ShardError, refused
from ._filter import Filter
from ._info import FAMILIES, HASHES, ShardedInfo, form_of, form_text
from ._manifest import MAX_BYTES, Entry, Manifest, parse
from ._source import contents, open_file
from ._types import Key

MANIFEST = "manifest.json"


def _most_open() -> int:
    """Returns how many files of a set are held open from the start: a quarter of what the system allows."""
    try:
        import resource

        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    except (ImportError, ValueError, OSError):
        return 256
    return 4096 if soft < 0 else max(1, min(4096, soft // 4))


class Shards:
    """A version of a sharded set. It is safe for concurrent use."""

    def __init__(self, folder: str, text: bytes, manifest: Manifest, secret: bytes | None, old: Shards | None) -> None:
        """Opens the files of a manifest. Takes shards that are loaded from an older version of the set."""
        m = self.manifest = manifest
        self.folder, self.text = folder, text
        router = _core.router(m.hash, m.seed, m.key_check, secret, len(m.shards), *(form_of(m.key_form) or ())[2:])
        if isinstance(router, tuple):
            raise refused(router, folder)
        self.router, self._secret = router, secret
        self._lock = threading.Lock()
        self._files: dict[int, IO[bytes]] = {}
        self._loaded: dict[int, _core.Opened] = {}
        kept = old._kept() if old and _same_filters(old.manifest, m) else {}
        most = _most_open()
        for i, entry in enumerate(m.shards):
            if entry in kept:
                self._keep(i, kept[entry])
                continue
            try:
                file = open_file(os.path.join(folder, entry.file))
                if (size := os.fstat(file.fileno()).st_size) != entry.bytes:
                    file.close()
                    raise CorruptError(f"{size} bytes; the manifest says {entry.bytes}", None, entry.file)
            except (OSError, FormatError) as e:
                for held in self._files.values():
                    held.close()
                raise ShardError(entry.file, str(e)) from e
            if len(self._files) < most:
                self._files[i] = file
            else:
                file.close()

    def _kept(self) -> dict[Entry, _core.Opened]:
        with self._lock:
            return {self.manifest.shards[i]: opened for i, opened in self._loaded.items()}

    def _keep(self, i: int, opened: _core.Opened) -> None:
        self._loaded[i] = opened
        self.router.put(i, opened)

    def loaded(self) -> int:
        """Returns the number of shards that are loaded."""
        return len(self._loaded)

    def __del__(self) -> None:
        # No query runs any more: one that began before reload or close has found its shards in the files held open.
        for file in self.__dict__.get("_files", {}).values():
            file.close()

    def shard(self, i: int) -> _core.Opened:
        """Returns a shard, and loads it if it is not loaded. Raises ShardError."""
        opened = self._loaded.get(i)
        if opened is not None:
            return opened
        with self._lock:
            if i not in self._loaded:
                entry = self.manifest.shards[i]
                try:
                    self._keep(i, self._load(i, entry))
                except (OSError, FormatError, SecretError, MemoryError) as e:
                    raise ShardError(entry.file, str(e)) from e
                if (file := self._files.pop(i, None)) is not None:
                    file.close()
            return self._loaded[i]

    def _load(self, i: int, entry: Entry) -> _core.Opened:
        held = self._files.get(i)
        with contextlib.ExitStack() as stack:
            file = held or stack.enter_context(open_file(os.path.join(self.folder, entry.file)))
            data = contents(file)
        if len(data) != entry.bytes:
            raise CorruptError(f"{len(data)} bytes; the manifest says {entry.bytes}")
        opened = _core.open(data, self._secret)
        if isinstance(opened, tuple):
            raise refused(opened, None)
        header, m = opened.info(), self.manifest
        own = tuple(header.get(name) for name in ("hash", "seed", "key_check", "keys", "bytes"))
        described = FAMILIES[header["family"]], form_text(*header["key_form"])
        if own != (m.hash, m.seed, m.key_check, entry.keys, entry.bytes) or described != (m.family, m.key_form):
            raise CorruptError("the file does not belong to this set")
        if hashlib.sha256(data).hexdigest() != entry.sha256:
            raise CorruptError("the file is not the one in the manifest")
        return opened

    def of(self, key: object) -> _core.Opened:
        """Returns the shard of a key."""
        return self.shard(self.router.shard(key))

    def ask(self, keys: _core.Keys, answers: Any) -> None:
        """Writes a byte, 0 or 1, for each key. Loads the shards that have one of the keys."""
        self.router.ask(keys, self.shard, answers)


class ShardedFilter(Filter):
    """An open sharded set. A query loads the shard of its key, compares it with the manifest and keeps it.

    If a shard cannot be loaded, queries for its keys raise ShardError, and the next one tries again. Up to 4,096 files,
    or fewer if the system allows fewer, are held open from the start, so that a set that is replaced meanwhile stays
    readable; after that, reload opens the new one.
    """

    def _shards(self) -> Shards:
        shards: Shards = self._get()
        return shards

    def count(self, key: Key) -> int:
        """Returns how often the key was added, or more. Raises TypeError if the filters do not count."""
        shard = self._shards().of(key)
        if not shard.info()["counts"]:
            raise TypeError(f"no counts in {self!r}")
        return shard.count(key)

    def get(self, key: Key) -> int | None:
        """Returns the value of the key, or None if it is absent. Raises TypeError if the filters have no values."""
        shard = self._shards().of(key)
        if shard.info()["value_bits"] == 0:
            raise TypeError(f"no values in {self!r}")
        return shard.get(key)

    @property
    def info(self) -> ShardedInfo:
        """What the manifest says. It does not say whether shards are trimmed."""
        shards = self._shards()
        m = shards.manifest
        values = re.search(r"[(,]value_bits=([0-9]{1,2})[,)]", m.spec)
        return ShardedInfo(
            family=m.family,
            spec=m.spec,
            keys=sum(e.keys for e in m.shards),
            bytes=sum(e.bytes for e in m.shards),
            hash=HASHES[m.hash],
            seed=m.seed,
            key_check=m.key_check or None,
            fpr_planned=m.fpr_planned,
            key_form=m.key_form,
            value_bits=int(values[1]) if values else 0,
            counts=m.family == "counting" or "counting=1" in m.spec,
            fpr_prior=sum(e.fpr_prior for e in m.shards) / len(m.shards),
            fpr_posterior=sum(e.fpr_posterior for e in m.shards) / len(m.shards),
            shards=len(m.shards),
            loaded=shards.loaded(),
        )

    def __len__(self) -> int:
        """The number of keys of all shards."""
        return min(sum(e.keys for e in self._shards().manifest.shards), (1 << 63) - 1)

    def __repr__(self) -> str:
        try:
            m = self._shards().manifest
        except ValueError:
            return "<bloomery_filters.ShardedFilter closed>"
        keys = sum(e.keys for e in m.shards)
        return f"<bloomery_filters.ShardedFilter {self._path!r} {m.spec} keys={keys} shards={len(m.shards)}>"

    def check(self) -> None:
        """Loads and checks all shards. Raises ShardError."""
        shards = self._shards()
        for i in range(len(shards.manifest.shards)):
            shards.shard(i)

    def reload(self) -> bool:
        """Opens the set again if its manifest has changed. Returns whether it has. Shards that are loaded and did not
        change stay. Queries that run at the same time end with the old set. After an error it stays in use."""
        with self._reloading:
            old = self._shards()
            new = _open(old.folder, self._secret, old)
            if new is old:
                return False
            return self._set(new, new.router, old) or self.reload()  # not set: a signal handler has loaded a newer set


def _same_filters(a: Manifest, b: Manifest) -> bool:
    """Whether a shard of one set may be one of the other, if its entry is the same."""
    return (a.hash, a.seed, a.key_check, a.family) == (b.hash, b.seed, b.key_check, b.family)


def _open(folder: str, secret: bytes | None, old: Shards | None) -> Shards:
    """Opens a set. Returns old if its manifest is the same."""
    path = os.path.join(folder, MANIFEST)
    with open_file(path) as file:
        if os.fstat(file.fileno()).st_size > MAX_BYTES:
            raise ManifestError("the manifest is larger than 512 MiB", None, path)
        text = bytes(contents(file))
    if old and text == old.text:
        return old
    return Shards(folder, text, parse(text, path), secret, old)


def open_folder(path: str, secret: bytes | None) -> ShardedFilter:
    """Opens the sharded set in a folder."""
    folder = os.path.abspath(path)
    shards = _open(folder, secret, None)
    f = ShardedFilter()
    f._path, f._secret = folder, secret
    f._set(shards, shards.router)
    return f
