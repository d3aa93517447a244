"""Runs programs under callgrind: what the scripts that count instructions share (conduits/*/tests/count_*.py).

A counted function has a name of its own, extern "C" and not inlined; the program prints how often it calls each.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Callable


def output_of(command: list[str], settings: dict[str, str]) -> str:
    """What a program prints. The script ends if the program fails. Settings of Aqueduct are these alone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AQUEDUCT_")}
    done = subprocess.run(command, env={**kept, **settings}, capture_output=True, text=True, timeout=110, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[-1]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def profiles(program: str, *options: str, settings: dict[str, str] | None = None) -> tuple[list[str], str]:
    """What callgrind has written, and what the program has printed."""
    with tempfile.TemporaryDirectory() as folder:
        printed = output_of(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", *options, program],
                            settings or {})
        return [file.read_text(encoding="utf-8") for file in pathlib.Path(folder).iterdir()], printed


def total(profile: str) -> int:
    return int((re.search(r"^totals: (\d+)", profile, re.MULTILINE) or
                re.search(r"^summary: (\d+)", profile, re.MULTILINE)).group(1))


def of_function(program: str, function: str, *options: str) -> float:
    """Instructions of each call of a function, with all that it calls."""
    found, printed = profiles(program, f"--toggle-collect={function}", *options)
    return max(map(total, found)) / int(printed)


def of_functions(program: str, functions: tuple[str, ...], launcher: tuple[str, ...] = ()) -> dict[str, float]:
    """The same of several functions in one run. They do not call each other. 0: it was not called.

    A launcher starts the program in several processes, of which one calls the functions and prints how often.
    """
    with tempfile.TemporaryDirectory() as folder:
        toggles = [f"--toggle-collect={name}" for name in functions]
        printed = output_of([*launcher, "valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out.%p",
                             "--compress-strings=no", "--compress-pos=no", *toggles, program], {})
        shown = "".join(output_of(["callgrind_annotate", "--inclusive=yes", "--threshold=100", str(file)], {})
                        for file in pathlib.Path(folder).iterdir())
    matches = {name: re.findall(rf"^\s*([\d,]+) .*:{name}\b", shown, re.MULTILINE) for name in functions}
    return {name: max((int(count.replace(",", "")) for count in counts), default=0) / int(printed)
            for name, counts in matches.items()}


def judge(goals: dict[str, float], count: Callable[[], dict[str, float]]) -> int:
    """Prints the counts beside their limits. The exit status: 0, 1: more than a limit, or nothing; 77: no valgrind here.

    A goal that `count` does not return is one that cannot be counted on this machine.
    """
    if shutil.which("valgrind") is None:
        print("skipped: there is no valgrind here")
        return 77
    found = count()
    for name, goal in goals.items():
        counted = f"{found[name]:.0f} instructions" if name in found else "not counted here"
        print(f"{name}: {counted} (at most {goal})")
    return int(any(not 0 < number <= goals[name] for name, number in found.items()))
