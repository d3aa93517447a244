#!/usr/bin/env python3
"""Checks the arrows of the architecture: which folder may include which.

A new layer brings its arrows with it: the file `arrows` in its folder names the folders that it may include. Only runtime
includes the layer, as long as no other folder's arrows lead to it.

  check_arrows.py ROOT          prints file:line of each violation; exit status 1 if there is one
  check_arrows.py --self-test   checks on small trees that it finds all violations, and nothing else
"""

import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays clean
import checker  # noqa: E402

# "A: B, C" means: A may include B and C, and all that these may include. Tests, tools,
# examples, fuzz and bench may include anything.
ARROWS = {
    "include": [],
    "kernels": ["include"],
    "core": ["include"],
    "bootstrap": ["include"],
    "conduits/*": ["core"],  # each conduit; never another conduit
    "am": ["core"],
    "team": ["core"],
    "topology": ["team"],
    "rma": ["am"],
    "vis": ["rma", "kernels"],
    # The rooms of coll, as they come: a schedule is data, and knows nothing of what runs it.
    "coll/schedule": ["include"],
    "coll/algorithms": ["coll/schedule"],
    "coll/model": ["coll/schedule"],
    "coll/scratch": ["coll/schedule", "team"],
    "coll/engine": ["coll/scratch", "coll/shared", "coll/tune", "rma", "kernels"],
    "coll/shared": ["coll/scratch", "rma", "kernels", "topology"],
    "coll/tune": ["coll/scratch", "coll/shared", "coll/algorithms", "coll/model", "rma"],
    "coll": ["team", "rma", "kernels", "coll/algorithms", "coll/engine", "coll/shared", "coll/tune"],
    # The C face: public headers only. It may call what these declare, wherever that is defined (check_linker.py).
    "c": ["include"],
    "compat": ["include"],  # other APIs over the public headers alone
    "sim": ["coll/algorithms", "coll/model"],  # not in the library
    "conduits": ["core", "conduits/*"],  # the list of conduits: files directly in this folder
}
# Not in the library, or only its face: runtime includes every other folder.
OUTSIDE = ("c", "compat", "sim")
# The folders of programs. CMake takes every other folder with sources into the library (cmake/AqueductSources.cmake).
PROGRAMS = ["bench", "examples", "fuzz", "tests", "tools"]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
STANDARD = re.compile(r"[a-z_]+(\.h)?$")


def with_layers(arrows, root):
    """The arrows, those that folders of `root` bring with them, and runtime's, which lead to all of the library."""
    brought = {file.parent.name: file.read_text(encoding="utf-8").split() for file in root.glob("*/arrows")}
    arrows = {**brought, **arrows}
    if unknown := {(here, there) for here in brought for there in arrows[here] if there not in arrows}:
        sys.exit("".join(f"{here}/arrows: there is no folder {there}\n" for here, there in sorted(unknown)))
    return {**arrows, "runtime": [layer for layer in arrows if layer not in OUTSIDE]}


ARROWS = with_layers(ARROWS, pathlib.Path(__file__).resolve().parents[2])
FOLDERS = sorted({layer.split("/")[0] for layer in ARROWS})


def reach(layer):
    """All layers that `layer` may include, with `layer` itself."""
    found, todo = set(), [layer]
    while todo:
        here = todo.pop()
        if here not in found:
            found.add(here)
            todo += ARROWS[here]
    return found


def place(path):
    """The (layer, conduit) of a path relative to the root; layer is None if it is unrestricted or not in this tree."""
    parts = path.split("/")
    if parts[0] == "aqueduct":
        return "include", None
    if parts[0] not in FOLDERS or "tests" in parts:
        return None, None
    if parts[0] == "conduits" and len(parts) > 2:
        return "conduits/*", parts[1]
    if parts[0] == "coll" and len(parts) > 2:
        return f"coll/{parts[1]}", None
    return parts[0], None


def forbidden(here, there):
    """Returns why code at the place `here` may not use code at `there`; None if it may. Both are results of place()."""
    (layer, conduit), (to, to_conduit) = here, there
    if to not in reach(layer):
        return f"{layer} may include: {', '.join(sorted(reach(layer)))}"
    if conduit and to_conduit and conduit != to_conduit:
        return f"conduit {conduit} may not include conduit {to_conduit}"
    return None


def complaint(root, source, bracket, target):
    """Returns why `source` may not include `target`; None if it may."""
    layer, conduit = place(source)
    if layer not in ARROWS:
        return f"{layer}/ is not a room that the architecture knows"
    to, to_conduit = place(target)
    if layer == "include" and to != "include" and not (bracket == "<" and STANDARD.match(target)):
        return "a public header includes <aqueduct/…> and the standard library only"
    if bracket == '"' and not (root / target).is_file():
        return "not a path from the root of the repository"
    if to is None:
        first = target.split("/")[0]
        if first in ("tests", "tools", "examples", "fuzz", "bench") or "/tests/" in target:
            return f"the library does not include {first}/"
        return None
    return forbidden((layer, conduit), (to, to_conduit))


def check(root):
    """All violations below `root`, as lines of text, and the number of files read."""
    strange = {file.parent.name for file in root.glob("*/*.cpp")} - set(FOLDERS) - set(PROGRAMS)
    found, files = [f"{folder}/: it has no file `arrows`, and no line in tests/structure/check_arrows.py" for folder in sorted(strange)], 0
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            source = file.relative_to(root).as_posix()
            if file.suffix not in (".hpp", ".cpp", ".h") or place(source)[0] is None:
                continue
            files += 1
            for number, line in enumerate(file.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                why = complaint(root, source, *match.groups()) if match else None
                if why:
                    found.append(f"{source}:{number}: {line.strip()}: {why}")
    return found, files


# Each case: the file, what it includes, and whether that is allowed.
CASES = [
    ("core/a.hpp", "<aqueduct/rank.hpp>", True),
    ("core/a.hpp", '"am/x.hpp"', False),
    ("core/a.hpp", '"bootstrap/x.hpp"', False),
    ("core/a.cpp", '"nowhere.hpp"', False),
    ("core/a.cpp", '"tests/x.hpp"', False),
    ("bootstrap/a.cpp", '"core/x.hpp"', False),
    ("include/aqueduct/a.hpp", "<cstdint>", True),
    ("include/aqueduct/a.hpp", "<spdlog/spdlog.h>", False),
    ("include/aqueduct/a.hpp", '"core/x.hpp"', False),
    ("am/a.cpp", '"core/x.hpp"', True),
    ("am/a.cpp", '"rma/x.hpp"', False),
    ("rma/a.cpp", '"core/x.hpp"', True),
    ("rma/a.cpp", '"team/x.hpp"', False),
    ("team/a.cpp", '"am/x.hpp"', False),
    ("vis/a.cpp", '"am/x.hpp"', True),
    ("vis/a.cpp", '"kernels/x.hpp"', True),
    ("rma/a.cpp", '"kernels/x.hpp"', False),
    ("kernels/a.cpp", '"core/x.hpp"', False),
    ("coll/a.cpp", '"am/x.hpp"', True),
    ("coll/a.cpp", '"runtime/x.hpp"', False),
    ("coll/a.cpp", '"coll/engine/x.hpp"', True),
    ("coll/algorithms/a.cpp", '"coll/schedule/x.hpp"', True),
    ("coll/algorithms/a.cpp", '"coll/engine/x.hpp"', False),
    ("coll/algorithms/a.cpp", '"core/x.hpp"', False),
    ("coll/engine/deep/a.cpp", '"coll/scratch/x.hpp"', True),
    ("coll/engine/deep/a.cpp", '"coll/tune/x.hpp"', True),
    ("coll/tune/a.cpp", '"coll/engine/x.hpp"', False),
    ("coll/attic/a.cpp", '"core/x.hpp"', False),
    ("sim/a.cpp", '"coll/model/x.hpp"', True),
    ("sim/a.cpp", '"core/x.hpp"', False),
    ("c/a.cpp", "<aqueduct/rank.hpp>", True),
    ("c/a.cpp", '"core/x.hpp"', False),
    ("runtime/a.cpp", '"c/x.hpp"', False),
    ("include/aqueduct/c/a.h", "<stdint.h>", True),
    ("compat/gasnet/a.cpp", "<aqueduct/rank.hpp>", True),
    ("compat/gasnet/a.cpp", '"core/x.hpp"', False),
    ("conduits/udp/carrier/a.cpp", '"conduits/udp/x.hpp"', True),
    ("conduits/udp/carrier/a.cpp", '"conduits/smp/x.hpp"', False),
    ("conduits/smp/a.cpp", '"core/x.hpp"', True),
    ("conduits/smp/a.cpp", '"conduits/smp/x.hpp"', True),
    ("conduits/smp/a.cpp", '"conduits/loop/x.hpp"', False),
    ("conduits/smp/a.cpp", '"am/x.hpp"', False),
    ("conduits/smp/tests/a.cpp", '"conduits/loop/x.hpp"', True),
    ("conduits/builtin.cpp", '"conduits/loop/x.hpp"', True),
    ("conduits/builtin.cpp", '"runtime/x.hpp"', False),
    ("runtime/a.cpp", '"conduits/smp/x.hpp"', True),
    ("runtime/a.cpp", '"bootstrap/x.hpp"', True),
    ("runtime/a.cpp", '"coll/engine/x.hpp"', True),
    ("runtime/a.cpp", '"sim/x.hpp"', False),
    ("tools/a.cpp", '"runtime/x.hpp"', True),
]


def self_test():
    wrong = 0
    for source, include, allowed in CASES:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            names = [include.strip('"')] if include[0] == '"' and "nowhere" not in include else []
            for name in names + [source]:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("#pragma once\n")
            (root / source).write_text(f"#pragma once\n\n#include {include}\n")
            found, _ = check(root)
        expected = [] if allowed else [f"{source}:3"]
        if [":".join(line.split(":")[:2]) for line in found] != expected:
            wrong += 1
            print(f"self-test: {source} includes {include}: expected {expected}, found {found}")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("notice", "am", "fuzz"):
            pathlib.Path(folder, name).mkdir()
            pathlib.Path(folder, name, "a.cpp").write_text("")
        found, _ = check(pathlib.Path(folder))
    if [line.split(":")[0] for line in found] != ["notice/"]:
        wrong += 1
        print(f"self-test: only notice/ is a folder without arrows, but found {found}")
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "notice").mkdir()
        (root / "notice/arrows").write_text("am\nteam\n")
        known = with_layers({"am": ["core"], "core": [], "team": [], "sim": ["core"]}, root)
        (root / "notice/arrows").write_text("elsewhere\n")
        try:
            with_layers({"am": []}, root)
        except SystemExit as refused:
            known["refused"] = str(refused)
    if known != {"am": ["core"], "core": [], "team": [], "sim": ["core"], "notice": ["am", "team"],
                 "runtime": ["notice", "am", "core", "team"], "refused": "notice/arrows: there is no folder elsewhere\n"}:
        wrong += 1
        print(f"self-test: the arrows that a layer brings: {known}")
    print(f"self-test: {len(CASES) + 2} trees, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(checker.run(__doc__, check, self_test))
