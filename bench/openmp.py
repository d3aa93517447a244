#!/usr/bin/env python3
"""Measures a reduce of 64-bit numbers to one rank beside OpenMP's array reduction, with as many ranks as threads.

  bench/openmp.py [--build build/release] [--ranks 2] [--bytes 8,4096,65536,1048576] [--turns 5] [--seconds 0.2]

Compiles bench/openmp.c with `cc -O3 -fopenmp`, runs it and `aqperf coll-reduce` in turns, and prints medians over the turns. The
ranks are threads of one process, as OpenMP's are; both sides write their inputs once. Exit status 77: the machine cannot, as without a compiler that has OpenMP.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
STACK = {"OMP_STACKSIZE": "64M"}  # each thread's copy of the array is on its stack

LIMITED = ["prlimit", "--stack=67108864"]


def ours(aqperf, ranks, bytes_, seconds):
    said = subprocess.check_output([aqperf, "coll-reduce", "--threads", str(ranks), "--bytes", str(bytes_), "--seconds", str(seconds),
                                    "--json"], text=True, env=os.environ | {"AQUEDUCT_CONDUIT": "smp"})
    return json.loads(said.splitlines()[-1])["median"]


def theirs(program, ranks, bytes_, seconds):
    # As its documentation says where threads share processors.
    policy = {"OMP_WAIT_POLICY": "passive"} if ranks > len(os.sched_getaffinity(0)) else {}
    command = [*LIMITED, program, str(ranks), str(bytes_ // 8), str(seconds * 1000)]
    return float(subprocess.check_output(command, text=True, env=os.environ | STACK | policy))


def has_openmp():
    try:
        subprocess.run([*LIMITED, "true"], check=True, capture_output=True)
        subprocess.run(["cc", "-fopenmp", "-x", "c", "-fsyntax-only", "-"], input=b"#include <omp.h>\n", check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    options.add_argument("--ranks", type=int, default=2)
    options.add_argument("--bytes", default="8,4096,65536,1048576")
    options.add_argument("--turns", type=int, default=5)
    options.add_argument("--seconds", type=float, default=0.2)
    options = options.parse_args()
    aqperf = options.build.resolve() / "bin/aqperf"
    sizes = [int(size) for size in options.bytes.split(",")]
    if not aqperf.exists():
        sys.exit(f"openmp.py: no aqperf in {options.build}; build first (./aq build), or name its folder")
    if options.ranks < 1 or options.turns < 1 or any(size < 8 or size % 8 for size in sizes):
        sys.exit("openmp.py: --ranks and --turns are 1 or more, and --bytes multiples of 8, such as 8,4096")
    with tempfile.TemporaryDirectory() as work:
        program = pathlib.Path(work, "openmp")
        if not has_openmp():
            print("openmp.py: there is no cc with OpenMP, no prlimit, or the hard limit of the stack is below 64 MiB (ulimit -H -s); on "
                  "Debian: apt-get install gcc util-linux")
            return 77
        subprocess.run(["cc", "-std=c11", "-O3", "-Wall", "-Wextra", "-fopenmp", ROOT / "bench/openmp.c", "-o", program], check=True)
        print("| bytes | reduce, ns | OpenMP, ns | ratio |\n| --- | --- | --- | --- |")
        for size in sizes:
            pairs = [(ours(aqperf, options.ranks, size, options.seconds), theirs(program, options.ranks, size, options.seconds))
                     for _ in range(options.turns)]
            mine, other = (statistics.median(column) for column in zip(*pairs))
            ratio = statistics.median(a / b for a, b in pairs)
            print(f"| {size} | {mine:.0f} | {other:.0f} | {ratio:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
