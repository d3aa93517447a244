#!/usr/bin/env python3
"""Checks what each command of ./aq says of itself, and that it refuses what it does not know, before it does anything.

  check_help.py ROOT

Runs a copy of ./aq in an empty folder, in which every program that builds, installs or removes something is replaced by one
that only notes that it was called.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = ("cmake", "ctest", "ninja", "apt-get", "sudo", "dpkg-query", "clang-format", "rm", "timeout")
LIMIT = 60  # seconds for a call that takes a moment
STRANGE = "no-such-thing"
# A call for each command that it must refuse, beside those with STRANGE alone.
MORE = (["build", "dev", "--no-such-thing"], ["run-tests", "dev", "unit", STRANGE], ["setup", "clang", STRANGE],
        ["format", "--check", STRANGE], ["stress", "smp", STRANGE], ["fuzz", "1", STRANGE],
        ["fuzz", "99999999999999999999"], ["rdma", "faults", STRANGE],
        ["rdma", "ibv-threads", STRANGE], ["bench", "peers", "--no-such-thing"])


class Copy:
    def __init__(self, root, folder):
        self.folder = folder / "tree"
        for part in ("aq", "CMakePresets.json", "tools/aq", "bench/peers"):
            source, target = root / part, self.folder / part
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, target)
        self.called = folder / "called"
        stubs = folder / "stubs"
        stubs.mkdir()
        for program in PROGRAMS:
            stub = stubs / program
            stub.write_text(f'#!/bin/sh\necho "{program} $*" >>"{self.called}"\nexit 1\n')
            stub.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{stubs}:{os.environ['PATH']}", "NO_COLOR": "1"}

    def run(self, *arguments):
        """The result, and which programs it has called."""
        self.called.unlink(missing_ok=True)
        result = subprocess.run([self.folder / "aq", *arguments], env=self.environment, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=LIMIT, check=False)
        return result, self.called.read_text() if self.called.exists() else ""


def commands_of(usage):
    return sorted(set(re.findall(r"^\./aq ([a-z-]+)", usage, re.M))) + ["run-tests"]


def wrong_help(copy, command):
    texts = []
    for option in ("--help", "-h"):
        result, called = copy.run(command, option)
        if result.returncode != 0:
            yield f"./aq {command} {option}: exit status {result.returncode}: {result.stderr.strip()}"
        if called:
            yield f"./aq {command} {option}: it called {called.strip()}"
        if not result.stdout.startswith(f"./aq {command}"):
            yield f"./aq {command} {option}: this is not its help:\n{result.stdout}"
        for part in ("Arguments:", "Needs:", "Takes:"):
            if f"\n{part}  " not in result.stdout:
                yield f"./aq {command} {option}: its help lacks '{part}'"
        texts.append(result.stdout)
    if copy.run("help", command)[0].stdout != texts[0]:
        yield f"./aq help {command} differs from ./aq {command} --help"
    if texts[0] != texts[1]:
        yield f"./aq {command}: --help and -h differ"


def wrong_refusal(copy, arguments):
    result, called = copy.run(*arguments)
    said = f"./aq {' '.join(arguments)}"
    if result.returncode != 2:
        yield f"{said}: exit status {result.returncode}, not 2"
    if arguments[-1] not in result.stderr:
        yield f"{said}: the message does not name '{arguments[-1]}': {result.stderr.strip()}"
    if called:
        yield f"{said}: it called {called.strip()}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(root, pathlib.Path(folder))
        commands = commands_of(copy.run()[0].stdout)
        wrong = [] if len(commands) > 10 else [f"./aq lists too few commands: {commands}"]
        for command in commands:
            wrong += wrong_help(copy, command)
            wrong += wrong_refusal(copy, [command, STRANGE])
            wrong += wrong_refusal(copy, [command, "--no-such-thing"])
        for arguments in [*MORE, [STRANGE], ["--no-such-thing"], ["help", STRANGE]]:
            wrong += wrong_refusal(copy, arguments)
        peers, called = copy.run("bench", "peers", "--help")
        if peers.returncode != 0 or called or "--gasnet" not in peers.stdout:
            wrong.append(f"./aq bench peers --help: {peers.returncode}, {called}, {peers.stdout}")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
