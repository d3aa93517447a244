#!/usr/bin/env python3
"""Checks that each structure that a C header defines is in the static assertions beside AQ_LAYOUT, with all its members.

  check_layouts.py ROOT          prints each that is not; exit status 1 if there is one
  check_layouts.py --self-test   checks on a small tree that it finds what is missing, and nothing else

The assertions hold places as plain numbers: who moves a member must change one, and raises the layout's number there.
"""

import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays clean
import checker  # noqa: E402

HEADERS = "include/aqueduct/c"
ASSERTIONS = ("c/layout.cpp", "c/layout_of_structures.cpp")
STRUCTURE = re.compile(r"struct\s+(?:__attribute__\S+\s+)?(aq_\w+)\s*\{(.*?)\n\}", re.DOTALL)
NOT_LAID_OUT = {("aq_endpoint", "unused")}  # room up to the next member, which is looked at


def structures(text):
    """(name, members) of each structure with a body."""
    for match in STRUCTURE.finditer(re.sub(r"//[^\n]*", "", text)):
        members = []
        for declaration in filter(None, (part.strip() for part in match[2].split(";"))):
            function = re.search(r"\(\*(\w+)\)\(", declaration)
            members.append(function[1] if function else re.search(r"(\w+)(\[\w+\])?$", declaration)[1])
        yield match[1], members


def check(root):
    assertions = "".join((root / file).read_text(encoding="utf-8") for file in ASSERTIONS)
    asserted = set(re.findall(r"offsetof\((aq_\w+), (\w+)\)", assertions))
    sized = set(re.findall(r"(?:sizeof\(|lies<)(aq_\w+)", assertions))
    found, files = [], 0
    for file in sorted((root / HEADERS).glob("*.h")):
        files += 1
        for name, members in structures(file.read_text(encoding="utf-8")):
            where = file.relative_to(root)
            if name not in sized:
                found.append(f"{where}: the size of {name} is not in {ASSERTIONS[1]}")
            missing = [m for m in members if (name, m) not in asserted | NOT_LAID_OUT and len(members) > 1]
            found += [f"{where}: the place of {name}::{m} is not in {ASSERTIONS[1]}" for m in missing]
    return found, files


def self_test():
    header = """typedef struct aq_good {
  int a;  ///< first; not the last
  void (*b)(int of, int c);
  int c[4];
} aq_good;
typedef struct aq_bad {
  int a;
  int d;
} aq_bad;
typedef struct aq_opaque aq_opaque;
"""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / HEADERS).mkdir(parents=True)
        (root / "c").mkdir()
        (root / HEADERS / "a.h").write_text(header, encoding="utf-8")
        (root / ASSERTIONS[0]).write_text("sizeof(aq_good)", encoding="utf-8")
        (root / ASSERTIONS[1]).write_text(
            "offsetof(aq_good, a) offsetof(aq_good, b) offsetof(aq_good, c) offsetof(aq_bad, a)", encoding="utf-8")
        found, files = check(root)
    expected = [f"{HEADERS}/a.h: the size of aq_bad is not in {ASSERTIONS[1]}",
                f"{HEADERS}/a.h: the place of aq_bad::d is not in {ASSERTIONS[1]}"]
    if found != expected or files != 1:
        print("\n".join(["found:", *found, "expected:", *expected]))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(checker.run(__doc__, check, self_test))
