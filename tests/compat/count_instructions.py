#!/usr/bin/env python3
"""Counts the instructions of the GASNet layer's atomics and short transfers of pieces on mapped memory (callgrind).

count_instructions.py AQRUN PROGRAM     exit status 1: more than a goal, 77: no valgrind here
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import callgrind  # noqa: E402

# An atomic, and Aqueduct's own beside it, which is inline in the program too and looks at the address; and transfers of 8 pieces of 8 bytes, of
# which Aqueduct's own takes 1,850 (put_list). The limits keep them from getting worse.
GOALS = {"nb_number": 42, "own_number": 57, "nb_real": 54, "own_real": 61, "nbi_number": 45, "put_vector": 245, "put_list": 168, "got_list": 163,
         "put_strided": 231}


def count() -> dict[str, float]:
    aqrun, program = sys.argv[1:]
    counted = callgrind.of_functions(program, tuple(f"count_{name}" for name in GOALS),
                                     launcher=(aqrun, "--timeout", "100", "-n", "2", "--conduit", "smp"))
    return {name: counted[f"count_{name}"] for name in GOALS}


if __name__ == "__main__":
    sys.exit(callgrind.judge(GOALS, count))
