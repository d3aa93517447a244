#!/usr/bin/env python3
"""Checks which headers conduits include: their own and those of conduit_headers.txt, which are also installed for plug-ins.

  check_conduit_headers.py ROOT          prints file:line of each violation; exit status 1 if there is one
  check_conduit_headers.py --self-test   checks on small trees that it finds all violations, and nothing else

Headers of the list include only headers of the list, so that a plug-in has all it needs and conduits do not depend on the
user's calls. docs/write-a-conduit.md names all of them that are in core/.
"""

import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays clean
import checker  # noqa: E402
from check_arrows import INCLUDE, place  # noqa: E402

LIST = "tests/structure/conduit_headers.txt"
PAGE = "docs/write-a-conduit.md"
FOLDERS = ("core/", "aqueduct/")  # whose headers are listed


def listed(root):
    lines = (root / LIST).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def includes(file):
    """(line number, what is included) of each include of core/ or aqueduct/."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match and match[2].startswith(FOLDERS):
            yield number, match[2]


def check(root):
    """All violations below `root`, as lines of text, and the number of files read."""
    names, found = listed(root), []
    page = (root / PAGE).read_text(encoding="utf-8")
    files = []
    for name in names:
        file = root / name if name.startswith("core/") else root / "include" / name
        if not file.is_file():
            found.append(f"{LIST}: {name}: there is no such header")
            continue
        if name.startswith("core/") and f"`{name}`" not in page:
            found.append(f"{LIST}: {name}: {PAGE} does not say what it is for")
        files.append(file)
    for file in sorted((root / "conduits").rglob("*.[ch]pp")):
        if place(file.relative_to(root).as_posix())[0] == "conduits/*":
            files.append(file)
    for file in files:
        for number, included in includes(file):
            if included not in names:
                where = file.relative_to(root).as_posix()
                found.append(f"{where}:{number}: {included} is not one of the headers for conduits ({LIST})")
    return found, len(files)


# Each case: the files with their text, and where the violations are. The list has core/a.hpp and aqueduct/rank.hpp.
CASES = [
    ({"conduits/smp/x.cpp": '#include <aqueduct/rank.hpp>\n#include "core/a.hpp"\n#include "conduits/smp/x.hpp"\n'}, []),
    ({"conduits/smp/x.cpp": '#include "core/b.hpp"\n'}, ["conduits/smp/x.cpp:1"]),
    ({"conduits/udp/carrier/x.hpp": "#pragma once\n\n#include <aqueduct/rma.hpp>\n"}, ["conduits/udp/carrier/x.hpp:3"]),
    ({"conduits/smp/tests/x.cpp": '#include "core/b.hpp"\n', "conduits/registry.cpp": '#include "core/b.hpp"\n'}, []),
    ({"core/a.hpp": '#include "core/b.hpp"\n'}, ["core/a.hpp:1"]),
    ({"include/aqueduct/rank.hpp": "#include <aqueduct/rma.hpp>\n"}, ["include/aqueduct/rank.hpp:1"]),
    ({PAGE: "It is about something else.\n"}, [LIST]),
    ({LIST: "core/a.hpp\ncore/gone.hpp\naqueduct/rank.hpp\n"}, [LIST]),
]


def self_test():
    wrong = 0
    for files, expected in CASES:
        tree = {LIST: "# The list\n\ncore/a.hpp\naqueduct/rank.hpp\n", PAGE: "Use `core/a.hpp`.\n",
                "core/a.hpp": "#include <aqueduct/rank.hpp>\n", "core/b.hpp": "", "include/aqueduct/rank.hpp": ""} | files
        with tempfile.TemporaryDirectory() as folder:
            for name, text in tree.items():
                (pathlib.Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                (pathlib.Path(folder) / name).write_text(text)
            found, _ = check(pathlib.Path(folder))
        if len(found) != len(expected) or not all(line.startswith(begin) for line, begin in zip(found, expected)):
            wrong += 1
            print(f"self-test: {files}: expected {expected}, found {found}")
    print(f"self-test: {len(CASES)} trees, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(checker.run(__doc__, check, self_test))
