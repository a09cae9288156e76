"""build, follow and python -m bloomery_filters. The tests need the command of Bloomery."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import CONTAINER, key_bytes, package

import bloomery_filters as bl
from bloomery_filters import _command

R = random.Random(1)
KEYS: list[str | bytes | int] = [
    "",
    "a",
    "é\n\r\n",
    b"\x00",
    b"\n",
    0x0A0D,
    -1,
    2**64 - 2,
    *range(0, 5000, 7),
    *(R.randbytes(R.randrange(20)) for _ in range(2000)),
]


def by_hand(command: str, path: Path, keys: list[Any], *arguments: str) -> bytes:
    """Returns the file that the command makes of keys."""
    text = "".join(key_bytes(k).hex() + "\n" for k in keys)
    argv = [command, "build", "-q", "-o", path, "--input-format=hex", "--keep-empty", *arguments]
    subprocess.run(argv, input=text.encode(), check=True)
    return path.read_bytes()


@pytest.mark.parametrize("spec", ["standard", "blocked", "fuse", "ribbon", "rankindexed", "bitsandblooms", "guava"])
def test_same_bytes_as_the_command(command: str, tmp_path: Path, spec: str) -> None:
    f = bl.build(tmp_path / "f.bloom", KEYS, spec=spec, fpr=0.001)
    assert all(f.contains(KEYS))
    want = by_hand(command, tmp_path / "want", KEYS, "--fpr=0.001", f"--spec={spec}")
    assert (tmp_path / "f.bloom").read_bytes() == want
    bl.build(tmp_path / "short.bloom", KEYS, family=spec, fpr="0.1%")
    assert (tmp_path / "short.bloom").read_bytes() == want
    bl.build(tmp_path / "short.bloom", KEYS, family=spec, options="--fpr=0.1%")
    assert (tmp_path / "short.bloom").read_bytes() == want
    again = bl.build(tmp_path / "f.bloom", iter(KEYS), spec=spec, fpr=0.001)
    assert again.contains(KEYS) == f.contains(KEYS)


def test_keys_of_arrays(command: str, tmp_path: Path) -> None:
    """Each form of the same keys makes the same file, and its missing keys are left out."""
    np = package("numpy")
    integers = list(range(-3000, 70_000))
    texts = [f"key-{i}" for i in range(2000)]
    want = {
        "i": by_hand(command, tmp_path / "i", integers),
        "u": by_hand(command, tmp_path / "u", texts),
    }
    forms: list[tuple[str, Any]] = [
        ("i", integers),
        ("i", np.array(integers)),
        ("i", np.array(integers, ">i4").reshape(73, -1)),
        ("u", np.array(texts)),
        ("u", np.array(texts, object)),
        ("u", np.ma.array([*texts, "masked"], mask=[False] * len(texts) + [True])),
    ]
    with_missing = [*texts[:50], None, *texts[50:], None]
    try:
        import pandas as pd
        import polars as pl
        import pyarrow as pa
    except ImportError as e:
        print("NOT RUN:", e)
    else:
        forms += [
            ("i", pa.array(integers)),
            ("i", pd.Series(integers)),
            ("i", pd.Series([*integers, None], dtype="Int64")),
            ("i", pd.Series(integers, dtype="category")),
            ("i", pl.Series([*integers, None])),
            ("u", pa.array(with_missing)),
            ("u", pa.chunked_array([with_missing[:9], with_missing[9:]], pa.dictionary(pa.int32(), pa.string()))),
            ("u", pd.Series(with_missing)),
            ("u", pd.Index(with_missing)),
            ("u", pd.Series(with_missing, dtype="category")),
            ("u", pd.Series(with_missing, dtype=object)),
            ("u", pd.Series([k and k.encode() for k in with_missing], dtype="category")),
            ("u", pd.Series(with_missing, dtype="string[python]")),
            ("u", pd.Series(with_missing, dtype=pd.ArrowDtype(pa.large_string()))),
            ("u", pl.Series(with_missing)),
            ("u", pl.Series(with_missing, dtype=pl.Categorical)),
        ]
    for kind, keys in forms:
        bl.build(tmp_path / "f.bloom", keys)
        assert (tmp_path / "f.bloom").read_bytes() == want[kind], type(keys)


def test_values(command: str, tmp_path: Path) -> None:
    keys, values = [f"k{i}\n" for i in range(1000)], [i * 3 % 301 for i in range(1000)]
    for spec in ["ribbon", "ribbon(r=0,value_bits=9)"]:
        f = bl.build(tmp_path / "f.bloom", keys, values=values, spec=spec)
        assert [f.get(k) for k in keys] == values
        assert f.info.value_bits == 9
    np = package("numpy")
    f = bl.build(tmp_path / "f.bloom", np.arange(1000), values=np.array(values), value_bits=12, spec="ribbon")
    assert [f.get(i) for i in range(1000)] == values
    for wrong in [values[:-1], [*values, 1]]:
        with pytest.raises(ValueError, match="values"):
            bl.build(tmp_path / "g.bloom", keys, values=wrong)
    with pytest.raises(OverflowError, match="values"):
        bl.build(tmp_path / "g.bloom", ["a"], values=[-1])
    f = bl.build(tmp_path / "f.bloom", ["a", "b"], values=bytes([7, 255]), spec="ribbon")
    assert [f.get("a"), f.get("b")] == [7, 255]
    for wrong in [
        np.array([5], "M8[ns]"),
        np.array([5], "m8[ns]"),
        np.ma.array([5], mask=[True]),
        np.array([1.5]),
        None,
    ]:
        if wrong is not None:
            with pytest.raises(TypeError, match="values: want integers"):
                bl.build(tmp_path / "g.bloom", ["a"], values=wrong)
    pa = package("pyarrow")
    with pytest.raises(ValueError, match="null"):
        bl.build(tmp_path / "g.bloom", pa.array(["a", None]), values=[1, 2])
    assert not (tmp_path / "g.bloom").exists()


def test_options(command: str, tmp_path: Path) -> None:
    secret = bytes(range(16))
    f = bl.build(tmp_path / "f.bloom", KEYS, needs="add", capacity=100_000, secret=secret, options=["--fpr=1%"])
    assert (f.info.family, f.info.hash) == ("standard", "siphash-128")
    with pytest.raises(bl.NoSecretError):
        bl.open(tmp_path / "f.bloom")
    f = bl.build(tmp_path / "f.set", KEYS, shards=2, spec="blocked", seed=7)
    assert isinstance(f, bl.ShardedFilter)
    assert all(f.contains(KEYS))
    assert f.info.seed == 7
    first = bl.build(tmp_path / "a.bloom", KEYS, spec="standard", bits_per_key=12)
    like = bl.build(tmp_path / "b.bloom", KEYS[1:], like=tmp_path / "a.bloom")
    assert like.info.bytes == first.info.bytes
    (tmp_path / "keys.csv").write_text("id,mail\n1,a@b\n2,c@d\n")
    csv = bl.build(tmp_path / "c.bloom", tmp_path / "keys.csv", options=["--input-format=csv", "--column=mail"])
    assert csv.contains(["a@b", "c@d"]) == [True, True]
    assert csv.info.keys == 2
    (tmp_path / "lines").write_text("x\ny\n")
    assert bl.build(tmp_path / "d.bloom", [tmp_path / "lines", tmp_path / "lines"]).contains(["x", "y"]) == [True, True]
    os.chdir(tmp_path)
    assert bl.build("-", ["x"]).path == str(tmp_path / "-")
    steps: list[int] = []
    bl.build(tmp_path / "e.bloom", range(200_000), progress=steps.append)
    assert steps == [65536, 131072, 196608, 200_000]


def test_failures_leave_nothing(command: str, tmp_path: Path) -> None:
    def broken(error: BaseException) -> Iterator[str]:
        yield from (str(i) for i in range(100_000))
        raise error

    path = tmp_path / "f.bloom"
    old = (CONTAINER / "fuse-0.bloom").read_bytes()
    path.write_bytes(old)
    with pytest.raises(bl.CommandError, match="--bits-per-key") as wrong:
        bl.build(path, KEYS, bits_per_key=-7)
    assert wrong.value.exit_code == 2
    with pytest.raises(ValueError, match=r"fpr='many': want a rate"):
        bl.build(path, KEYS, fpr="many")
    with pytest.raises(ValueError, match=r"fpr=1.0: want a rate"):
        bl.build(path, KEYS, fpr="100%")
    with pytest.raises(ValueError, match=r"fpr=5: .*did you mean 0.05, which is 5%\?"):
        bl.build(path, KEYS, fpr=5)
    for error in [KeyError("mine"), KeyboardInterrupt()]:
        with pytest.raises(type(error)):
            bl.build(path, broken(error))
    with pytest.raises(TypeError, match=r"a key is .*number 1 of the keys, from 0, is None"):
        bl.build(path, ["a", None])
    with pytest.raises(TypeError, match="number 70000 of the keys"):
        bl.build(path, [*map(str, range(70_000)), None])
    for keys in ["one key", b"one key", 7, None]:
        with pytest.raises(TypeError, match="not"):
            bl.build(path, keys)
    assert bl.build(tmp_path / "rate.bloom", KEYS, fpr="0.7%").info.fpr_planned == 0.007
    (tmp_path / "rate.bloom").unlink()
    with pytest.raises(TypeError, match=r"not a mapping d; pass build\(path, d.keys\(\)\)"):
        bl.build(path, {"a": 1})
    with pytest.raises(TypeError, match="spec or family"):
        bl.build(path, KEYS, spec="blocked", family="blocked")
    assert path.read_bytes() == old
    assert [p.name for p in tmp_path.iterdir()] == ["f.bloom"]
    path.write_bytes(b"not a filter")
    with pytest.raises(bl.CommandError, match="no filter file"):
        bl.build(path, range(10**6))
    path.unlink()
    with pytest.warns(RuntimeWarning, match="no key"):
        assert len(bl.build(path, [])) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="NOT RUN: Windows has no SIGINT for one process")
def test_ctrl_c(command: str, tmp_path: Path) -> None:
    """An interrupt of the main thread, as ctrl-C sends it, ends the command and leaves the old file."""
    path = tmp_path / "f.bloom"
    old = (CONTAINER / "fuse-0.bloom").read_bytes()
    path.write_bytes(old)
    code = (
        "import itertools, sys, bloomery_filters as bl\n"
        "def keys():\n"
        "    yield from range(70000)\n"
        "    print('ready', flush=True)\n"
        "    import time; time.sleep(60)\n"
        "bl.build(sys.argv[1], keys())\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert child.stdout
    assert child.stdout.readline() == b"ready\n"
    os.kill(child.pid, signal.SIGINT)
    errors = child.communicate()[1]
    assert b"KeyboardInterrupt" in errors
    assert path.read_bytes() == old
    assert [p.name for p in tmp_path.iterdir()] == ["f.bloom"]


def test_command_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BLOOMERY_COMMAND", str(tmp_path / "missing"))
    with pytest.raises(bl.CommandNotFoundError, match="BLOOMERY_COMMAND"):
        bl.build(tmp_path / "f.bloom", ["a"])
    monkeypatch.delenv("BLOOMERY_COMMAND")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_command, "BINARY", "bloomery-filters-not-installed")
    other = tmp_path / ("bloomery.exe" if sys.platform == "win32" else "bloomery")
    other.write_text("#!/bin/sh\necho the command of another project\n")
    other.chmod(0o755)
    with pytest.raises(FileNotFoundError, match="set BLOOMERY_COMMAND"):
        bl.build(tmp_path / "f.bloom", ["a"])


def test_first_of_path(command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A program of another project with this name, before the command in PATH, is passed over."""
    program = "bloomery.exe" if sys.platform == "win32" else "bloomery"
    for folder in ["other", "ours"]:
        (tmp_path / folder).mkdir()
    (tmp_path / "other" / program).write_text("#!/bin/sh\necho the command of another project\n")
    (tmp_path / "other" / program).chmod(0o755)
    shutil.copy(command, tmp_path / "ours" / program)
    monkeypatch.delenv("BLOOMERY_COMMAND", raising=False)
    monkeypatch.setenv("PATH", os.pathsep.join(str(tmp_path / folder) for folder in ["other", "ours"]))
    monkeypatch.setattr(_command, "BINARY", "bloomery-filters-not-installed")
    assert _command.find() == str(tmp_path / "ours" / program)


def test_follow(command: str, tmp_path: Path) -> None:
    def publish(keys: list[str]) -> None:
        bl.build(tmp_path / "source.bloom", keys, spec="standard", capacity=5000)
        subprocess.run(
            [command, "publish", "-q", tmp_path / "site", tmp_path / "source.bloom", "--sign", tmp_path / "key"],
            check=True,
        )

    subprocess.run([command, "keygen", "-q", "-o", tmp_path / "key"], check=True)
    publish(["one"])
    key = str(tmp_path / "key.pub")
    events: list[str] = []
    copy = tmp_path / "copy"
    copy.mkdir(mode=0o700)
    with bl.follow(
        tmp_path / "site", copy / "f.bloom", key=key, interval="1s", on_event=lambda e: events.append(e["event"])
    ) as follower:
        f = follower.filter
        assert f.contains(["one", "two"]) == [True, False]
        publish(["one", "two"])
        deadline = time.monotonic() + 60
        while "two" not in f and time.monotonic() < deadline:
            follower.wait(5)
        assert f.contains(["one", "two"]) == [True, True]
        assert follower.filter is f
        assert follower.event
        f.close()
        publish(["one", "two", "three"])
        while follower.wait(60) and follower.event["event"] != "failed":
            pass
        assert "closed" in follower.event["error"]
        assert f.closed
    assert "updated" in events
    with pytest.raises(bl.CommandError):
        while follower.wait():
            pass
    assert threading.active_count() < 10
    with pytest.raises(bl.CommandError):
        bl.follow(tmp_path / "nothing", copy / "g.bloom", key=key)
    with pytest.raises(bl.CommandError, match="key"):
        bl.follow(tmp_path / "site", copy / "h.bloom", key="nonsense")


def test_follow_ends(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that ends before the second thread has begun."""
    real = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        real(thread)
        time.sleep(0.5)

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(bl.CommandError, match="nonsense"):
        bl.follow(tmp_path, tmp_path / "f.bloom", key="nonsense")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_on_event_raises(command: str, tmp_path: Path) -> None:
    def on_event(event: dict[str, Any]) -> None:
        raise KeyError(event["event"])

    bl.build(tmp_path / "source.bloom", ["one"])
    subprocess.run([command, "publish", "-q", tmp_path / "site", tmp_path / "source.bloom"], check=True)
    (tmp_path / "copy").mkdir(mode=0o700)
    path = tmp_path / "copy" / "f.bloom"
    with bl.follow(tmp_path / "site", path, insecure=True, interval="1s", on_event=on_event) as follower:
        with pytest.raises(bl.CommandError):
            while follower.wait(60):
                pass
        assert "one" in follower.filter


def test_runs_the_command(command: str, tmp_path: Path) -> None:
    """python -m bloomery_filters passes arguments, both streams and the exit code through."""

    def run(*arguments: object, input: str = "") -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "bloomery_filters", *map(str, arguments)]
        return subprocess.run(argv, input=input, capture_output=True, text=True)

    path = tmp_path / "f.bloom"
    assert run("build", "-q", "-o", path, input="a\nb\n").returncode == 0
    assert "a" in bl.open(path)
    assert json.loads(run("info", "--json", path).stdout)["keys"] == 2
    assert run("check", path, input="a\nnot in it\n").stdout == "a\n"
    missing = run("info", tmp_path / "missing")
    assert missing.returncode == 2
    assert "missing" in missing.stderr


def test_main_without_the_command() -> None:
    # Without the distribution of the command, which the environment of the tests has.
    main = (
        "import sys; from bloomery_filters import __main__, _command; "
        "_command._installed = lambda: None; sys.exit(__main__.main())"
    )

    def run(named: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-c", main, *arguments]
        variables = {**os.environ, "BLOOMERY_COMMAND": named, "PATH": "/missing"}
        return subprocess.run(argv, capture_output=True, text=True, env=variables)

    assert run("", "version").stdout == f"bloomery-filters {bl.__version__}, without the command\n"
    assert run("", "info", "f.bloom").returncode == 2
    for command in "version", "info":
        ran = run("/missing", command)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert ran.stderr.startswith("python -m bloomery_filters: BLOOMERY_COMMAND is '/missing'")
