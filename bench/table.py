#!/usr/bin/env python3
"""Prints aqperf's JSON lines (standard input) as a table."""

import json
import sys

HEAD = ("what", "over", "ranks", "bytes", "median", "p99", "raw", "ratio", "unit")


def size(count):
    for unit, shift in (("Mi", 20), ("Ki", 10)):
        if count >= 1 << shift and count % (1 << shift) == 0:
            return f"{count >> shift} {unit}B"
    return f"{count} B"


def number(value):
    return "-" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def row(line):
    data = json.loads(line)
    raw = data.get("raw")
    return (data["bench"], data["conduit"], str(data["ranks"]), size(data["bytes"]), number(data["median"]), number(data["p99"]),
            number(raw), number(data.get("ratio")), data["unit"])


def main():
    rows = [HEAD] + [row(line) for line in sys.stdin if line.startswith("{")]
    if len(rows) == 1:
        print("no measurements")
        return 1
    widths = [max(len(r[i]) for r in rows) for i in range(len(HEAD))]
    for cells in rows:
        print("  ".join(c.ljust(w) if i in (0, 1, len(HEAD) - 1) else c.rjust(w)
                        for i, (c, w) in enumerate(zip(cells, widths))).rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
