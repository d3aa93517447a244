#!/usr/bin/env python3
"""Counts the instructions of the GASNet layer's atomics and short transfers of pieces on mapped memory (callgrind).

count_instructions.py AQRUN PROGRAM     exit status 1: more than a goal, 77: no valgrind here
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import callgrind  # noqa: E402

# An atomic above Aqueduct's own, which is inline in the program; and transfers of 8 pieces of 8 bytes, of which Aqueduct's own takes
# 1,850 (put_list). Measured: -15, -8, 39, 235, 159, 154 and 221, the same each time. The limits keep them from
# getting worse.
ABOVE = {"nb_number": "own_number", "nb_real": "own_real"}
GOALS = {"nb_number_above": -10, "nb_real_above": -3, "nbi_number": 45, "put_vector": 245, "put_list": 168, "got_list": 163,
         "put_strided": 231}


def count() -> dict[str, float]:
    aqrun, program = sys.argv[1:]
    names = [*ABOVE, *ABOVE.values(), *(name for name in GOALS if not name.endswith("_above"))]
    counted = callgrind.of_functions(program, tuple(f"count_{name}" for name in names),
                                     launcher=(aqrun, "--timeout", "100", "-n", "2", "--conduit", "smp"))
    found = {name: counted[f"count_{name}"] for name in names}
    for name, own in ABOVE.items():
        found[f"{name}_above"] = found[name] - found[own]
    return {name: found[name] for name in GOALS}


if __name__ == "__main__":
    sys.exit(callgrind.judge(GOALS, count))
