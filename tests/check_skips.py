#!/usr/bin/env python3
"""A skipped test shows nothing. So only tests of a list may be skipped, and only where they cannot run.

  check_skips.py RESULTS.xml [LIST]

RESULTS.xml is what `ctest --output-junit` wrote. LIST (allowed-skips.txt beside this script) says which tests may be
skipped, and a command that succeeds where they could have run.
"""

import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree


def allowed(text):
    """[(pattern, command, reason)]"""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    out = []
    for line in lines:
        pattern, rest = line.split(" | ", 1)
        command, reason = rest.rsplit(" | ", 1)
        out.append((re.compile(pattern.strip()), command.strip(), reason.strip()))
    return out


def skipped(results):
    """Names of the tests that were skipped."""
    return [case.get("name") for case in xml.etree.ElementTree.parse(results).getroot().iter("testcase")
            if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled")]


def can_run(command, known={}):  # runs each command once
    if command not in known:
        known[command] = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60,
                                        stdin=subprocess.DEVNULL).returncode == 0
    return known[command]


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__)
        return 2
    rules = allowed(pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else
                                 pathlib.Path(__file__).with_name("allowed-skips.txt")).read_text(encoding="utf-8"))
    names, wrong = skipped(sys.argv[1]), 0
    for name in names:
        rule = next((rule for rule in rules if rule[0].search(name)), None)
        if rule is None:
            wrong += 1
            print(f"{name} was skipped, and tests/allowed-skips.txt does not name it")
        elif can_run(rule[1]):
            wrong += 1
            print(f"{name} was skipped, though it can run here: '{rule[1]}' succeeds")
        else:
            print(f"{name} was skipped: {rule[2]}")
    if wrong:
        print(f"{wrong} of {len(names)} skipped tests may not be: run them by `ctest --preset dev -V -R NAME` to see why")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
