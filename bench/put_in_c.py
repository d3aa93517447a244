#!/usr/bin/env python3
"""Measures an inline put of 8 bytes to mapped memory in a program compiled as C, beside a plain store.

  bench/put_in_c.py [--build build/release] [--runs 5]

Compiles bench/put_in_c.c with `cc -std=c11 -O2`, runs it on two ranks, and prints medians over the runs.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    options.add_argument("--runs", type=int, default=5)
    options = options.parse_args()
    lib, launcher = options.build.resolve() / "lib", options.build.resolve() / "bin/aqrun"
    if not (lib / "libaqueduct.so").exists() or not launcher.exists():
        sys.exit(f"put_in_c.py: no libaqueduct.so and aqrun in {options.build}; build first (./aq build), or name its folder")
    puts, stores = [], []
    with tempfile.TemporaryDirectory() as work:
        program = pathlib.Path(work, "put_in_c")
        subprocess.check_call(["cc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2", "-Wall", "-Wextra",
                               ROOT / "bench/put_in_c.c", "-o", program, f"-I{ROOT / 'include'}", f"-L{lib}", "-laqueduct",
                               f"-Wl,-rpath,{lib}"])
        for _ in range(options.runs):
            said = subprocess.check_output([launcher, "-n", "2", "--timeout", "60", program], text=True)
            put, store = map(float, said.split())
            puts.append(put)
            stores.append(store)
    more = statistics.median(put - store for put, store in zip(puts, stores))
    print(f"put {statistics.median(puts):.2f} ns, store {statistics.median(stores):.2f} ns, difference {more:.2f} ns "
          f"(medians of {options.runs} runs)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
