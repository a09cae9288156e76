"""The manifest of a sharded set: manifest.json in its folder. docs/format.md, "Sharded sets", has the rules."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

from ._errors import ManifestError
from ._info import FAMILIES, HASHES, form_of

MAX_BYTES = (1 << 29) + (1 << 16)
"""The largest length of a manifest in bytes."""

MAX_SHARDS = 1 << 20

_TOP = ("format", "version", "plan", "spec", "hash", "seed", "key_check", "key_form", "routing", "fpr_planned", "count")
_NAMES = {*_TOP, "shards"}
_OPTIONAL = {"key_check", "key_form", "fpr_planned"}
_ENTRY = {"file", "keys", "bytes", "sha256", "fpr_prior", "fpr_posterior"}
_PARAMETER = r"([a-z][a-z0-9_]*)=[A-Za-z0-9_.+-]+"
_SPEC = re.compile(rf"([a-z][a-z0-9_]*)(?:\({_PARAMETER}(?:,{_PARAMETER})*\))?")


@dataclass(frozen=True)
class Entry:
    """A shard: its file, and what that must hold."""

    file: str
    keys: int
    bytes: int
    sha256: str
    fpr_prior: float
    fpr_posterior: float


@dataclass(frozen=True)
class Manifest:
    """A manifest that was checked. hash is the number of the hash function in files; key_check is 0 without one."""

    spec: str
    family: str
    hash: int
    seed: int
    key_check: int
    key_form: str
    fpr_planned: float | None
    shards: tuple[Entry, ...]


class _Bad(ValueError):
    """What is wrong with a manifest."""


def parse(data: bytes, path: str) -> Manifest:
    """Parses and checks a manifest. Raises ManifestError."""
    try:
        if len(data) > MAX_BYTES:
            raise _Bad("more than 512 MiB")
        return _checked(
            json.loads(
                data.decode(),
                parse_int=_integer,
                parse_float=_fraction,
                parse_constant=_constant,
                object_pairs_hook=_object,
            )
        )
    except (ValueError, RecursionError) as e:
        raise ManifestError(f"the manifest is wrong: {str(e)[:200]}", None, path) from None


def _integer(digits: str) -> int:
    if digits.startswith("-"):
        raise _Bad(f"the number {digits[:20]} has a sign")
    return int(digits)


def _fraction(digits: str) -> float:
    """Returns a number with a point or an exponent. All of them are rates, in the shortest form."""
    value = float(digits)
    if not 0 < value < 1 or digits != shortest(value):
        raise _Bad(f"the number {digits[:20]} is not in the shortest form of a rate")
    return value


def _object(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(fields)
    if len(values) != len(fields):
        raise _Bad("a field is there twice")
    return values


def _constant(name: str) -> float:
    raise _Bad(f"{name} is not JSON")


def _checked(m: Any) -> Manifest:
    if not isinstance(m, dict) or m.get("format") != "bloomery-shards":
        raise _Bad("it is not the manifest of a sharded set")
    for name in "version", "routing":
        if type(m.get(name)) is not int or m[name] != 1:
            raise _Bad(f"{name} {str(m.get(name))[:20]}: update bloomery-filters")
    if unknown := m.keys() - _NAMES:
        raise _Bad(f"unknown field {min(unknown)[:40]!r}")
    if missing := _NAMES - _OPTIONAL - m.keys():
        raise _Bad(f"no field {min(missing)}")
    spec, shards = _text(m, "spec"), m["shards"]
    hashes = {name: number for number, name in HASHES.items() if number != 5}
    if _text(m, "hash") not in hashes:
        raise _Bad(f"hash {m['hash'][:40]!r}")
    seed = _number(_text(m, "seed"), r"0|[1-9][0-9]{0,19}", 10)
    key_check = _number(_text(m, "key_check"), r"[1-9a-f][0-9a-f]{0,15}", 16) if "key_check" in m else 0
    key_form = _text(m, "key_form") if "key_form" in m else "bytes"
    if form_of(key_form) is None or m.get("key_form") == "bytes":
        raise _Bad("key_form")
    hash_number = hashes[m["hash"]]
    if (seed != 0 and hash_number != 1) or (key_check != 0) != (hash_number == 2):
        raise _Bad("seed or key_check do not belong to the hash")
    planned = m.get("fpr_planned")
    if "fpr_planned" in m and (not _is_rate(planned) or planned in (0, 1)):
        raise _Bad("fpr_planned")
    if type(m["count"]) is not int or not 1 <= m["count"] <= MAX_SHARDS:
        raise _Bad("count")
    if not isinstance(shards, list) or len(shards) != m["count"]:
        raise _Bad("the number of shards is not count")
    family = _family(spec)
    entries = tuple(_entry(e, i, len(shards)) for i, e in enumerate(shards))
    if m["plan"] != _plan(m):
        raise _Bad("plan does not follow from the other fields: it was edited")
    rate = None if planned is None else float(planned)
    return Manifest(spec, family, hash_number, seed, key_check, key_form, rate, entries)


def _text(m: dict[str, Any], name: str) -> str:
    if not isinstance(m[name], str):
        raise _Bad(f"{name} is not text")
    text: str = m[name]
    return text


def _number(text: str, form: str, base: int) -> int:
    value = int(text, base) if re.fullmatch(form, text, re.ASCII) else 1 << 64
    if value >> 64:
        raise _Bad("seed or key_check")
    return value


def _is_rate(v: Any) -> bool:
    return type(v) in (int, float) and 0 <= v <= 1


def _family(spec: str) -> str:
    """Returns the family of a spec in canonical form. Families that need the keys have no sharded sets."""
    match = _SPEC.fullmatch(spec) if len(spec) <= 512 else None
    names = re.findall(rf"[(,]{_PARAMETER}", spec)
    if not match or any(a >= b for a, b in pairwise(names)):
        raise _Bad(f"spec {spec[:80]!r}")
    family = match[1]
    if family not in FAMILIES.values() or family == "bitsandblooms":
        raise _Bad(f"family {family[:40]!r}")
    return family


def _entry(e: Any, i: int, count: int) -> Entry:
    if not isinstance(e, dict) or e.keys() != _ENTRY:
        raise _Bad(f"the fields of shard {i}")
    name = f"{i:05d}-of-{count:05d}"
    if not isinstance(e["file"], str) or not re.fullmatch(rf"{name}(\.[a-z0-9]{{1,32}})?\.bloom", e["file"], re.ASCII):
        raise _Bad(f"the name of shard {i}")
    sizes = all(type(e[name]) is int and least <= e[name] <= 1 << 56 for name, least in (("keys", 0), ("bytes", 1)))
    digest = isinstance(e["sha256"], str) and re.fullmatch(r"[0-9a-f]{64}", e["sha256"], re.ASCII)
    if not sizes or not digest or not _is_rate(e["fpr_prior"]) or not _is_rate(e["fpr_posterior"]):
        raise _Bad(f"a field of shard {i}")
    return Entry(**e)


def _plan(m: dict[str, Any]) -> str:
    """Returns the plan id: 32 digits that follow from the fields before the shards."""
    fields = []
    for name in _TOP:
        if name == "plan":
            fields.append('"plan":""')
        elif name == "fpr_planned" and name in m:
            fields.append(f'"{name}":{shortest(float(m[name]))}')
        elif name in m:
            fields.append(f'"{name}":{json.dumps(m[name], ensure_ascii=False)}')
    return hashlib.sha256(f"{{{','.join(fields)}}}".encode()).hexdigest()[:32]


def shortest(x: float) -> str:
    """Returns a rate above 0 and below 1 as JSON.stringify writes it: an exponent only below 1e-6, without zeros."""
    digits = Decimal(repr(x))
    if x >= 1e-6:
        return f"{digits:f}"
    mantissa, exponent = f"{digits:e}".split("e")
    return f"{mantissa}e{int(exponent)}"
