#!/usr/bin/env python3
"""Measures how long jobs take to start and end under Open MPI's mpirun, compared with programs that only use PMIx.

  bench/start_under_mpirun.py [--lib build/release/lib] [--ranks 2 16 64] [--turns 11]

The programs take turns. Prints medians of the time until mpirun has ended, and of the processor time of mpirun and all
ranks. Both cores should be idle otherwise: with more ranks than cores, most of the time is processor time.
"""

import argparse
import os
import pathlib
import resource
import shlex
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def compile_programs(lib):
    """The commands, by their names in the table."""
    folder = lib.parent / "start"
    folder.mkdir(exist_ok=True)
    pmix = shlex.split(subprocess.check_output(["pkg-config", "--cflags", "--libs", "pmix"], text=True))
    subprocess.check_call(["cc", "-O2", ROOT / "bench/start_empty.c", "-o", folder / "empty", *pmix])
    subprocess.check_call(["c++", "-std=c++20", "-O2", ROOT / "bench/start_job.cpp", "-o", folder / "job",
                           f"-I{ROOT / 'include'}", f"-L{lib}", "-laqueduct", f"-Wl,-rpath,{lib}"])
    return {"empty": [folder / "empty"], "meet": [folder / "empty", "meet"], "Aqueduct": [folder / "job"]}


def run(ranks, command):
    """Milliseconds until the command has ended, and of processor time."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    before, began = used(), time.monotonic()
    subprocess.run(["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *map(str, command)],
                   env=environment, check=True, timeout=60, stdout=subprocess.DEVNULL)
    return (time.monotonic() - began) * 1e3, (used() - before) * 1e3


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--lib", type=pathlib.Path, default=ROOT / "build/release/lib")
    options.add_argument("--ranks", type=int, nargs="+", default=[2, 16, 64])
    options.add_argument("--turns", type=int, default=11)
    options = options.parse_args()
    if not (options.lib / "libaqueduct.so").exists():
        sys.exit(f"start_under_mpirun.py: no libaqueduct.so in {options.lib}; build first (./aq build), or name its folder")
    commands = compile_programs(options.lib.resolve())
    print("| ranks | empty PMIx program | one that meets | Aqueduct | ratio to empty | to one that meets | ratio of processor time |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for ranks in options.ranks:
        times = {name: [] for name in commands}
        for _ in range(options.turns):
            for name, command in commands.items():
                times[name].append(run(ranks, command))
        wall, processor = ({name: statistics.median(pair[i] for pair in pairs) for name, pairs in times.items()}
                           for i in (0, 1))
        print(f"| {ranks} | {wall['empty']:.0f} ms | {wall['meet']:.0f} ms | {wall['Aqueduct']:.0f} ms | "
              f"{wall['Aqueduct'] / wall['empty']:.2f} | {wall['Aqueduct'] / wall['meet']:.2f} | "
              f"{processor['Aqueduct'] / processor['empty']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
