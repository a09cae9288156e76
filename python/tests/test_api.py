"""Compares everything public with docs/api/python.txt: functions, classes, their members, parameters and types.

After an intended change: python tests/test_api.py --update-api
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import sys
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bloomery_filters as bl
from bloomery_filters import _core

REPOSITORY = Path(__file__).resolve().parents[2]
LISTING = REPOSITORY / "docs" / "api" / "python.txt"
STUBS = REPOSITORY / "python" / "src" / "bloomery_filters" / "_core.pyi"

# The methods of protocols that classes of the package define.
SPECIAL = {"__bool__", "__contains__", "__enter__", "__exit__", "__init__", "__len__"}


class Plain:
    """An annotation that signatures print as it is in the source."""

    def __init__(self, text: object) -> None:
        written = text if isinstance(text, str) else inspect.formatannotation(text)
        self.text = re.sub(r"\b_\w+\.", "", written)  # private modules

    def __repr__(self) -> str:
        return self.text


def signature(function: Callable[..., Any]) -> str:
    """Returns the signature of a function, in the same form in every version of Python."""
    given = inspect.signature(function)
    parameters = [
        p if p.annotation is p.empty else p.replace(annotation=Plain(p.annotation)) for p in given.parameters.values()
    ]
    returned = given.return_annotation
    if returned is not given.empty:
        returned = Plain(returned)
    return str(given.replace(parameters=parameters, return_annotation=returned))


def compiled(name: str) -> list[str]:
    """Returns the lines of the compiled base class of filters. Its signatures are in the stubs."""
    tree = ast.parse(STUBS.read_text())
    handle = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == _core.Handle.__name__)
    lines = []
    for node in handle.body:
        if not isinstance(node, ast.FunctionDef) or (node.name.startswith("_") and node.name not in SPECIAL):
            continue
        assert hasattr(_core.Handle, node.name)
        returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        if node.decorator_list:
            lines.append(f"{name}.{node.name}{returned}")
        else:
            lines.append(f"{name}.{node.name}({ast.unparse(node.args)}){returned}")
    return lines


def members(name: str, kind: type) -> list[str]:
    """Returns the lines of a class, and of its own public members."""
    bases = ", ".join(base.__name__ for base in kind.__bases__ if base is not object)
    lines = [f"class {name}({bases})" if bases else f"class {name}"]
    if _core.Handle in kind.__bases__:
        lines += compiled(name)
    plain = dataclasses.is_dataclass(kind)
    if plain:
        lines.append(f"{name}{signature(kind)}")
    for member, value in vars(kind).items():
        if (member.startswith("_") and member not in SPECIAL) or (plain and member == "__init__"):
            continue
        if isinstance(value, property):
            assert value.fget is not None
            lines.append(f"{name}.{member}{signature(value.fget).removeprefix('(self)')}")
        elif callable(value):
            lines += [f"{name}.{member}{signature(form)}" for form in typing.get_overloads(value) or [value]]
        elif not plain:
            lines.append(f"{name}.{member} = {value!r}")
    return lines


def listing() -> list[str]:
    """Returns the sorted lines of everything public."""
    lines = []
    for name in bl.__all__:
        value = getattr(bl, name)
        lines += members(name, value) if isinstance(value, type) else [f"{name}{signature(value)}"]
    return sorted(lines)


def changes() -> list[str]:
    """Returns what the package lacks of the listing, and what it adds."""
    listed, lines = LISTING.read_text().splitlines(), listing()
    return [f"gone or changed: {line}" for line in listed if line not in lines] + [
        f"new: {line}" for line in lines if line not in listed
    ]


def test_listing() -> None:
    assert not changes(), (
        "docs/api/python.txt differs. From 1.0.0 on, what is listed is frozen (docs: stability). "
        "If the change is intended, run\n  python tests/test_api.py --update-api"
    )


def test_breaks(monkeypatch: Any) -> None:
    def reload(self: bl.Filter, *, force: bool = False) -> bool:
        raise NotImplementedError

    monkeypatch.setattr(bl.Filter, "reload", reload)
    monkeypatch.setattr(bl, "__all__", [name for name in bl.__all__ if name != "follow"])
    found = changes()
    assert "gone or changed: Filter.reload(self) -> bool" in found
    assert "new: Filter.reload(self: bl.Filter, *, force: bool = False) -> bool" in found
    assert any(line.startswith("gone or changed: follow(") for line in found)


if __name__ == "__main__" and "--update-api" in sys.argv:
    LISTING.write_text("\n".join(listing()) + "\n")
