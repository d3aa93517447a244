#!/usr/bin/env python3
"""Compares what algorithms take here with what the model of messages predicts for them.

  bench/model.py [--conduit smp|udp|ofi|ucx|ibv] [--ranks N] [--bin DIR]

Measures a fresh profile (aqperf calibrate), and what a call costs the engine itself: how much longer a flat broadcast of 8 B between
two ranks takes than its message. That one is not judged. Then measures every algorithm of some collective operations, forced by its setting, in
turns; predicts each with `aqsim --profile`. Prints both, the median error, and Kendall's tau over the pairs of algorithms of one
operation and size whose measured difference exceeds the noise. The noise is what the same algorithm differs from itself, as each is
measured twice in every turn: of a pair that of either one, and at least the median of all. Algorithms that do the same with so few
ranks count as one. Nothing else should run at the same time.
"""

import argparse
import itertools
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
YARDSTICK = ("broadcast", 8, "flat:segments=1")  # tells what a call costs beside its messages
ORDERS = 8  # of ranks on processors that they share; chosen
OPERATIONS = ("broadcast", "scatter", "gather", "all_gather", "all_to_all", "reduce", "all_reduce", "reduce_scatter", "scan")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conduit", default="smp", choices=("smp", "udp", "ofi", "ucx", "ibv"))
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", help="has aqperf and aqsim")
    parser.add_argument("--operations", nargs="+", default=OPERATIONS, choices=OPERATIONS, metavar="OP")
    parser.add_argument("--bytes", nargs="+", type=int, default=(8, 2048, 65536), metavar="N", help="of a block")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.05, help="of each measurement")
    parser.add_argument("--profile", type=pathlib.Path, help="a profile of this machine and conduit, instead of a fresh one")
    parser.add_argument("--json", type=pathlib.Path, help="also writes every figure to this file")
    return parser.parse_args()


def lines_of(command, **environment):
    """The JSON lines that a command prints. A command that fails prints none."""
    done = subprocess.run([str(part) for part in command], env={**os.environ, **environment}, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True, timeout=300, check=False)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def calibrate(how, folder):
    """Writes a profile: between two cores, and, where ranks share cores, on one core."""
    file = folder / "profile.json"
    command = [how.bin / "aqperf", "calibrate", "--conduit", how.conduit, "--profile", file]
    environment = dict(os.environ, AQUEDUCT_CONDUIT=how.conduit, AQUEDUCT_NEAR="on" if how.conduit == "smp" else "off")
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, timeout=120)
    if how.ranks > cores():
        subprocess.run(["taskset", "-c", "0", *command], check=True, env=environment, stdout=subprocess.DEVNULL, timeout=120)
    return file


def cores():
    return len(os.sched_getaffinity(0))


def predictions(how, profile, operation, size, call_us, ranks):
    """[algorithm as a setting names it] → microseconds of one call of many. Where ranks share processors nothing binds them, so
    this is the mean over several orders of the ranks on these."""
    orders = [["--mixed", "--seed", seed] for seed in range(1, ORDERS + 1)] if ranks > cores() else [[]]
    found = {}
    for order in orders:
        command = [how.bin / "aqsim", operation, "--ranks", ranks, "--bytes", size, "--element", 8, "--algorithm", "all",
                   "--single", "--times", 17, "--compute", call_us, "--profile", profile, "--cores", cores(), *order, "--json"]
        once = [*command[:command.index("--times")], *command[command.index("--profile"):]]
        first = {line["algorithm"]: line["virtual_us"] for line in lines_of(once)}
        for line in lines_of(command):
            found.setdefault(line["algorithm"], []).append((line["virtual_us"] - first[line["algorithm"]]) / 16)
    return {name: statistics.mean(times) for name, times in found.items()}


def cost_of_a_call(how, profile):
    """Microseconds of the engine, for each call."""
    operation, size, algorithm = YARDSTICK
    predicted = predictions(how, profile, operation, size, 0, 2)[algorithm]
    times = [measure(how, *YARDSTICK, ranks=2) for _ in range(how.turns)]
    return max(0.0, statistics.median(time for time in times if time is not None) - predicted)


def measure(how, operation, size, algorithm, ranks=None):
    """Microseconds; None if the engine does not run this algorithm as it is named."""
    command = [how.bin / "aqperf", "coll-" + operation.replace("_", "-"), "--ranks", ranks or how.ranks, "--bytes", size, "--single",
               "--seconds", how.seconds, "--repeat", 1, "--json"]
    near = "on" if how.conduit == "smp" else "off"
    lines = lines_of(command, AQUEDUCT_CONDUIT=how.conduit, AQUEDUCT_NEAR=near, AQUEDUCT_LOG="off",
                     **{"AQUEDUCT_COLL_" + operation.upper(): algorithm})
    if len(lines) != 1 or lines[0].get("algorithm") != algorithm:
        return None
    return lines[0]["median"] / 1000


def measured_in_turns(how, cases):
    """[case] → two lists of microseconds, one figure of a turn in each."""
    found = {case: ([], []) for case in cases}
    order = random.Random(1)
    for _ in range(how.turns):
        turn = [(case, half) for case in cases for half in (0, 1)]
        order.shuffle(turn)
        for case, half in turn:
            if case not in found:
                continue
            time = measure(how, *case)
            if time is None:
                del found[case]
            else:
                found[case][half].append(time)
    return found


def distance(a, b):
    return abs(math.log(a / b))


def schedules(rows):
    """The rows, with one for all algorithms that send the same messages at the same times here, as a chain and a flat tree of two
    ranks do. What these differ by is noise."""
    alike = {}
    for row in rows:
        alike.setdefault((*row["case"][:2], row["predicted"]), []).append(row)
    found = []
    for (operation, size, predicted), same in alike.items():
        times = [time for row in same for time in row["again"]]
        found.append({"case": (operation, size, same[0]["case"][2]), "predicted": predicted,
                      "measured": statistics.median(row["measured"] for row in same), "again": (min(times), max(times))})
    return found


def tau(rows, noise):
    """Kendall's tau over pairs of schedules of one operation and size that differ by more than the noise, and how many these are."""
    agree = pairs = 0
    for _, group in itertools.groupby(schedules(rows), key=lambda row: row["case"][:2]):
        for a, b in itertools.combinations(list(group), 2):
            if distance(a["measured"], b["measured"]) <= max(noise, distance(*a["again"]), distance(*b["again"])):
                continue
            pairs += 1
            same = (a["measured"] < b["measured"]) == (a["predicted"] < b["predicted"])
            agree += 1 if same and a["predicted"] != b["predicted"] else -1
    return (agree / pairs if pairs else math.nan), pairs


def fastest(rows, operation, size):
    return min((row["measured"] for row in rows if row["case"][:2] == (operation, size)), default=math.nan)


def library_choice(how, operation, ranks):
    """Microseconds of 64 bytes with the algorithm that the library chooses: the median of the turns."""
    command = [how.bin / "aqperf", "coll-" + operation.replace("_", "-"), "--ranks", ranks, "--bytes", 64, "--seconds", how.seconds,
               "--repeat", 1, "--json"]
    near = "on" if how.conduit == "smp" else "off"
    lines = [line for _ in range(how.turns) for line in lines_of(command, AQUEDUCT_CONDUIT=how.conduit, AQUEDUCT_NEAR=near)]
    return statistics.median(line["median"] for line in lines) / 1000


def print_guidelines(how, rows, noise):
    """What must hold whatever the network, of what was measured here. The simulator holds the same (aqsim curves)."""
    allowed = math.exp(noise)
    by_algorithm = sorted(rows, key=lambda row: (row["case"][0], row["case"][2].split(":")[0], row["case"][1]))
    pairs = [(a, b) for a, b in itertools.pairwise(by_algorithm)
             if a["case"][0] == b["case"][0] and a["case"][2].split(":")[0] == b["case"][2].split(":")[0]]
    falls = [b for a, b in pairs if b["measured"] * max(allowed, math.exp(distance(*b["again"]))) < a["measured"]]
    print(f"guideline: more bytes, less time beyond the noise: {len(falls)} of {len(pairs)}")
    ratios = [fastest(rows, "all_reduce", size) / (fastest(rows, "reduce", size) + fastest(rows, "broadcast", size))
              for size in how.bytes]
    ratios = [ratio for ratio in ratios if not math.isnan(ratio)]
    if ratios:
        print(f"guideline: T(all-reduce) / (T(reduce) + T(broadcast)), at most 1: {max(ratios):.2f}")
    for operation in set(how.operations) & {"broadcast", "all_gather", "all_reduce"}:
        ratio = library_choice(how, operation, how.ranks + 1) / library_choice(how, operation, how.ranks)
        print(f"guideline: T({how.ranks + 1}) / T({how.ranks}) of {operation}, 64 B, at most 1.3 or the ratio of rounds: {ratio:.2f}")


def main():
    how = arguments()
    for name in ("aqperf", "aqsim"):
        if not (how.bin / name).exists():
            sys.exit(f"model.py: there is no {name} in {how.bin}: build first (./aq build), or give --bin")
    with tempfile.TemporaryDirectory() as folder:
        profile = how.profile or calibrate(how, pathlib.Path(folder))
        call_us = cost_of_a_call(how, profile)
        predicted = {(operation, size, name): us for operation in how.operations for size in how.bytes
                     for name, us in predictions(how, profile, operation, size, call_us, how.ranks).items()
                     if (operation, size, name) != YARDSTICK}
    found = measured_in_turns(how, list(predicted))
    rows = [{"case": case, "measured": statistics.median(a + b), "again": (statistics.median(a), statistics.median(b)),
             "predicted": predicted[case]} for case, (a, b) in found.items()]
    if not rows:
        sys.exit("model.py: nothing could be measured")
    noise = statistics.median(distance(*row["again"]) for row in rows)
    print(f"{'operation':<15}{'bytes':>8}  {'algorithm':<34}{'measured us':>12}{'predicted us':>13}{'error':>8}")
    for row in rows:
        row["error"] = row["predicted"] / row["measured"] - 1
        operation, size, name = row["case"]
        print(f"{operation:<15}{size:>8}  {name:<34}{row['measured']:>12.2f}{row['predicted']:>13.2f}{row['error']:>8.0%}")
    error = statistics.median(abs(row["error"]) for row in rows)
    rank, pairs = tau(rows, noise)
    print(f"{how.conduit}, {how.ranks} ranks on {cores()} cores, {call_us:.2f} us a call: median error {error:.0%}; Kendall's tau {rank:.2f} over {pairs} "
          f"pairs beyond the noise (median {math.expm1(noise):.0%}); {len(rows)} of {len(predicted)} algorithms ran")
    print_guidelines(how, rows, noise)
    if how.json:
        how.json.write_text(json.dumps({"rows": rows, "noise": noise, "error": error, "tau": rank, "pairs": pairs}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
