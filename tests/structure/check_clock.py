#!/usr/bin/env python3
"""Holds that core and the layers read the endpoint's clock (core/clock.hpp) and no other.

  check_clock.py ROOT          prints file:line of each violation; exit status 1 if there is one
  check_clock.py --self-test   shows that violations are found and nothing else is
"""

import pathlib
import re
import sys

# Conduits follow with the next revision of their interface, which hands them the clock (core::Process::clock).
FOLDERS = ["core", "am", "rma", "vis", "coll", "team", "runtime", "kernels"]
ALLOWED = ["core/clock.hpp"]
OTHER_CLOCK = re.compile(r"\b(steady_clock|system_clock|high_resolution_clock|Clock::now|clock_gettime|gettimeofday)\b")
COMMENT = re.compile(r"//.*")


def violations(name, text):
    if name in ALLOWED:
        return []
    return [f"{name}:{number}: {line.strip()}: reads a clock of its own; use EndpointState::clock"
            for number, line in enumerate(text.splitlines(), 1) if OTHER_CLOCK.search(COMMENT.sub("", line))]


def self_test():
    assert violations("core/wait.cpp", "auto now = std::chrono::steady_clock::now();\n") != []
    assert violations("rma/a.cpp", "x = core::Clock::now();\n") != []
    assert violations("rma/a.cpp", "core::Clock::time_point at{};\nat = state.clock.now();  // not steady_clock\n") == []
    assert violations("core/clock.hpp", "using Clock = std::chrono::steady_clock;\n") == []
    print("self-test: good")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    root = pathlib.Path(sys.argv[1])
    files = [file for folder in FOLDERS for file in sorted((root / folder).rglob("*.?pp"))]
    found = [line for file in files for line in violations(file.relative_to(root).as_posix(), file.read_text())]
    print("\n".join(found + [f"{len(files)} files, {len(found)} clocks of their own"]))
    return bool(found) or not files


if __name__ == "__main__":
    sys.exit(main())
