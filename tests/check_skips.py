#!/usr/bin/env python3
"""A skipped test shows nothing. So only tests of a list may be skipped, and only where they cannot run.

  check_skips.py RESULTS.xml [LIST]
  check_skips.py --self-test   shows that skips are found, and that the list beside this script can be read

RESULTS.xml is what `ctest --output-junit` wrote. LIST (allowed-skips.txt beside this script) says which tests may be
skipped, and a command that succeeds where they could have run.
"""

import io
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

LIST = pathlib.Path(__file__).with_name("allowed-skips.txt")


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


def check(results, rules):
    """Prints a line for each skipped test; returns how many may not be."""
    names, wrong = skipped(results), 0
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
    return wrong


def self_test():
    results = """<testsuite>
      <testcase name="unit.Ran" status="run"/>
      <testcase name="unit.SaidSo" status="notrun"><skipped message="no reason"/></testcase>
      <testcase name="unit.CannotRun" status="notrun"/>
      <testcase name="unit.IsOff" status="disabled"/>
    </testsuite>"""

    def wrong_by(text):
        return check(io.StringIO(results), allowed(text))

    assert wrong_by("") == 3, "no rule names them"
    assert wrong_by("# a comment\n\nunit\\. | false | it cannot run here\n") == 0
    assert wrong_by("unit\\. | true || false | it can\n") == 3, "the command succeeds, so they could have run"
    assert wrong_by("SaidSo | false | it cannot\nCannotRun | true | it can\n") == 2
    for pattern, command, reason in allowed(LIST.read_text(encoding="utf-8")):
        assert pattern.pattern and command and reason
        assert not pattern.search("unit.Ran") and not pattern.search("conformance.loop"), pattern.pattern
        assert subprocess.run(["bash", "-n", "-c", command], check=False).returncode == 0, command
    print("self-test: good")
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) not in (2, 3):
        print(__doc__)
        return 2
    chosen = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else LIST
    return check(sys.argv[1], allowed(chosen.read_text(encoding="utf-8"))) != 0


if __name__ == "__main__":
    sys.exit(main())
