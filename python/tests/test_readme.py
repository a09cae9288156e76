"""The example of the README, run as it stands there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from conftest import package

for name in "duckdb", "pandas", "pyarrow":
    package(name)


def test_example(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    results = []
    for statement in ast.parse(code).body:
        source = ast.unparse(statement)
        if isinstance(statement, ast.Expr):
            results.append(eval(source, names))
        else:
            exec(source, names)
    _, held, rows, joined = results
    assert held is True
    assert "ads.example" in rows["host"].tolist()
    assert joined.fetchall() == [("ads.example", 2)]
