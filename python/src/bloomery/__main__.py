"""python -m bloomery info FILE...: describes filter files, without the command."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from pathlib import Path

from ._errors import Error
from ._info import Info
from ._open import open


def main(arguments: list[str] | None = None) -> int:
    """Runs the program. Returns its exit code: 0, or 2 if a file cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m bloomery", description="Describes filter files.")
    commands = parser.add_subparsers(required=True)
    info = commands.add_parser("info", help="print what files say about themselves, after all checks")
    info.add_argument("files", nargs="+", metavar="FILE", help="a filter file, an exact set or the folder of a set")
    info.add_argument("--json", action="store_true", help="print a JSON object for each file, one a line")
    info.add_argument("--secret-file", metavar="FILE", help="file with the secret of a keyed hash, 32 hex digits")
    flags = parser.parse_args(arguments)
    code = 0
    try:
        secret = None
        if flags.secret_file:
            secret = Path(flags.secret_file).read_text().strip()
        for path in flags.files:
            try:
                with open(path, secret) as f:
                    show(path, f.info, flags.json)
            except (Error, OSError) as e:
                print(f"bloomery: {e}", file=sys.stderr)
                code = 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader of the output has gone
        return 141
    except (OSError, ValueError) as e:
        print(f"bloomery: {e}", file=sys.stderr)
        return 2
    return code


def show(path: str, info: Info, as_json: bool) -> None:
    """Prints the fields that say something."""
    fields = {"file": path, **dataclasses.asdict(info), "bits_per_key": info.bits_per_key}
    if info.keys == 0:
        del fields["bits_per_key"]
    if info.key_check is not None:
        fields["key_check"] = f"{info.key_check:x}"
    said = {name: value for name, value in fields.items() if value not in (None, False) or name == "keys"}
    if as_json:
        print(json.dumps(said))
        return
    for name, value in said.items():
        if value != 0 or name in ("keys", "seed"):
            print(f"{name.replace('_', ' '):14} {f'{value:.5g}' if isinstance(value, float) else value}")


if __name__ == "__main__":
    sys.exit(main())
