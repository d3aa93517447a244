#!/usr/bin/env python3
"""Counts the instructions of an 8-byte put over ibv, from the call to the doorbell (callgrind, over the mock network).

count_instructions.py PROGRAM PLUGIN     exit status 1: more than the goal, 77: no valgrind here
"""

import os
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tests/support"))

import callgrind  # noqa: E402

# To the doorbell issue 5 wants 250. The other is counted to the return, and shall not grow.
GOALS = {"lone_put": 250, "burst_put": 320}
DOORBELL = "mock::Calls::post_send"


def profiles(program: str, plugin: str, *options: str) -> tuple[list[str], str]:
    return callgrind.profiles(program, "--collect-atstart=no", "--compress-strings=no", "--compress-pos=no", *options,
                              settings={"AQUEDUCT_CONDUIT": plugin, "AQUEDUCT_NEAR": "off"})


def lone_put(program: str, plugin: str) -> float:
    """From the call until the doorbell is called: a profile each time, begun anew at each call."""
    found, _ = profiles(program, plugin, "--toggle-collect=lone_put", "--zero-before=lone_put",
                        f"--dump-before=*{DOORBELL}*")
    return statistics.median(callgrind.total(profile) for profile in found if "fn=lone_put" in profile)


def burst_put(program: str, plugin: str) -> float:
    """Of each put of a burst, with its share of the doorbell's call, to its return."""
    found, printed = profiles(program, plugin, "--toggle-collect=burst_put")
    lines = max(found, key=callgrind.total).splitlines()
    # The line of a call is followed by one with what all of them cost.
    below = sum(int(lines[i + 2].split()[1]) for i, line in enumerate(lines)
                if line.startswith("cfn=") and DOORBELL in line)
    return (max(map(callgrind.total, found)) - below) / int(printed)


def count() -> dict[str, float]:
    program, plugin = (os.path.abspath(path) for path in sys.argv[1:3])
    return {one.__name__: one(program, plugin) for one in (lone_put, burst_put)}


if __name__ == "__main__":
    sys.exit(callgrind.judge(GOALS, count))
