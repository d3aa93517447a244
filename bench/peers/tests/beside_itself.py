#!/usr/bin/env python3
"""Runs the judge on a short row that compares Aqueduct with itself, whose verdict has to be "level". BIN holds the programs.

  beside_itself.py BIN

An interval of 95 % misses in one case of twenty, so three attempts are allowed: if all miss, the judge is biased.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

JUDGE = pathlib.Path(__file__).resolve().parents[1] / "judge.py"


def main():
    said = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as out:
            words = [sys.executable, JUDGE, "--bin", sys.argv[1], "--peers", "self", "--rows", "smp/2/am-medium/64", "--ms", "5", "--out", out]
            try:
                done = subprocess.run(words, capture_output=True, text=True, timeout=100, check=False)
            except subprocess.TimeoutExpired:
                said.append("not done in 100 s")
                continue
            said.append(done.stdout + done.stderr)
            if done.returncode != 0:  # it may have hung on a busy machine
                continue
            counted = json.loads(pathlib.Path(out, "table.json").read_text(encoding="utf-8"))["counted"]
            written = [name for name in ("table.md", "plot.svg") if pathlib.Path(out, name).stat().st_size > 0]
            last = done.stdout.splitlines()[-1]
            if len(written) == 2 and counted["level"] > 0 and counted["ahead"] == counted["behind"] == 0:
                print(done.stdout)
                return last != f"0 ahead, {counted['level']} level, 0 behind"
    print("\n".join(said))
    return 1


if __name__ == "__main__":
    sys.exit(main())
