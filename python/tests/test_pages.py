"""The Python examples of all pages, run as written, and the page for PyPI."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, package

import bloomery_filters as bl

pd, pl, _, _ = (package(name) for name in ("pandas", "polars", "pyarrow", "duckdb"))

PACKAGE = REPOSITORY / "python"

PAGES = {
    path.relative_to(REPOSITORY).as_posix(): path.read_text(encoding="utf-8")
    for path in [
        *REPOSITORY.glob("*.md"),
        *REPOSITORY.glob("docs/**/*.md"),
        *PACKAGE.glob("*.md"),
        *PACKAGE.glob("docs/*.md"),
        *PACKAGE.glob("bench/*.md"),
    ]
}


def examples(page: str) -> list[str]:
    return re.findall(r"^ *```(?:python|py)\n(.*?)^ *```$", PAGES[page], re.DOTALL | re.MULTILINE)


def readme_names() -> dict[str, object]:
    """Returns what the example of the repository's README expects: a filter file and frames of pandas and polars."""
    for name in "disposable.bloom", "list.bloom":
        bl.build(name, ["yopmail.com", "mailinator.com"])
    column = {"domain": ["yopmail.com", "gmail.com", None]}
    return {"frame": pd.DataFrame(column), "df": pl.DataFrame(column)}


def redis_names() -> dict[str, object]:
    """Returns a client as redis-py has it, for the example that dumps a filter."""

    class Client:
        def bf(self) -> Client:
            return self

        def scandump(self, key: str, at: int) -> tuple[int, bytes]:
            return [(1, b"header"), (7, b"bits"), (0, b"")][{0: 0, 1: 1, 7: 2}[at]]

    return {"r": Client()}


def check_readme(names: dict[str, object]) -> None:
    frame: Any = names["frame"]
    assert frame["listed"].tolist() == [True, False, False]
    df: Any = names["df"]
    assert df["listed"].to_list() == [True, False, None]


def check_redis(names: dict[str, object]) -> None:
    assert Path("seen.redis").read_bytes() == b"headerbits"


SETUPS: dict[str, tuple[Callable[[], dict[str, object]], Callable[[dict[str, object]], None]]] = {
    "README.md": (readme_names, check_readme),
    "interop.md": (redis_names, check_redis),
}


def setup_of(page: str) -> tuple[Callable[[], dict[str, object]], Callable[[dict[str, object]], None]]:
    name = page if page == "README.md" or page.startswith("python/") else page.rpartition("/")[2]
    return SETUPS.get(name, (dict, lambda names: None))


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)])
def test_examples(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    """Runs the examples of a page one after the other in a folder, and compares what their comments state.

    A comment behind an expression states its value as a literal, which may have a colon and words behind it.
    """
    monkeypatch.chdir(tmp_path)
    names, check = setup_of(page)
    for code in examples(page):
        scope = names()
        lines = code.splitlines()
        for statement in ast.parse(code).body:
            source = ast.unparse(statement)
            if not isinstance(statement, ast.Expr):
                exec(source, scope)
                continue
            got = eval(source, scope)
            assert statement.end_lineno
            _, stated, comment = lines[statement.end_lineno - 1].partition("  # ")
            if stated:
                assert got == ast.literal_eval(comment.partition(": ")[0]), source
        check(scope)


def test_all_pages_have_been_read() -> None:
    assert {page for page in PAGES if examples(page)} >= {"README.md", "python/README.md", "python/docs/reference.md"}
    assert sum(len(examples(page)) for page in PAGES) >= 5


def test_links_of_the_index_page() -> None:
    """PyPI shows README.md without the repository. TestLinks in internal/docs checks where links of all pages lead."""
    links = re.findall(r"\]\(([^)\s]+)\)", PAGES["python/README.md"])
    assert links
    for link in links:
        assert link.startswith("https://github.com/bloomery/bloomery"), f"{link} is dead on PyPI"
