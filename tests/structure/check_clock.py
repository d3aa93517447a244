#!/usr/bin/env python3
"""Holds that core, the layers and the conduits read the endpoint's clock (core/clock.hpp) and no other.

  check_clock.py ROOT          prints file:line of each violation; exit status 1 if there is one
  check_clock.py --self-test   shows that violations are found and nothing else is

Conduits get the clock by core::Process::clock. Their tests measure real time, and are not checked.

bootstrap/ is not checked. It waits for the launcher and for other processes, which live in real time, and most of its
waits come before there is an endpoint. Tools, examples and the conformance kit measure real time.
"""

import re
import sys

sys.dont_write_bytecode = True  # the source tree stays clean
import check_arrows  # noqa: E402
import checker  # noqa: E402

FOLDERS = [folder for folder in check_arrows.FOLDERS if folder not in ("include", "bootstrap", "compat", "sim")]
ALLOWED = {
    "core/clock.hpp": "the clock itself",
    "kernels/copy.cpp": "how long a copy takes this processor; its bytes are the same whatever the answer is",
    "conduits/smp/cma.cpp": "how long a process id is trusted: the system gives ids to new processes in real time",
}
OTHER_CLOCK = re.compile(
    r"\b(steady_clock|system_clock|high_resolution_clock|Clock::now|kSystemClock|clock_gettime|gettimeofday|timespec_get"
    r"|timerfd_create|timer_create|__rdtsc|CLOCK_[A-Z]+\w*)\b|::time\(")
COMMENT = re.compile(r"//.*")


def violations(name, text):
    if name in ALLOWED or (name.startswith("conduits/") and "/tests/" in name):
        return []
    advice = "Process::clock" if name.startswith("conduits/") else "EndpointState::clock"
    return [f"{name}:{number}: {line.strip()}: reads a clock of its own; use {advice}"
            for number, line in enumerate(text.splitlines(), 1) if OTHER_CLOCK.search(COMMENT.sub("", line))]


def unused(texts):
    """Exceptions that no file needs."""
    return [f"{name}: needs no exception in check_clock.py" for name in ALLOWED
            if not OTHER_CLOCK.search(COMMENT.sub("", texts.get(name, "")))]


def check(root):
    files = [file for folder in FOLDERS for file in sorted((root / folder).rglob("*.?pp"))]
    texts = {file.relative_to(root).as_posix(): file.read_text() for file in files}
    return [line for name, text in texts.items() for line in violations(name, text)] + unused(texts), len(files)


def self_test():
    real = "auto now = std::chrono::steady_clock::now();\n"
    assert violations("core/wait.cpp", real) != []
    assert violations("rma/a.cpp", "x = core::Clock::now();\n") != []
    assert violations("rma/a.cpp", "core::Clock::time_point at{};\nat = state.clock.now();  // not steady_clock\n") == []
    assert violations("core/clock.hpp", "using Clock = std::chrono::steady_clock;\n") == []
    found = violations("conduits/udp/protocol/transport.cpp", "\n" + real)
    assert found[0].startswith("conduits/udp/protocol/transport.cpp:2: ") and found[0].endswith("Process::clock"), found
    assert violations("conduits/ofi/a.hpp", "  using Clock = std::chrono::steady_clock;\n") != []
    assert violations("conduits/ofi/a.cpp", "core::Backoff backoff(pacing, core::kSystemClock);\n") != []
    assert violations("conduits/ibv/a.cpp", "::clock_gettime(CLOCK_MONOTONIC, &time);\n") != []
    assert violations("conduits/ibv/a.cpp", "const auto now = ::time(nullptr);\n") != []
    assert violations("conduits/ibv/a.cpp", "const auto until = env_.clock.now() + kLinger;\n") == []
    assert violations("conduits/udp/tests/a_test.cpp", real) == []
    assert violations("conduits/smp/cma.cpp", "const auto now = core::kSystemClock.now();\n") == []
    assert violations("conduits/ucx/cma.cpp", "const auto now = core::kSystemClock.now();\n") != []
    needed = {name: real for name in ALLOWED}
    assert unused(needed) == []
    needed["conduits/smp/cma.cpp"] = "// not steady_clock\n"
    assert unused(needed) == ["conduits/smp/cma.cpp: needs no exception in check_clock.py"]
    print("self-test: good")


if __name__ == "__main__":
    sys.exit(checker.run(__doc__, check, self_test))
