#!/usr/bin/env python3
"""Checks that every header includes what it uses and can be included twice.

  check_headers.py ROOT COMPILER [--public | --internal | --all]

A source whose first include is a header shows that this header compiles alone, provided that the source is compiled by
itself (`-DAQUEDUCT_BATCHES=OFF`, in ./aq nightly). The same holds for the header that such a header includes first, and so
on. This script compiles the remaining headers and the public ones alone, each included twice; with --public only these, with
--internal all but these (`.ci/run` does the two in different steps), with --all every header. Public headers are compiled with include/ only, the others with the root too. Nothing is linked or written.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # the source tree stays clean
import check_arrows  # noqa: E402

FOLDERS = check_arrows.FOLDERS + check_arrows.PROGRAMS
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c++"]
INTERNAL = ["-DSPDLOG_COMPILED_LIB", "-DSPDLOG_FMT_EXTERNAL", '-DAQUEDUCT_BIN_DIR="."',
            '-DAQUEDUCT_SOURCE_DIR="."']
# Patterns of headers that need a library which a machine may lack, with its name for pkg-config.
OPTIONAL = {r"bootstrap/pmix_": "pmix", r"conduits/ofi/|.*_ofi\.hpp": "libfabric", r"conduits/ucx/|.*_ucx\.hpp": "ucx",
            r"bench/peers/(mpi_vis/|layer_mpi|mpi\.hpp)": "ompi-c", r"bench/peers/layer_gasnet": "gasnet-smp-seq"}


def library_of(header):
    """The optional library that this header needs; empty if none."""
    return next((package for name, package in OPTIONAL.items() if re.match(name, header)), "")


def flags_for(package):
    """The flags for compiling against a library; None if it is not installed."""
    try:
        asked = subprocess.run(["pkg-config", "--cflags", package], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return asked.stdout.split() if asked.returncode == 0 else None


FIRST_INCLUDE = re.compile(r'^\s*#include\s+["<]([^">]+)[">]', re.M)


def first_included(root, file, headers):
    """The header that the file includes first; None if it is not in this tree."""
    found = FIRST_INCLUDE.search((root / file).read_text(encoding="utf-8"))
    if not found:
        return None
    return next((h for h in (found[1], "include/" + found[1], "examples/" + found[1]) if h in headers), None)


def shown_by_sources(root, headers):
    """Headers that some source includes first, which shows that they compile alone."""
    headers, shown = set(headers), set()
    for folder in FOLDERS:
        for source in (root / folder).rglob("*.cpp"):
            header = first_included(root, source, headers)
            while header and header not in shown:
                shown.add(header)
                header = first_included(root, header, headers)
    return shown


def compile_alone(root, compiler, header):
    """The compiler's output; empty if it succeeds."""
    flags = FLAGS + [f"-I{root}/include"]
    if not header.startswith("include/"):
        flags += INTERNAL + [f"-I{root}"]
    if header.startswith("examples/"):
        flags += [f"-I{root}/examples"]
    if header.startswith("compat/gasnet/"):
        flags += ["-DGASNET_PAR", f"-I{root}/compat/gasnet/include"]
    if package := library_of(header):
        flags += flags_for(package)
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
    every = len(headers)
    if "--all" not in sys.argv[3:]:
        shown = shown_by_sources(root, headers)
        headers = [h for h in headers if h.startswith("include/") or h not in shown]
    skipped = [h for h in headers if library_of(h) and flags_for(library_of(h)) is None]
    headers = [h for h in headers if h not in skipped]
    if "--public" in sys.argv[3:]:
        headers = [h for h in headers if h.startswith("include/")]
    if "--internal" in sys.argv[3:]:
        headers = [h for h in headers if not h.startswith("include/")]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for header, said in zip(headers, pool.map(lambda h: compile_alone(root, compiler, h), headers)):
            if said:
                bad += 1
                print(f"{header} does not compile alone:\n{said}")
    print(f"{every} headers: {len(headers)} compiled alone here, {bad} of them do not; "
          f"{len(skipped)} need libraries that are not here; sources show the rest")
    return bad != 0 or not headers


if __name__ == "__main__":
    sys.exit(main())
