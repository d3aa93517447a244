#!/usr/bin/env python3
"""Counts the instructions of messages over shared memory, between two ranks on one thread (callgrind).

count_instructions.py PROGRAM     exit status 1: more than the goal, 77: no valgrind here
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tests/support"))

import callgrind  # noqa: E402

# A round trip of a short message is the request, the round of progress in which its handler replies, and the one in which
# the reply's handler runs. Issue 22 asks for 200 of a message, on both sides together: a request and a round of progress
# that runs a handler, which are 175 and 261 here. Measured: 862, 843 and 94; 1335, 1240 and 140 before the short ways of
# am/quickly.hpp. These limits keep it from getting worse.
GOALS = {"short_round_trip": 880, "medium_there": 850, "nothing": 100}
FUNCTIONS = ("count_request", "count_handle", "count_answer", "count_nothing", "count_medium_request",
             "count_medium_handle")


def count() -> dict[str, float]:
    counted = callgrind.of_functions(sys.argv[1], FUNCTIONS)
    print(", ".join(f"{name} {number:.0f}" for name, number in counted.items()))
    return {"short_round_trip": counted["count_request"] + counted["count_handle"] + counted["count_answer"],
            "medium_there": counted["count_medium_request"] + counted["count_medium_handle"],
            "nothing": counted["count_nothing"]}


if __name__ == "__main__":
    sys.exit(callgrind.judge(GOALS, count))
