"""The vectors of docs/format.md: every answer to every key, one by one and in batches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import CONTAINER, EXACT, SECRET, SETS, key_bytes, key_of, secret_of, vectors
from crc import fix_checksums

import bloomery_filters as bl


def check_keys(f: bl.Filter, keys: list[dict[str, Any]]) -> None:
    all_keys = [key_of(v) for v in keys]
    wanted = [v["has"] for v in keys]
    assert f.contains(all_keys) == wanted
    assert f.contains([key_bytes(k) for k in all_keys]) == wanted
    info = f.info
    for v, key in zip(keys, all_keys, strict=True):
        assert (key in f) is v["has"], key
        assert (key_bytes(key) in f) is v["has"], key
        if "count" in v:
            assert f.count(key) == int(v["count"])
        if info.value_bits > 0:
            assert f.get(key) == (int(v["value"]) if "value" in v else None)


@pytest.mark.parametrize("path", sorted((CONTAINER / "vectors").glob("*.json")), ids=lambda p: p.stem)
def test_filter(path: Path) -> None:
    v = json.loads(path.read_text())
    with bl.open(path.parent / v["file"], secret_of(v)) as f:
        info = f.info
        assert (info.spec, info.hash, info.seed) == (v["spec"], v["hash"], int(v["seed"]))
        assert info.family == v["spec"].partition("(")[0]
        assert info.trimmed == ("trimmed=" in v["spec"])
        check_keys(f, v["keys"])


@pytest.mark.parametrize("path", sorted(SETS.glob("*.json")), ids=lambda p: p.stem)
def test_sharded(path: Path) -> None:
    v = json.loads(path.read_text())
    with bl.open(SETS / v["set"], secret_of(v)) as f:
        assert isinstance(f, bl.ShardedFilter)
        check_keys(f, v["keys"])
        f.check()
        info = f.info
        assert isinstance(info, bl.ShardedInfo)
        assert info.shards == info.loaded == v["shards"]
        for key in v["keys"]:
            assert f._shards().router.shard(key_of(key)) == key["shard"]


def test_exact() -> None:
    for path, v in vectors(EXACT):
        f = bl.open(EXACT / v["file"], secret_of(v))
        info = f.info
        assert isinstance(f, bl.ExactSet)
        assert isinstance(info, bl.ExactInfo)
        stated = info.universe, info.keys, info.partitions, info.updates
        assert stated == tuple(v[name] for name in ("universe", "members", "partitions", "updates")), path
        assert len(f) == v["members"]
        for key in v["keys"]:
            assert f.contains_in(key.get("partition", ""), key_of(key)) is key["has"], path
        plain = [key for key in v["keys"] if not key.get("partition")]
        assert f.contains([key_of(k) for k in plain]) == [k["has"] for k in plain]
        assert all((key_of(k) in f) is k["has"] for k in plain)


def edited(case: dict[str, Any]) -> bytes:
    """Returns the bytes of a case of refused.json."""
    data = bytearray((CONTAINER / case["file"]).read_bytes())
    if "length" in case:
        data = data[: case["length"]] + bytes(max(0, case["length"] - len(data)))
    for edit in case.get("edits", []):
        replacement = bytes.fromhex(edit["hex"])
        assert edit["offset"] + len(replacement) <= len(data)
        data[edit["offset"] : edit["offset"] + len(replacement)] = replacement
    if case.get("checksums"):
        fix_checksums(data)
    return bytes(data)


def test_refused() -> None:
    cases = json.loads((CONTAINER / "refused.json").read_text())
    assert len(cases) > 50
    for case in cases:
        secret = case.get("secret") or SECRET
        if not case["refused"]:
            bl.open(edited(case), secret).close()
            continue
        with pytest.raises((bl.FormatError, bl.SecretError)) as error:
            bl.open(edited(case), secret)
        if case.get("unknown"):
            assert isinstance(error.value, bl.FamilyError), case["name"]
        if case.get("newer"):
            assert isinstance(error.value, bl.VersionError), case["name"]
