"""Builds bloomery_filters._core. All other settings are in pyproject.toml.

The header bloomery.h and the licence lie in other folders of the repository. They are copied beside the sources, so
that a source distribution, which has no such folders, holds them.
"""

import shutil
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

here = Path(__file__).resolve().parent
for copy, original in {
    "src/core/bloomery.h": here.parent / "c" / "bloomery.h",
    "LICENSE": here.parent / "LICENSE",
}.items():
    if original.exists():
        shutil.copyfile(original, here / copy)

# Free-threaded Python has no stable ABI: its wheels are for one version each.
stable = not sysconfig.get_config_var("Py_GIL_DISABLED")
msvc = sysconfig.get_platform().startswith("win")
macros = [("Py_LIMITED_API", "0x030B0000")] if stable else []
if msvc and not stable:
    macros = [("Py_GIL_DISABLED", "1")]  # elsewhere pyconfig.h defines it

setup(
    ext_modules=[
        Extension(
            "bloomery_filters._core",
            ["src/core/core.c"],
            depends=[str(p.relative_to(here)) for p in sorted((here / "src" / "core").glob("*.h"))],
            define_macros=macros,
            extra_compile_args=["/std:c11", "/O2"] if msvc else ["-std=c11", "-O2", "-g0"],
            py_limited_api=stable,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if stable else {},
)
