#!/usr/bin/env python3
"""Compiles every header alone, twice in a row: it includes what it uses and guards itself.

  check_headers.py ROOT COMPILER [CONDUIT…]

The conduits named are left out, with what the tools have for them: their libraries are not installed. Public headers see only include/; the others also the root. Nothing is linked or written.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

FOLDERS = ["include", "core", "bootstrap", "conduits", "am", "team", "rma", "vis", "coll", "runtime",
           "tests", "tools", "examples", "fuzz", "bench"]
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c++"]
INTERNAL = ["-DSPDLOG_COMPILED_LIB", "-DSPDLOG_FMT_EXTERNAL", '-DAQUEDUCT_BIN_DIR="."',
            '-DAQUEDUCT_SOURCE_DIR="."']


def compile_alone(root, compiler, header):
    """What the compiler says; empty if it is content."""
    flags = FLAGS + [f"-I{root}/include"]
    if not header.startswith("include/"):
        flags += INTERNAL + [f"-I{root}"]
    if header.startswith("examples/"):
        flags += [f"-I{root}/examples"]
    name = f'<{header.removeprefix("include/")}>' if header.startswith("include/") else f'"{header}"'
    run = subprocess.run([compiler, *flags, "-"], input=f"#include {name}\n" * 2, text=True,
                         capture_output=True, check=False)
    return run.stderr if run.returncode else ""


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    root, compiler = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    headers = [h.relative_to(root).as_posix() for folder in FOLDERS for h in sorted((root / folder).rglob("*.hpp"))]
    left_out = tuple(part for name in sys.argv[3:] for part in (f"conduits/{name}/", f"_{name}.hpp"))
    headers = [h for h in headers if not any(part in h for part in left_out)]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for header, said in zip(headers, pool.map(lambda h: compile_alone(root, compiler, h), headers)):
            if said:
                bad += 1
                print(f"{header} does not compile alone:\n{said}")
    print(f"{len(headers)} headers, {bad} do not compile alone")
    return bad != 0 or not headers


if __name__ == "__main__":
    sys.exit(main())
