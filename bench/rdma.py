#!/usr/bin/env python3
"""Prints docs/performance.md's table of ibv: compared with perftest, bare verbs, ofi over verbs and ucx over rc, in turns on one machine.

bench/rdma.py [--bin FOLDER] [--turns N] [--seconds S] [--json FILE]      on a machine with an RDMA device, or:
../shared/rdma-vm -- bench/rdma.py

Needs perftest (apt-get install perftest). Medians of the turns; perftest's own figures are its medians.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PORT = 18515  # perftest's own
OTHERS = {"ofi": {"AQUEDUCT_OFI_PROVIDER": "verbs;ofi_rxm"}, "ucx": {"AQUEDUCT_UCX_TRANSPORTS": "rc_v,self"}}

# what, aqperf's arguments, perftest's program and arguments, what its figure is multiplied by, goal for us / perftest
LATENCY, RATE = "latency", "rate"
ROWS = [
    ("8 B put there and back, seen in memory", "put-pingpong", ["ib_write_lat", "-s", "8"], 2, LATENCY, 1.05),
    ("8 B put with signal there and back", "signal-latency", None, 1, LATENCY, 1.05),
    ("8 B put until complete", "put-latency --bytes 8", None, 1, LATENCY, 1.05),
    ("8 B get", "get-latency --bytes 8", ["ib_read_lat", "-s", "8"], 1, LATENCY, 1.05),
    ("AM short and its reply", "am-latency --bytes 0", ["ib_send_lat", "-s", "8"], 2, LATENCY, 1.05),
    ("fetch-and-add", "atomic-latency", ["ib_atomic_lat", "-A", "FETCH_AND_ADD"], 1, LATENCY, 1.05),
    ("64 KiB puts", "put-bandwidth --bytes 64K", ["ib_write_bw", "-s", "65536"], 2**20, RATE, 0.97),
    ("1 MiB puts", "put-bandwidth --bytes 1M", ["ib_write_bw", "-s", "1048576"], 2**20, RATE, 0.97),
    ("8 B puts, window 64", "put-rate --bytes 8", None, 1, RATE, 0.97),
    ("AM short, one way", "am-rate --bytes 0", None, 1, RATE, 0.97),
]


def device() -> tuple[str, str]:
    """The device, and the index of its RoCE v2 address with IPv4, which ibv uses too."""
    name = os.environ.get("RDMA_DEVICE") or sorted(os.listdir("/sys/class/infiniband"))[0]
    gids = pathlib.Path(f"/sys/class/infiniband/{name}/ports/1/gids")
    for index in sorted(gids.iterdir(), key=lambda path: int(path.name)):
        if index.read_text().startswith("0000:0000:0000:0000:0000:ffff:"):
            return name, index.name
    return name, "0"


def listens(port: int) -> bool:
    tables = [pathlib.Path(f"/proc/net/{name}") for name in ("tcp", "tcp6")]
    lines = [line.split() for table in tables if table.exists() for line in table.read_text().splitlines()[1:]]
    return any(line[1].endswith(f":{port:04X}") and line[3] == "0A" for line in lines)


def perftest(program: list[str], latency: bool) -> float | None:
    """perftest's figure: the median in µs, or the average in MiB/s. Server and client are one rank each, on this host."""
    name, gid = device()
    command = program + ["-d", name, "-x", gid, "-F", "-n", "2000" if latency else "600"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            until = time.monotonic() + 20
            while not listens(PORT) and server.poll() is None and time.monotonic() < until:
                time.sleep(0.02)
            done = subprocess.run(command + ["localhost"], capture_output=True, text=True, timeout=60, check=False)
            server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
            return None
    rows = [line.split() for line in done.stdout.splitlines() if line.split() and line.split()[0].isdigit()]
    if done.returncode != 0 or not rows:
        print(f"{' '.join(command)}: {done.stdout[-300:]}{done.stderr[-300:]}", file=sys.stderr)
        return None
    # A line is: #bytes #iterations t_min t_max t_typical …, or #bytes
    # #iterations peak average …; an atomic's is the same
    return float(rows[-1][4] if latency else rows[-1][3])


def aqperf(folder: str, arguments: str, conduit: str, seconds: str) -> dict:
    command = [f"{folder}/aqperf", *arguments.split(), "--conduit", conduit, "--json", "--seconds", seconds]
    if conduit == "ibv":
        command += ["--vs", "raw"]
    try:
        done = subprocess.run(command, env={**os.environ, "AQUEDUCT_NEAR": "off", **OTHERS.get(conduit, {})},
                              capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        print(f"{' '.join(command)}: not over after two minutes", file=sys.stderr)
        return {}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        print(f"{' '.join(command)}: {done.stderr[-300:]}", file=sys.stderr)
        return {}
    return json.loads(lines[-1])


def middle(values: list) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def text(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    scale, name = {"s": (1e6, "µs"), "B/s": (1e-6, "MB/s"), "1/s": (1e-3, "k/s")}.get(unit, (1, unit))
    return f"{value * scale:.4g} {name}"


def ratio(mine: float | None, other: float | None) -> str:
    return "-" if not mine or not other else f"{mine / other:.3f}"


def verdict(mine: float | None, other: float | None, kind: str, goal: float) -> str:
    """Compared with perftest, or with bare verbs where perftest has no such test."""
    if not mine or not other:
        return "not measured"
    held = mine / other <= goal if kind == LATENCY else mine / other >= goal
    return "reached" if held else "**missed**"


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    arguments.add_argument("--turns", type=int, default=3)
    arguments.add_argument("--seconds", default="1", help="of each aqperf row")
    arguments.add_argument("--json", help="every turn's figures go to this file")
    options = arguments.parse_args()
    found: list[dict[str, list]] = [{} for _ in ROWS]
    units = [""] * len(ROWS)
    for _ in range(options.turns):
        for i, (_, bench, program, factor, kind, _) in enumerate(ROWS):
            note = lambda who, value, row=found[i]: row.setdefault(who, []).append(value)
            if program is not None:
                value = perftest(program, kind == LATENCY)
                note("perftest", None if value is None else value * factor * (1e-6 if kind == LATENCY else 1))
            for conduit in ("ibv", *OTHERS):
                line = aqperf(options.bin, bench, conduit, options.seconds)
                to_units = {"us": 1e-6, "ns": 1e-9, "MB/s": 1e6, "M/s": 1e6}
                scale = to_units[line["unit"]] if line else 1
                note(conduit, line["median"] * scale if line else None)
                if conduit == "ibv":
                    note("raw", line["raw"] * scale if line.get("raw") else None)
                units[i] = "s" if kind == LATENCY else "B/s" if "bandwidth" in bench else "1/s"
            if options.json:  # at once, in case the time runs out
                rows = [{"what": row[0], **each} for row, each in zip(ROWS, found)]
                pathlib.Path(options.json).write_text(json.dumps(rows, indent=1), encoding="utf-8")
    print("| what | ibv | perftest | ibv / perftest | bare verbs | ibv / bare | goal | | ofi | ucx |\n" + "| --- " * 10 + "|")
    for (what, _, _, _, kind, goal), each, unit in zip(ROWS, found, units):
        mine, of_perftest, raw = (middle(each.get(who, [])) for who in ("ibv", "perftest", "raw"))
        print("| " + " | ".join([what, text(mine, unit), text(of_perftest, unit), ratio(mine, of_perftest), text(raw, unit),
                                 ratio(mine, raw), f"{'≤' if kind == LATENCY else '≥'} {goal}",
                                 verdict(mine, of_perftest or raw, kind, goal),
                                 *(text(middle(each.get(who, [])), unit) for who in OTHERS)]) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
