"""python -m bloomery_filters: runs the command of Bloomery with the same arguments."""

from __future__ import annotations

import os
import subprocess
import sys

from . import __version__
from ._command import find
from ._errors import CommandNotFoundError


def main() -> int:
    """Runs the command, and returns its exit code or 2 without a command.

    On Unix it does not return: the command replaces this process, so that signals and exit codes need no translation.
    """
    try:
        program = find()
    except CommandNotFoundError as e:
        named = os.environ.get("BLOOMERY_COMMAND")
        if sys.argv[1:] == ["version"] and not named:  # the first question of every report of a fault
            print(f"bloomery-filters {__version__}, without the command")
            return 0
        print(f"python -m bloomery_filters: {e}", file=sys.stderr)
        return 2

    command = [program, *sys.argv[1:]]
    try:
        if sys.platform == "win32":
            # os.execv of Windows ends this process at once, and the shell would not wait for the command.
            return subprocess.run(command).returncode
        os.execv(program, command)
    except OSError as e:  # exit code 1 of a traceback would mean that no key was found
        print(f"python -m bloomery_filters: {program}: {e.strerror}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
