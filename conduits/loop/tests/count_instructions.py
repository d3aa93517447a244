#!/usr/bin/env python3
"""Counts the instructions of collective calls over loop, beside a put (callgrind).

count_instructions.py PROGRAM     exit status 1: more than the goal, 77: no valgrind here
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# A start is counted at a member that has nothing to do yet, to the return: so it is the start alone, without a step. A step is
# counted beyond a put with signal of the same bytes. Issue 17 asks for 200, 200 and 100, and issue 18 for a plan's start of
# 0.7 of a call's. Measured: 198, 139 and 44.25.
GOALS = {"start": 200, "plan_start": 140, "step_beyond_its_put": 45}


def instructions(program: str, function: str) -> float:
    """Of each call of a function, with all that it calls."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--fair-sched=try", f"--callgrind-out-file={folder}/out",
             f"--toggle-collect={function}", program],
            env={name: value for name, value in os.environ.items() if not name.startswith("AQUEDUCT_")},
            capture_output=True, text=True, timeout=110, check=False)
        if done.returncode != 0:
            sys.exit(f"{program} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        profiles = [file.read_text(encoding="utf-8") for file in pathlib.Path(folder).iterdir()]
    totals = [int(re.search(r"^(?:totals|summary): (\d+)", profile, re.MULTILINE).group(1)) for profile in profiles]
    return max(totals) / int(done.stdout)


def main() -> int:
    if shutil.which("valgrind") is None:
        print("skipped: there is no valgrind here")
        return 77
    program = os.path.abspath(sys.argv[1])
    counted = {name: instructions(program, f"count_{name}") for name in ("start", "plan_start", "two_puts", "six_puts", "put")}
    print(", ".join(f"{name} {count:.0f}" for name, count in counted.items()))
    found = {"start": counted["start"], "plan_start": counted["plan_start"],
             "step_beyond_its_put": (counted["six_puts"] - counted["two_puts"]) / 4 - counted["put"]}
    for name, count in found.items():
        print(f"{name}: {count:.0f} instructions (at most {GOALS[name]})")
    return int(any(count > GOALS[name] for name, count in found.items()))


if __name__ == "__main__":
    sys.exit(main())
