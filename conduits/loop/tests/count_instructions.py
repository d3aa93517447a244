#!/usr/bin/env python3
"""Counts the instructions of collective calls over loop, beside a put (callgrind).

count_instructions.py PROGRAM     exit status 1: more than the goal, 77: no valgrind here
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tests/support"))

import callgrind  # noqa: E402

# A start is counted at a member that has nothing to do yet, to the return: so it is the start alone, without a step. A step is
# counted beyond a put with signal of the same bytes. Issue 17 asks for 200, 200 and 100, and issue 18 for a plan's start of
# 0.7 of a call's. Measured: 198, 139 and 24 (44 while each step asked a conduit that maps no memory).
GOALS = {"start": 200, "plan_start": 140, "step_beyond_its_put": 45}


def count() -> dict[str, float]:
    counted = {name: callgrind.of_function(sys.argv[1], f"count_{name}", "--fair-sched=try")
               for name in ("start", "plan_start", "two_puts", "six_puts", "put")}
    print(", ".join(f"{name} {number:.0f}" for name, number in counted.items()))
    return {"start": counted["start"], "plan_start": counted["plan_start"],
            "step_beyond_its_put": (counted["six_puts"] - counted["two_puts"]) / 4 - counted["put"]}


if __name__ == "__main__":
    sys.exit(callgrind.judge(GOALS, count))
