#!/usr/bin/env bash
# Checks the Python package: makes a virtual environment, installs the pinned packages of the tests, builds the package
# from a source distribution, and runs pytest, mypy, pyright and ruff. Arguments go to pytest. It prints NOT RUN, and
# succeeds, where Python 3.11 or newer with venv, or a C compiler, is missing.
set -euo pipefail
cd "$(dirname "$0")"

python=
for name in "${PYTHON:-python3}" python3.14 python3.13 python3.12 python3.11; do
  if "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    python=$name
    break
  fi
done
if [ -z "$python" ]; then
  echo "NOT RUN: the Python package needs Python 3.11 or newer with venv"
  exit 0
fi
if ! command -v "${CC:-cc}" >/dev/null; then
  echo "NOT RUN: the Python package needs a C compiler"
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1
"$python" -m venv "$work/venv"
bin=$work/venv/bin
unset BLOOMERY_COMMAND
compiling=
if command -v go >/dev/null; then
  go build -C .. -o "$work/bloomery" ./cmd/bloomery &
  compiling=$!
else
  echo "NOT RUN: the tests of build and follow need Go"
fi
"$bin/pip" install -q -r requirements-test.txt
"$bin/python" -m build -q --no-isolation --sdist --outdir "$work/dist" .
"$bin/pip" install -q --no-build-isolation --no-deps "$work"/dist/*.tar.gz
if [ -n "$compiling" ]; then
  wait "$compiling"
  "$bin/python" wheels.py command --platform native --binary "$work/bloomery" --out "$work/command"
  "$bin/pip" install -q --no-index "$work"/command/*.whl
  BLOOMERY_COMMAND=$("$bin/python" -c 'from bloomery_filters._command import find; print(find())')
  export BLOOMERY_COMMAND
fi
# All packages are installed: a test that skips one of them is a fault.
BLOOMERY_ALL_PACKAGES=1 "$bin/python" -m pytest -q "$@"
"$bin/python" -m pytest -q tests/beside.py # says NOT RUN where PyPI or Python 3.12 is missing
if [ -z "$compiling" ] || ! "$bin/pip" install -q --only-binary :all: rbloom==1.5.4; then
  echo "NOT RUN: the comparison with rbloom needs Go, and a wheel of rbloom for this Python on PyPI"
else
  "$bin/python" bench/coming_from.py
fi
"$bin/mypy"
# What callers see, with and without the types of other packages.
"$bin/mypy" --config-file= --strict tests/typed.py tests/typed_columns.py
MYPYPATH=src "$bin/mypy" --config-file= --strict --no-site-packages --follow-imports=silent tests/typed.py
if "$bin/pyright" --version >/dev/null 2>&1; then
  "$bin/pyright" --pythonpath "$bin/python" tests/typed.py tests/typed_columns.py
else
  echo "NOT RUN: pyright needs Node and the npm registry"
fi
"$bin/ruff" check .
"$bin/ruff" format --check .
if [ -n "$compiling" ]; then # the same answers as the command, and the same files refused
  go run -C ../eval/readers . --readers python --python "$bin/python" --keep "$work/faults" --quiet \
    --answers 60000 --damaged 300 --exact 12 --windows 9 --keys 20000 --per-filter 3000 --seed 11
fi
