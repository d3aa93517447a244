#!/usr/bin/env python3
"""Runs the judge on a short row that compares Aqueduct with itself, from the start of the jobs to the written table.

  beside_itself.py BIN [--level]

BIN holds the programs. A test must not depend on times, so any verdict is accepted. With --level the verdict has to be "level"
as well; use that by hand, on a quiet machine, to see whether the judge is biased. An interval of 95 % misses in one case of
twenty, and two jobs of one program may differ by some per cent because their memory lies elsewhere, so three attempts are
allowed. A job that hangs or does not start on a busy machine is tried again as well.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

JUDGE = pathlib.Path(__file__).resolve().parents[1] / "judge.py"
ATTEMPTS = 3


def mistake(out, said, level):
    """What is wrong with the results in the folder `out`, or None. `said` is what the judge printed."""
    for name in ("table.md", "plot.svg", "table.json"):
        path = pathlib.Path(out, name)
        if not path.exists() or path.stat().st_size == 0:
            return f"{name} was not written"
    table = json.loads(pathlib.Path(out, "table.json").read_text(encoding="utf-8"))
    counted, compared = table["counted"], table["comparisons"]
    if not compared or sum(counted.values()) != len(compared):
        return f"{len(compared)} comparisons, but these verdicts: {counted}"
    for comparison in compared:
        figures = [*comparison["ours"], *comparison["theirs"], comparison["verdict"]["ratio"]]
        if not all(math.isfinite(figure) and figure > 0 for figure in figures):
            return f"a figure is not a time: {comparison}"
    last = said.splitlines()[-1]
    expected = f"{counted['ahead']} ahead, {counted['level']} level, {counted['behind']} behind"
    if last != expected:
        return f"the last line is '{last}', where '{expected}' was expected"
    if level and (counted["level"] == 0 or counted["ahead"] + counted["behind"] > 0):
        return f"Aqueduct beside itself is not level: {expected}"
    return None


def attempt(programs, level):
    """What went wrong, or None, and what the judge printed."""
    with tempfile.TemporaryDirectory() as out:
        words = [sys.executable, JUDGE, "--bin", programs, "--peers", "self", "--rows", "smp/2/am-medium/64", "--ms", "5", "--out", out]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=100, check=False)
        except subprocess.TimeoutExpired:
            return "not done in 100 s", ""
        said = done.stdout + done.stderr
        if done.returncode != 0:
            return f"exit code {done.returncode}", said
        return mistake(out, done.stdout, level), said


def main():
    level = "--level" in sys.argv[2:]
    for number in range(ATTEMPTS):
        wrong, said = attempt(sys.argv[1], level)
        print(said)
        if wrong is None:
            return 0
        print(f"FAILED attempt {number + 1} of {ATTEMPTS}: {wrong}", flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
