#!/usr/bin/env python3
"""Counts the instructions of an 8-byte put over ibv, from the call to the doorbell (callgrind, over the mock network).

count_instructions.py PROGRAM PLUGIN     exit status 1: more than the goal, 77: no valgrind here
"""

import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

# To the doorbell issue 5 wants 250. The other is counted to the return, and shall not grow.
GOALS = {"lone_put": 250, "burst_put": 320}
DOORBELL = "mock::Calls::post_send"


def profiles(program: str, plugin: str, *options: str) -> tuple[list[str], str]:
    """What callgrind wrote, and what the program printed."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {"AQUEDUCT_CONDUIT": plugin, "AQUEDUCT_NEAR": "off"}
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", "--collect-atstart=no",
             "--compress-strings=no", "--compress-pos=no", *options, program],
            env={**os.environ, **settings}, capture_output=True, text=True, timeout=110, check=False)
        if done.returncode != 0:
            sys.exit(f"{program} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return [file.read_text(encoding="utf-8") for file in pathlib.Path(folder).iterdir()], done.stdout


def total(profile: str) -> int:
    return int(re.search(r"^totals: (\d+)", profile, re.MULTILINE).group(1))


def lone_put(program: str, plugin: str) -> float:
    """From the call until the doorbell is called: a profile each time, begun anew at each call."""
    found, _ = profiles(program, plugin, "--toggle-collect=lone_put", "--zero-before=lone_put",
                        f"--dump-before=*{DOORBELL}*")
    return statistics.median(total(profile) for profile in found if "fn=lone_put" in profile)


def burst_put(program: str, plugin: str) -> float:
    """Of each put of a burst, with its share of the doorbell's call, to its return."""
    found, printed = profiles(program, plugin, "--toggle-collect=burst_put")
    lines = max(found, key=total).splitlines()
    # The line of a call is followed by one with what all of them cost.
    below = sum(int(lines[i + 2].split()[1]) for i, line in enumerate(lines)
                if line.startswith("cfn=") and DOORBELL in line)
    return (max(map(total, found)) - below) / int(printed)


def main() -> int:
    if shutil.which("valgrind") is None:
        print("skipped: there is no valgrind here")
        return 77
    program, plugin = (os.path.abspath(path) for path in sys.argv[1:3])
    status = 0
    for count in lone_put, burst_put:
        found = count(program, plugin)
        print(f"{count.__name__}: {found:.0f} instructions (at most {GOALS[count.__name__]})")
        status |= found > GOALS[count.__name__]
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
