#!/usr/bin/env python3
"""Compares Aqueduct's transfers of pieces with Open MPI's derived datatypes: over shared memory, then over loopback.

  bench/peers/mpi_vis/run.py [--setting shared|loopback] [--runs N] [--turns N] [--ms MS] [--only SHAPE] [--json|--markdown]

Both libraries take turns in one program, mpi_vis, which mpirun starts with two ranks; it checks the moved bytes. A ratio
is MPI's time divided by Aqueduct's: above 1 Aqueduct is ahead. With several runs --markdown prints the medians of the runs.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
PACKAGES = "apt-get install libopenmpi-dev openmpi-bin"

# mpirun's arguments, and Aqueduct's environment. Of Open MPI 4.1's components for windows only pt2pt works over btl
# tcp: rdma needs a btl with remote memory access and atomics, sm needs a shared host, ucx needs UCX.
SETTINGS = {
    "shared": ([], {}),
    "loopback": (["--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "osc", "pt2pt"],
                 {"AQUEDUCT_NEAR": "off", "AQUEDUCT_CONDUIT": "udp"}),
}
OPERATIONS = ("put", "get", "send")


def find_mpirun() -> str:
    """Open MPI's mpirun; Debian adds the suffix where several MPIs are installed."""
    found = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    if found is None:
        sys.exit(f"run.py: there is no mpirun. On Debian: {PACKAGES}")
    said = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    if "Open MPI" not in said and "OpenRTE" not in said:
        sys.exit(f"run.py: {found} is not Open MPI's, which the settings are for. On Debian: {PACKAGES}")
    return found


def start(mpirun: str, program: pathlib.Path, setting: str, more: list[str], capture: bool) -> str:
    """One run; returns its output if `capture`."""
    flags, aqueduct = SETTINGS[setting]
    exported = [word for name, value in aqueduct.items() for word in ("-x", f"{name}={value}")]
    command = [mpirun, "-n", "2", "--oversubscribe", "--bind-to", "core", *flags, *exported, str(program), *more]
    print("#", " ".join(command), file=sys.stderr, flush=True)
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(command, env={**os.environ, **allowed}, text=True, check=False,
                          stdout=subprocess.PIPE if capture else None)
    if done.returncode != 0:
        sys.exit(f"run.py: {setting}: ended with {done.returncode}{': ' + done.stdout[-300:] if done.stdout else ''}")
    return done.stdout or ""


def size(count: int) -> str:
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if count % (1 << shift) == 0:
            return f"{count >> shift} {unit}"
    return f"{count} B"


def microseconds(ns: float) -> str:
    return f"{ns / 1e3:.3g}" if ns < 1e6 else f"{ns / 1e3:.0f}"


def print_markdown(rows: list[dict]) -> None:
    """One line per shape and size, with all operations: both times in µs, and the median ratio of the runs."""
    print("| pieces | bytes |" + "".join(f" {name}: MPI / ours, µs | ratio |" for name in OPERATIONS))
    print("| --- " * (2 + 2 * len(OPERATIONS)) + "|")
    behind = 0
    for shape, count in dict.fromkeys((row["shape"], row["bytes"]) for row in rows):
        cells = []
        for operation in OPERATIONS:
            same = [row for row in rows if (row["shape"], row["bytes"], row["op"]) == (shape, count, operation)]
            mpi, ours, ratio = (statistics.median(row[key] for row in same) for key in ("mpi_ns", "ours_ns", "ratio"))
            behind += ratio < 1
            cells += [f"{microseconds(mpi)} / {microseconds(ours)}", f"{ratio:.2f}" + (" **behind**" if ratio < 1 else "")]
        print(f"| {shape} | {size(count)} | " + " | ".join(cells) + " |")
    print(f"\nbehind in {behind} rows of {len({(row['shape'], row['bytes'], row['op']) for row in rows})}\n", flush=True)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", help="mpi_vis's folder")
    arguments.add_argument("--setting", choices=SETTINGS, help="one of them; otherwise both")
    arguments.add_argument("--runs", type=int, default=1, help="of the program in each setting")
    arguments.add_argument("--turns", type=int, default=7, help="of each library in each row of a run")
    arguments.add_argument("--ms", type=int, default=30, help="of a turn")
    arguments.add_argument("--only", default="", help="shapes that have this in their name")
    form = arguments.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one object per line")
    form.add_argument("--markdown", action="store_true", help="the tables of docs/performance.md")
    options = arguments.parse_args()
    mpirun = find_mpirun()
    program = options.bin / "mpi_vis"
    if not program.exists():
        sys.exit(f"run.py: there is no {program}. It is built (./aq build) where MPI is installed. On Debian: {PACKAGES}")
    more = ["--turns", str(options.turns), "--ms", str(options.ms), "--only", options.only]
    for setting in [options.setting] if options.setting else SETTINGS:
        rows: list[dict] = []
        if not options.json:
            print(f"\n{setting}", flush=True)
        for _ in range(options.runs):
            if not options.json and not options.markdown:
                start(mpirun, program, setting, more, capture=False)
                continue
            said = start(mpirun, program, setting, ["--json", *more], capture=True)
            new = [{"setting": setting, **json.loads(line)} for line in said.splitlines() if line.startswith("{")]
            rows += new
            for row in new if options.json else []:  # at once, in case the time runs out
                print(json.dumps(row), flush=True)
        if options.markdown:
            print_markdown(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
