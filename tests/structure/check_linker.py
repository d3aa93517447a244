#!/usr/bin/env python3
"""Checks the arrows of the architecture in the compiled library: which folder's code calls which.

  check_linker.py BUILD [NM]    prints each symbol that is used against the arrows; exit status 1 if there is one
  check_linker.py --self-test   checks on small listings and unity files that it finds all violations, and nothing else

A header may declare a function of one folder, such as Config::number in include/, and another folder may define it. Then
the includes follow the arrows (check_arrows.py), and the calls do not. So this script asks `nm` which symbols each object
file of the library defines and needs. If the object file has its own copy of an inline function, it needs no other folder
for it. BUILD/tests/structure/library_objects.txt lists the object files. Exit status 77: they are not built.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays clean
from check_arrows import forbidden, place  # noqa: E402

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]

# Uses against the arrows that are meant: the layer that uses ("*": any), the function, and the reason.
EXCEPTIONS = [
    ("*", "aqueduct::detail::copy_middling",
     "include/aqueduct/copy_bytes.hpp calls it inline; kernels/ defines it, and itself uses nothing but include/"),
    ("*", "aqueduct::detail::write_middling", "the same"),
    ("*", "aqueduct::detail::put_middling", "the same"),
    ("core", "aqueduct::Team::~Team",
     "EndpointState owns the team of all ranks, so that Endpoint::world() can return it"),
]

# These include public headers alone, and call what the headers declare, wherever it is defined.
FACES = {"c"}

SYMBOL = re.compile(r"^[0-9a-f ]{16} (\S) (.+)$")  # "0000000000000010 T name", "                 U name"
DEFINED = set("TDBRGSCVWiu")  # strong, weak and unique; local symbols have other small letters
NEEDED = set("Uwv")
UNITY = re.compile(r'^\s*#include "(.+)"', re.M)


def read_symbols(text):
    """What nm's listing says: ({defined}, {needed}), by name."""
    defined, needed = set(), set()
    for line in text.splitlines():
        if match := SYMBOL.match(line):
            kind, name = match.groups()
            (defined if kind in DEFINED else needed if kind in NEEDED else set()).add(name)
    return defined, needed


def sources_of(item, root=ROOT):
    """The sources of an object file, relative to the root. A unity batch has several."""
    source = item.with_suffix("")
    if "Unity" in item.parts:
        found = UNITY.findall(source.read_text(encoding="utf-8"))
    else:
        found = [source.as_posix().split(".dir/", 1)[-1]]
    root = pathlib.Path(root).resolve()  # the checkout may be reached through a symbolic link
    return [pathlib.Path(file).resolve().relative_to(root).as_posix() if file.startswith("/") else file for file in found]


def function(symbol):
    """The name of a function without its arguments, or of another symbol."""
    return symbol.split("(", 1)[0].split("[abi:", 1)[0]


def excused(layer, symbol):
    return any(who in ("*", layer) and function(symbol) == name for who, name, _ in EXCEPTIONS)


def check(objects):
    """All violations, as lines of text. `objects` is a list of (sources, nm's listing)."""
    found, read = [], []
    for sources, listing in objects:
        places = sorted({place(source) for source in sources}, key=str)
        if len(places) != 1 or places[0][0] is None:
            found.append(f"an object file of {', '.join(sources)}: not of one folder of the library; see AqueductBatches.cmake")
        else:
            read.append((places[0], sources, *read_symbols(listing)))
    owners = {}  # symbol: the places that define it
    for here, _, defined, _ in read:
        for symbol in defined:
            owners.setdefault(symbol, set()).add(here)
    for here, sources, _, needed in read:
        if here[0] in FACES:
            continue
        for symbol in sorted(needed & owners.keys()):
            reasons = [forbidden(here, there) for there in sorted(owners[symbol], key=str)]
            if None not in reasons and not excused(here[0], symbol):
                where = ", ".join(sorted(conduit and f"conduits/{conduit}" or layer for layer, conduit in owners[symbol]))
                found.append(f"{pathlib.PurePath(sources[0]).parent} uses {symbol}, which {where} defines: {reasons[0]}")
    return found


def check_build(build, nm):
    names = (build / "tests/structure/library_objects.txt").read_text(encoding="utf-8").split("\n")
    items = [pathlib.Path(name) for name in names if name]
    if absent := [item for item in items if not item.is_file()]:
        print(f"skipped: {absent[0]} is not built")
        return SKIPPED
    objects = []
    for item in items:
        said = subprocess.run([nm, "-C", str(item)], text=True, check=True, capture_output=True)
        objects.append((sources_of(item), said.stdout))
    found = check(objects)
    for line in found:
        print(line)
    print(f"{len(objects)} object files, {len(found)} uses against the arrows")
    return bool(found) or not objects


def listing(defined=(), needed=(), weak=()):
    return "\n".join([f"{16:016x} T {name}" for name in defined] + [f"{32:016x} W {name}" for name in weak] +
                     [f"{'':16} U {name}" for name in needed] + [f"{48:016x} t local()", "", "x.o:"])


# Each case: the objects as (sources, listing), and the words that each violation found must contain.
CASES = [
    # downwards
    ([(["core/a.cpp"], listing(["f()"])), (["rma/a.cpp"], listing(["g()"], ["f()", "memcpy"]))], []),
    # upwards
    ([(["core/a.cpp"], listing(["f()"], ["g(int)"])), (["rma/a.cpp"], listing(["g(int)"]))], [["core uses g(int)", "rma"]]),
    # what a public header declares and runtime defines
    ([(["conduits/smp/a.cpp"], listing([], ["aqueduct::Config::number(int) const"])),
      (["runtime/a.cpp"], listing(["aqueduct::Config::number(int) const"]))], [["conduits/smp uses", "Config::number", "runtime"]]),
    # another conduit, and its own in a deeper folder
    ([(["conduits/smp/a.cpp"], listing([], ["f()"])), (["conduits/udp/a.cpp"], listing(["f()"]))], [["conduits/smp", "conduits/udp"]]),
    ([(["conduits/udp/carrier/a.cpp"], listing([], ["f()"])), (["conduits/udp/a.cpp"], listing(["f()"]))], []),
    # an inline function: the user has a copy, or no copy but a copy of an allowed folder is there
    ([(["am/a.cpp"], listing(weak=["f()"])), (["vis/a.cpp"], listing(weak=["f()"]))], []),
    ([(["am/a.cpp"], listing([], ["f()"])), (["vis/a.cpp"], listing(weak=["f()"])), (["core/a.cpp"], listing(weak=["f()"]))], []),
    ([(["am/a.cpp"], listing([], ["f()"])), (["vis/a.cpp"], listing(weak=["f()"]))], [["am uses f()", "vis"]]),
    # the C face
    ([(["c/a.cpp"], listing([], ["aqueduct::Job::finish()"])), (["runtime/a.cpp"], listing(["aqueduct::Job::finish()"]))], []),
    ([(["core/a.cpp"], listing([], ["aq_put"])), (["c/a.cpp"], listing(["aq_put"]))], [["core uses aq_put", "c defines"]]),
    # rooms of coll
    ([(["coll/algorithms/a.cpp"], listing([], ["f()"])), (["coll/engine/a.cpp"], listing(["f()"]))], [["coll/algorithms", "coll/engine"]]),
    # batches
    ([(["vis/a.cpp", "vis/b.cpp"], listing()), (["conduits/udp/a.cpp", "conduits/udp/carrier/b.cpp"], listing())], []),
    ([(["team/a.cpp", "coll/b.cpp"], listing())], [["team/a.cpp, coll/b.cpp", "not of one folder"]]),
    ([(["tools/launch/server.cpp"], listing(["f()"]))], [["tools/launch/server.cpp", "not of one folder of the library"]]),
    # exceptions
    ([(["am/a.cpp"], listing([], ["aqueduct::detail::copy_middling(int)"])),
      (["kernels/a.cpp"], listing(["aqueduct::detail::copy_middling(int)"]))], []),
    ([(["am/a.cpp"], listing([], ["aqueduct::Team::~Team()"])),
      (["coll/a.cpp"], listing(["aqueduct::Team::~Team()"]))], [["am uses aqueduct::Team::~Team()"]]),
]


def self_test():
    wrong = 0
    for objects, expected in CASES:
        found = check(objects)
        if len(found) != len(expected) or not all(word in line for line, words in zip(found, expected) for word in words):
            wrong += 1
            print(f"self-test: {objects}: expected {expected}, found {found}")
    with tempfile.TemporaryDirectory() as folder:
        unity = pathlib.Path(folder) / "x.dir/Unity/unity_x_cxx.cxx"
        unity.parent.mkdir(parents=True)
        unity.write_text(f'/* generated */\n\n#include "{folder}/am/a.cpp"\n\n#include "{folder}/am/b.cpp"\n')
        for item, expected in ((f"{unity}.o", ["am/a.cpp", "am/b.cpp"]), ("/b/x.dir/am/a.cpp.o", ["am/a.cpp"])):
            if (found := sources_of(pathlib.Path(item), folder)) != expected:
                wrong += 1
                print(f"self-test: {item}: expected {expected}, found {found}")
    print(f"self-test: {len(CASES) + 2} cases, {wrong} wrong")
    return wrong != 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) not in (2, 3):
        print(__doc__)
        return 2
    return check_build(pathlib.Path(sys.argv[1]), (sys.argv[2:] + ["nm"])[0])


if __name__ == "__main__":
    sys.exit(main())
